"""Tests of prefixes, and of the list of terms that words are widened with."""

from contextlib import closing
from pathlib import Path

from hypothesis import example, given

from recollect.search import TOKENIZER, prepare_for_index
from recollect.search.terms import CUT
from recollect.store.text_database import open_in_memory
from recollect.store.vocabulary import Vocabulary, add_terms
from tests.library.claude_root import prompt
from tests.search.made_index import make_index
from tests.search.texts import texts, tokenise


@given(texts)
@example("00000000000\u01c5" * 5)
def test_all_terms_of_a_new_text_are_known(text: str) -> None:
    """All of two characters or more, but for our own mark: an expanded prefix misses none."""
    prepared = prepare_for_index(text)
    with closing(open_in_memory(TOKENIZER)) as connection:
        assert add_terms(connection, [prepared])
        for term in tokenise(prepared):
            is_searched = len(term) > 1 and term != CUT
            assert not is_searched or term in Vocabulary(connection).find_beginning(term[:1])


def test_a_beginning_finds_every_word_with_it(tmp_path: Path) -> None:
    """With new words too, which the list of terms knows only by themselves."""
    words = [*["process"] * 4, "processes", "processor", "project", "pro", "prompt", "promptly"]
    lines = [prompt(word, uuid=f"{word}{n}", seconds=n) for n, word in enumerate(words)]
    made = make_index(tmp_path, lines)
    made.append(prompt("prowling p", uuid="new", seconds=99))
    assert made.index()
    queries = ("pro*", "p*", "-proc* prom*", "proc* OR prom*", "process*")
    found = [made.find(query) for query in queries]
    assert [len(hits) for hits in found] == [11, 11, 2, 8, 6]
