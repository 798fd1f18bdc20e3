"""Tests of recollect.cli.terminal_output."""

from recollect.cli.terminal_output import iter_table, wrap


def test_cells_are_aligned() -> None:
    """Each column is as wide as its widest cell, and no line ends in blanks."""
    rows = [("a", "1", "one"), ("菜谱", "20", "")]
    assert list(iter_table(rows, "<><", 80)) == ["  a      1  one", "  菜谱  20"]


def test_the_last_column_gives_way() -> None:
    """A line that would be too long loses the middle of its last cell."""
    rows = [("1", "projects/-home-mina-app/0123.jsonl")]
    assert list(iter_table(rows, "><", 25)) == ["  1  project…p/0123.jsonl"]


def test_sentences_are_wrapped() -> None:
    """A sentence is broken between words, each line with its indent."""
    assert wrap("one two three", 9) == ["  one two", "  three"]
