"""Tests of recollect.search.query_plan: candidates of regular expressions."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.search.engine import ANALYZER
from recollect.search.query_plan import find_candidates, to_match
from recollect.search.query_tree import Or, Regex, Word
from recollect.search.regexes import compile_regex
from recollect.search.terms import CUT
from recollect.store.text_queries import TextQueries, open_text_queries
from tests.library.claude_root import prompt
from tests.search.made_index import MadeIndex, make_index

TEXTS = {
    "words": "Connection reset by peer: timeout_ms=5000 (ECONNRESET)",
    "names": "parseHTTPQuery calls get_file_name in src/main.py",
    "glued": "xtimeout5000y naïve cafe\u0301 foo\u200dbar 用Python写 修改文件",
    "endless": "a" * 70 + "timeout " + "b" * 300,
    "encoded": "Qk1" + "aB3/" * 80 + "timeout" + "Zz9+" * 80,
    "signs": "C++ -> a{2} [x] é—ü",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> MadeIndex:
    """One prompt for each of the texts, with its name as uuid."""
    lines = [prompt(text, uuid=name) for name, text in TEXTS.items()]
    return make_index(tmp_path_factory.mktemp("texts"), lines)


@pytest.fixture(scope="module")
def queries(index: MadeIndex) -> Iterator[TextQueries]:
    """The index of the texts."""
    with open_text_queries(index.data, ANALYZER.version, ANALYZER.tokenizer) as found:
        assert found.has_index
        yield found


@pytest.mark.parametrize(
    ("pattern", "expression"),
    [
        ("reset by pee", '((("reset" OR "econnreset") AND "by" AND "pee" *) OR "CUT")'),
        ("file", '((("file")) OR "CUT")'),
        (r"\d(?:python|修改)", '(((("python")) OR (("修改"))) OR "CUT")'),
        (r"\w+", None),
        ("ab|.", None),
    ],
)
def test_what_is_looked_up(queries: TextQueries, pattern: str, expression: str | None) -> None:
    """Words with a beginning are terms or prefixes, and others the terms that contain them."""
    found = find_candidates(Regex(pattern), queries)
    assert (found and found.replace(CUT, "CUT")) == expression


def escape(text: str) -> str:
    """Return an expression for exactly this text, to be put between slashes."""
    signs = {sign: f"\\x{ord(sign):02x}" for sign in "/ _"}
    return "".join(
        signs.get(sign) or (sign if sign.isalnum() or not sign.isascii() else f"\\{sign}")
        for sign in text
    )


@given(st.data())
def test_no_match_is_passed_over(index: MadeIndex, data: st.DataObject) -> None:
    """Any part of a text is found by an expression for it, whatever characters it contains."""
    text = data.draw(st.sampled_from(sorted(TEXTS.values())))
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, min(start + 30, len(text))))
    middle = data.draw(st.integers(start, end))
    gap = data.draw(st.sampled_from(["", ".*", "(?:x|)", "\\s*", "[^a]?"]))
    regex = Regex(escape(text[start:middle]) + gap + escape(text[middle:end]))
    pattern = compile_regex(regex, str(regex))
    expected = sorted(name for name, text in TEXTS.items() if pattern.search(text))
    assert index.find(str(regex)) == expected


@pytest.mark.parametrize("count", [1, 32, 33, 1500])
def test_many_alternatives_find_what_each_finds(queries: TextQueries, count: int) -> None:
    """They are joined in groups, of groups if need be, and no text is lost or added by that."""
    unknown = [Word(f"unknown{number}") for number in range(count)]
    match = to_match(Or((Word("reset"), *unknown, Word("python"))))
    assert match is not None
    assert queries.count_matches(match) == len({*index_of("reset"), *index_of("python")})


def index_of(word: str) -> set[str]:
    """The names of the texts that contain a word, in any case."""
    return {name for name, text in TEXTS.items() if word in text.lower()}
