"""Tests of recollect.search.widening."""

from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recollect.search import TOKENIZER, TermSequence, prepare_for_index
from recollect.search.engine import ANALYZER
from recollect.search.terms import CUT
from recollect.search.widening import cover_prefix, make_prefix_expander
from recollect.store import vocabulary
from recollect.store.text_database import open_in_memory, update_texts
from recollect.store.text_queries import open_text_queries
from recollect.store.vocabulary import find_beginning, gather_terms, note_terms
from tests.library.claude_root import prompt
from tests.search.made_index import MadeIndex, make_index
from tests.search.texts import texts, tokenise

OPEN = TermSequence(("pro",), ends_open=True)


def finds(sequence: TermSequence, term: str) -> bool:
    """Whether a sequence of one term finds a text of one term."""
    (wanted,) = sequence.terms
    return term.startswith(wanted) if sequence.ends_open else term == wanted


@given(
    st.dictionaries(st.text("abc", min_size=1, max_size=5), st.booleans(), max_size=30),
    st.text("abc", min_size=1, max_size=2),
)
def test_a_cover_finds_every_term_once(terms: dict[str, bool], beginning: str) -> None:
    """And none that begins otherwise; a term that is frequent is found by itself alone."""
    wanted = sorted(term for term in terms if term.startswith(beginning))
    covering = list(cover_prefix(beginning, wanted, {term for term in wanted if terms[term]}))
    for term, is_frequent in terms.items():
        found_by = [sequence for sequence in covering if finds(sequence, term)]
        assert len(found_by) == (term in wanted)
        assert not (is_frequent and any(sequence.ends_open for sequence in found_by))


@given(texts)
@example("00000000000\u01c5" * 5)
def test_all_terms_of_a_new_text_are_known(text: str) -> None:
    """All of two characters or more, but for our own mark: an expanded prefix misses none."""
    prepared = prepare_for_index(text)
    with closing(open_in_memory(TOKENIZER)) as connection:
        assert note_terms(connection, [prepared])
        for term in tokenise(prepared):
            is_searched = len(term) > 1 and term != CUT
            assert not is_searched or term in find_beginning(connection, term[:1])


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MadeIndex:
    """An index in which a term of three texts is frequent."""
    monkeypatch.setattr(vocabulary, "_FREQUENT", 3)
    words = [*["process"] * 4, "processes", "processor", "project", "pro", "prompt", "promptly"]
    lines = [prompt(word, uuid=f"{word}{n}", seconds=n) for n, word in enumerate(words)]
    made = make_index(tmp_path, lines)
    update_texts(made.data, ANALYZER.version, ANALYZER.tokenizer, gather_terms)
    return made


def test_frequent_terms_are_asked_for_by_themselves(made: MadeIndex) -> None:
    """What is between them is asked for by as few beginnings as there can be."""
    with open_text_queries(made.data, ANALYZER.version) as queries:
        assert queries is not None
        spelled = make_prefix_expander(queries)(OPEN)
    terms = [" ".join(sequence.terms) + "*" * sequence.ends_open for sequence in spelled]
    assert terms == ["pro", "process", "processes", "processor", "project", "prom*"]


def test_a_beginning_finds_the_same_either_way(
    made: MadeIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With new words too, which no list of frequent terms knows yet."""
    made.append(prompt("prowling p", uuid="new", seconds=99))
    assert made.index()
    queries = ("pro*", "p*", "-proc* prom*", "proc* OR prom*", "process*")
    found = [[hit.uuid for hit in made.search(query).hits] for query in queries]
    assert [len(hits) for hits in found] == [11, 11, 2, 8, 6]
    monkeypatch.setattr(vocabulary, "_FREQUENT", 1_000)
    update_texts(made.data, ANALYZER.version, ANALYZER.tokenizer, gather_terms)
    assert [[hit.uuid for hit in made.search(query).hits] for query in queries] == found
