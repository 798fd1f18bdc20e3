"""Plan the update of the full-text index: the ranges of files to read, and the status of the index.

Imports neither the reader nor the analyzer, because `recollect index` only shows the status.
"""

from collections.abc import Iterable, Sequence
from enum import IntEnum
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from recollect.documents.command_reports import TextStatus
from recollect.locations import Transcript, TranscriptKind
from recollect.sources.growth import FileState
from recollect.sources.source import is_present
from recollect.store import text_rows
from recollect.store.data_directory import TEXT_DIRECTORY
from recollect.store.schema import DamagedIndex
from recollect.store.text_database import TextIndexState, load_state
from recollect.sync.list_files import with_lists

POOL_BYTES: Final = 16 << 20
"""Below this, starting worker processes costs more time than they save."""

_NOTHING: Final = text_rows.TextState()


class Stage(IntEnum):
    """The kind of lines to read."""

    CONVERSATION = 0
    TOOLS = 1


BOTH: Final = tuple(Stage)


class FileRange(Struct, frozen=True):
    """A range of a file to read: from `known` on if the file has only grown, else all of it."""

    path: str
    is_subagent: bool
    stages: tuple[Stage, ...]
    known: tuple[text_rows.TextState, ...]
    """How far each stage has read it; the same for all stages."""


class TextPlan(Struct, frozen=True):
    """The ranges to read, in order, and the deleted files."""

    ranges: tuple[FileRange, ...]
    gone: tuple[str, ...]
    is_rebuild_due: bool
    """Whether the vocabulary must be rebuilt."""
    identity: str | None
    """Identity of the index that this was planned for; None if there is none yet."""

    @property
    def is_empty(self) -> bool:
        """Whether the index is up to date."""
        return not (self.ranges or self.gone or self.is_rebuild_due)


def plan_texts(
    directory: Path, version: str, transcripts: Sequence[Transcript], *, is_look: bool = False
) -> TextPlan:
    """Plan the update of the full-text index from the transcripts.

    A damaged index is deleted and `DamagedIndex` is raised; with `is_look`, it is treated as
    missing.
    """
    known = _load_if_sound(directory, version) if is_look else load_state(directory, version)
    newest = sorted(transcripts, key=lambda transcript: -transcript.mtime_ns)
    present = {transcript.file for transcript in transcripts}
    return TextPlan(
        tuple(list_ranges(newest, known.states)),
        tuple(path for path in known.files if path not in present and not is_present(path)),
        known.is_rebuild_due,
        known.identity,
    )


def find_ranges(
    directory: Path, version: str, transcripts: Sequence[Transcript]
) -> list[FileRange]:
    """Return the ranges of these transcripts to read."""
    return list_ranges(transcripts, load_state(directory, version).states)


def _load_if_sound(directory: Path, version: str) -> TextIndexState:
    try:
        return load_state(directory, version, deletes_damaged=False)
    except DamagedIndex:
        return TextIndexState()


def list_ranges(transcripts: Sequence[Transcript], states: text_rows.States) -> list[FileRange]:
    """Return the ranges: both stages of a file at once, or all of one stage before the other.

    The latter is for large histories: it takes longer, but the conversation comes first.
    """
    found = [
        _make_range(each, (stage,), (known,))
        for stage in Stage
        for each in transcripts
        if not (known := states.get((each.file, stage), _NOTHING)).file.is_current(each.stamp)
    ]
    sizes = {each.file: each.size for each in transcripts}
    if sum(sizes[each.path] - each.known[0].file.position for each in found) >= POOL_BYTES:
        return found
    return _join_stages(found)


def _join_stages(ranges: Iterable[FileRange]) -> list[FileRange]:
    """Join both stages of a file that have read equally far."""
    joined: dict[tuple[str, FileState], FileRange] = {}
    for each in ranges:
        key = (each.path, each.known[0].file)
        if (other := joined.get(key)) is not None:
            both = (*other.known, *each.known)
            joined[key] = replace(other, stages=(*other.stages, *each.stages), known=both)
        else:
            joined[key] = each
    return list(joined.values())


def _make_range(
    transcript: Transcript,
    stages: tuple[Stage, ...],
    known: tuple[text_rows.TextState, ...],
) -> FileRange:
    is_subagent = transcript.kind is not TranscriptKind.SESSION
    return FileRange(transcript.file, is_subagent, stages, known)


def find_text_status(
    directory: Path, version: str, transcripts: Sequence[Transcript]
) -> TextStatus:
    """Return the status of the full-text index for this version of the analyzer."""
    plan = plan_texts(directory, version, with_lists(transcripts), is_look=True)
    behind = {each.path for each in plan.ranges} | set(plan.gone)
    files = (found for found in (directory / TEXT_DIRECTORY).glob("*.db*") if found.is_file())
    return TextStatus(
        bytes=sum(found.stat().st_size for found in files),
        is_current=plan.is_empty,
        files_behind=len(behind),
    )
