"""Patches as the editing tools report them, and how many lines they add and remove.

Only `\\n` ends a line, as in the client's own patches; a last line without it counts too.
"""

from collections.abc import Iterable

from msgspec import Struct


class PatchHunk(Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """One stretch of a patch; each line starts with a space, `+`, `-` or a backslash."""

    old_start: int = 0
    old_lines: int = 0
    new_start: int = 0
    new_lines: int = 0
    lines: tuple[str, ...] = ()


class GitDiff(Struct, frozen=True, kw_only=True, gc=False):
    """What git said about a file after an edit."""

    filename: str | None = None
    status: str | None = None
    additions: int | None = None
    deletions: int | None = None
    changes: int | None = None
    patch: str | None = None
    repository: str | None = None


class LineCount(Struct, frozen=True, gc=False):
    """Lines that a change added and removed; a changed line is one of each."""

    added: int = 0
    removed: int = 0


def count_patch_lines(hunks: Iterable[PatchHunk]) -> LineCount:
    """Lines that `hunks` add and remove."""
    signs = [line[:1] for hunk in hunks for line in hunk.lines]
    return LineCount(added=signs.count("+"), removed=signs.count("-"))


def count_text_lines(text: str) -> int:
    """Lines of `text`: a final newline ends the last line and starts no other."""
    return text.count("\n") + (not text.endswith("\n") and text != "")
