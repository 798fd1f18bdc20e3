"""The todo and task lists beside sessions, as files of the full-text index.

A list is rewritten as a whole, so each file is one text of its session, read again whenever its
size, time or inode has changed. Lists without a session among the transcripts are left out.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from recollect.locations import Transcript, TranscriptKind
from recollect.locations.claude_directories import decode_id
from recollect.sources.safe_files import is_directory, list_readable
from recollect.sources.source import Entry
from recollect.store.text_rows import IndexedFile

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
    files: Mapping[int, IndexedFile], transcripts: Sequence[Transcript]
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
