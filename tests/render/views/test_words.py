"""The small phrases of views."""

import pytest

from recollect.render.views.part_builders import join_facts, take_line
from recollect.render.views.quantities import count_of, size_of, time_of


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", ""),
        ("one", "one"),
        ("\n\n one\n", "one"),
        ("one\r\ntwo", "one …"),
        ("x" * 301, "x" * 300 + "…"),
    ],
)
def test_one_line_of_many(text: str, line: str) -> None:
    """The first line that says something, with a mark when there is more."""
    assert take_line(text) == line


def test_counts() -> None:
    """Nouns agree with their number."""
    assert [
        count_of(1, "match", "matches"),
        count_of(2, "match", "matches"),
        count_of(0, "file"),
    ] == [
        "1 match",
        "2 matches",
        "0 files",
    ]


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (999, "999 bytes"),
        (1000, "1.0 KB"),
        (196_012, "196.0 KB"),
        (34_901_738, "34.9 MB"),
        (5_000_000_000, "5.0 GB"),
        (7_200_000_000_000, "7.2 TB"),
        (7_200_000_000_000_000, "7,200.0 TB"),
    ],
)
def test_sizes(count: int, words: str) -> None:
    """A size has a fitting unit, and at most three digits before the point."""
    assert size_of(count) == words


@pytest.mark.parametrize(
    ("milliseconds", "words"),
    [(3, "3 ms"), (1500, "1.5 s"), (61_000, "1 min 1 s"), (7_260_000, "2 h 1 min")],
)
def test_times(milliseconds: float, words: str) -> None:
    """Spans of time are told in the units that fit."""
    assert time_of(milliseconds) == words


def test_facts_in_a_line() -> None:
    """What says nothing leaves no trace."""
    assert join_facts("a", None, "", "b") == "a · b"
