"""Plan the update of the full-text index: the files that it covers, the ranges of them to read, and
the status of the index.

The todo and task lists beside sessions are files of the index too. A list is rewritten as a whole,
so each file is one text of its session, read again whenever its size, time or inode has changed.
Lists without a session among the transcripts are left out.

Imports neither the reader nor the analyzer, because `recollect index` only shows the status.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from recollect.documents.command_reports import TextStatus
from recollect.locations import Transcript, TranscriptKind
from recollect.locations.claude_directories import decode_id
from recollect.sources.growth import FileState
from recollect.sources.safe_files import is_directory, list_readable
from recollect.sources.source import Entry, is_present
from recollect.store import text_rows
from recollect.store.data_directory import TEXT_DIRECTORY
from recollect.store.schema import DamagedIndex
from recollect.store.text_database import TextIndexState, load_state

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


MAX_BYTES: Final = 4 << 20
_SUFFIX: Final = ".json"
_AGENT: Final = "-agent-"
_TODOS: Final = "todos"
_TASKS: Final = "tasks"
_DIRECTORIES: Final = (_TODOS, _TASKS)


def is_list_file(path: str) -> bool:
    """Return whether an indexed file is a list; transcripts have another suffix."""
    return path.endswith(_SUFFIX)


def with_lists(transcripts: Sequence[Transcript]) -> list[Transcript]:
    """Return `transcripts`, followed by the lists of their sessions."""
    by_project = {each.project_dir: each for each in transcripts}
    roots = {directory: each.root for directory, each in by_project.items()}
    lists: list[Transcript] = []
    for root in sorted({root for root in roots.values() if root is not None}):
        if any(is_directory(root / name) for name in _DIRECTORIES):
            owners = {
                decode_id(each.session_id): each
                for each in transcripts
                if each.kind is TranscriptKind.SESSION
                and each.session_id is not None
                and roots[each.project_dir] == root
            }
            lists += _iter_lists(root, owners)
    return [*transcripts, *lists]


def select_indexed(
    files: Mapping[int, text_rows.IndexedFile], transcripts: Sequence[Transcript]
) -> list[int]:
    """Return the numbers of the indexed files for `transcripts` and for lists of their sessions.

    Does not access the disk: there may be thousands of lists, and a search runs at each key press.
    """
    paths = {each.file for each in transcripts}
    wanted = [number for number, file in files.items() if file.path in paths]
    lists = [number for number, file in files.items() if is_list_file(file.path)]
    if lists:
        owners = {
            (each.project, each.session_id)
            for each in transcripts
            if each.kind is TranscriptKind.SESSION
        }
        by_project = {each.project_dir: each for each in transcripts}
        roots = tuple(f"{root}{os.sep}" for each in by_project.values() if (root := each.root))
        wanted += [
            number
            for number in lists
            if (files[number].project, files[number].session_id) in owners
            and files[number].path.startswith(roots)
        ]
    return wanted


def _iter_lists(root: Path, owners: dict[str, Transcript]) -> Iterator[Transcript]:
    for entry in list_readable(root / _TODOS):
        yield from _take(entry, owners.get(entry.name.partition(_AGENT)[0]))
    for directory in list_readable(root / _TASKS):
        owner = owners.get(directory.name)
        if owner is not None and directory.is_dir(follow_symlinks=False):
            for entry in list_readable(Path(directory.path)):
                yield from _take(entry, owner)


def _take(entry: Entry, owner: Transcript | None) -> Iterator[Transcript]:
    if owner is None or not is_list_file(entry.name):
        return
    try:
        if not entry.is_file(follow_symlinks=False):
            return
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return
    if status.st_size <= MAX_BYTES:
        yield owner._replace(
            file=entry.path,
            size=status.st_size,
            mtime_ns=status.st_mtime_ns,
            device=status.st_dev,
            inode=status.st_ino,
        )
