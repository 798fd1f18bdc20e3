"""The small phrases of views."""

import pytest

from recollect.render.views.words import count_of, join_facts, size_of, take_line, time_of


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
        (1, "1 byte"),
        (1023, "1,023 bytes"),
        (1024, "1.0 kB"),
        (5 << 20, "5.0 MB"),
        (1 << 42, "4096.0 GB"),
    ],
)
def test_sizes(count: int, words: str) -> None:
    """Bytes are told in the unit that fits."""
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
