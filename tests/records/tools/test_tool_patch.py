"""Patches and the counting of their lines."""

import difflib

from hypothesis import given
from hypothesis import strategies as st

from recollect.records.tools.patch import (
    LineCount,
    PatchHunk,
    count_patch_lines,
    count_text_lines,
)

LINES = st.lists(st.sampled_from(["a", "b", "+", "-", ""]), max_size=8)


def test_context_and_missing_newline_marks_do_not_count() -> None:
    """Only lines that begin with plus or minus are changes, whatever follows the sign."""
    hunk = PatchHunk(lines=(" same", "+++", "---", "", "\\ No newline at end of file"))
    assert count_patch_lines((hunk,)) == LineCount(added=1, removed=1)


def test_only_newlines_end_lines() -> None:
    """Characters that Python's `splitlines` takes for line ends are text here."""
    assert count_text_lines("a\u2028b\rc\x0cd\n") == 1


@given(LINES)
def test_a_text_has_as_many_lines_as_were_joined(lines: list[str]) -> None:
    """Lines that each end in a newline are counted one by one."""
    assert count_text_lines("".join(f"{line}\n" for line in lines)) == len(lines)


@given(LINES, LINES)
def test_a_patch_accounts_for_the_difference_in_length(old: list[str], new: list[str]) -> None:
    """What a patch adds minus what it removes is by how much the file grew."""
    diff = [line for line in difflib.ndiff(old, new) if line[0] != "?"]
    count = count_patch_lines([PatchHunk(lines=tuple(diff))])
    assert count.added - count.removed == len(new) - len(old)
