"""Patience diff of lines."""

from hypothesis import given
from hypothesis import strategies as st

from recollect.versions.file_texts import Match, count_changes, match_lines

LINES = st.lists(st.sampled_from(["a", "b", "c", "d", "}"]), max_size=25)


@given(LINES, LINES)
def test_matches_are_equal_and_in_order(old: list[str], new: list[str]) -> None:
    """Every match is of equal lines, and no line is matched twice or crosswise."""
    end_old = end_new = 0
    for match in match_lines(old, new):
        assert match.old >= end_old
        assert match.new >= end_new
        end_old, end_new = match.old + match.length, match.new + match.length
        assert old[match.old : end_old] == new[match.new : end_new]


@given(LINES)
def test_equal_texts_match_as_a_whole(lines: list[str]) -> None:
    """A text differs from itself in nothing."""
    assert count_changes(lines, lines) == (0, 0)


def test_unique_lines_hold_blocks_together() -> None:
    """A function that was put in between takes its own braces, not those of its neighbours."""
    old = ["f {", "  1", "}", "g {", "  2", "}"]
    new = ["f {", "  1", "}", "h {", "  3", "}", "g {", "  2", "}"]
    assert match_lines(old, new) == [Match(0, 0, 3), Match(3, 6, 3)]


def test_a_long_line_is_an_anchor_before_a_short_one() -> None:
    """Empty lines and `pass` that happen to occur once do not hide that a longer line stayed."""
    stayed = "value = compute(1368)"
    assert match_lines(["a", stayed, "}", ""], ["b", "", "c", stayed]) == [Match(1, 3, 1)]
    assert match_lines([stayed, "    pass", "x"], ["    pass", stayed, "y"]) == [Match(0, 1, 1)]
