"""Parts as `--json` prints them: as every way out draws them, but for the spelling of a patch.

A patch is kept as the client wrote it, under names of its own; a document has one spelling.
"""

from collections.abc import Iterable

from msgspec import Struct

from recollect.records.tools.patch import PatchHunk
from recollect.render.views.parts import (
    Checklist,
    Code,
    Diff,
    Entries,
    Fields,
    Json,
    Output,
    Part,
    Picture,
    Plain,
    Prose,
    Question,
)


class HunkEntry(Struct, frozen=True, kw_only=True):
    """One stretch of a patch; each line starts with a space, `+`, `-` or a backslash."""

    old_start: int
    old_lines: int
    new_start: int
    new_lines: int
    lines: tuple[str, ...]


class DiffEntry(Struct, frozen=True, kw_only=True, tag="Diff"):
    """A change of one file."""

    path: str | None
    hunks: tuple[HunkEntry, ...]
    is_new_file: bool
    is_fragment: bool
    """Whether lines are counted from the start of the text that was compared, not of the file."""


PartEntry = (
    Prose
    | Plain
    | Code
    | Output
    | DiffEntry
    | Checklist
    | Entries
    | Fields
    | Question
    | Picture
    | Json
)


def describe_parts(parts: Iterable[Part]) -> tuple[PartEntry, ...]:
    """Parts as a document has them."""
    return tuple(describe_diff(part) if isinstance(part, Diff) else part for part in parts)


def describe_diff(part: Diff) -> DiffEntry:
    """A change as a document has it."""
    return DiffEntry(
        path=part.path,
        hunks=tuple(map(_describe_hunk, part.hunks)),
        is_new_file=part.is_new_file,
        is_fragment=part.is_fragment,
    )


def _describe_hunk(hunk: PatchHunk) -> HunkEntry:
    return HunkEntry(
        old_start=hunk.old_start,
        old_lines=hunk.old_lines,
        new_start=hunk.new_start,
        new_lines=hunk.new_lines,
        lines=hunk.lines,
    )
