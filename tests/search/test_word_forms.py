"""Tests of recollect.search.word_forms."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.search.engine import ANALYZER
from recollect.search.word_forms import count_edits, find_corrections
from recollect.store.text_queries import TextQueries, open_text_queries
from tests.library.claude_root import prompt
from tests.search.made_index import make_index

WORDS = (
    "truncate truncates truncated truncation trunk happy happily happiness happier skip skipped "
    "skipping goreleaser release releases yubikey color colors \u6d4b\u8bd5 \u6d4b\u91cf"
)
letters = st.text("abc", max_size=6)


@pytest.fixture(scope="module")
def queries(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TextQueries]:
    """An index of these words, of which one is there more often."""
    place: Path = tmp_path_factory.mktemp("words")
    made = make_index(place, [prompt(WORDS, uuid="a"), prompt("colors", uuid="b", seconds=1)])
    with open_text_queries(made.data, ANALYZER.version, ANALYZER.tokenizer) as found:
        assert found.has_index
        yield found


@pytest.mark.parametrize(
    ("term", "forms"),
    [
        ("truncation", ["truncate", "truncated", "truncates"]),
        ("happy", ["happiness"]),
        ("skips", ["skip", "skipped", "skipping"]),
        ("trunk", []),
        ("be", []),
        ("\u6d4b\u8bd5", []),
    ],
)
def test_forms_share_a_stem(queries: TextQueries, term: str, forms: list[str]) -> None:
    """Those that the index has, for English words only."""
    assert queries.find_forms(term, 9) == forms


@pytest.mark.parametrize(
    ("term", "meant"),
    [
        ("goreleser", ["goreleaser"]),
        ("yubkey", ["yubikey"]),
        ("colour", ["color"]),
        ("colros", ["colors"]),
        ("relaese", ["release"]),
        ("zzzzzz", []),
        ("abc", []),
    ],
)
def test_a_misspelt_word_is_corrected(queries: TextQueries, term: str, meant: list[str]) -> None:
    """One edit is forgiven in a short word, two in a long one."""
    assert find_corrections(term, queries)[:1] == meant


@given(letters, letters, letters)
def test_edits_are_a_distance(first: str, second: str, third: str) -> None:
    """None between equal words, the same both ways, and at most one for each letter."""
    edits = count_edits(first, second)
    assert (edits == 0) == (first == second)
    assert edits == count_edits(second, first) <= max(len(first), len(second))
    assert edits >= abs(len(first) - len(second))
    assert count_edits(first + third, second + third) <= edits


@pytest.mark.parametrize(
    ("first", "second", "edits"),
    [("form", "from", 1), ("cat", "cart", 1), ("cart", "cat", 1), ("cat", "cut", 1), ("ab", "", 2)],
)
def test_a_swap_is_one_edit(first: str, second: str, edits: int) -> None:
    """As are a letter too many, one too few and another one."""
    assert count_edits(first, second) == edits
