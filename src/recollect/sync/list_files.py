"""Todo lists and tasks beside sessions, as files of the full-text index.

A list is always rewritten, so each file is one text of its session, read from its start whenever
its size, time or inode changed. A list without a session among the transcripts is left out.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from msgspec import Raw

from recollect.locations import Transcript, TranscriptKind, find_root_of
from recollect.locations.project_names import decode_id
from recollect.records.decoding import decode_value
from recollect.records.envelope import Record
from recollect.sources.safe_files import is_directory, list_directory
from recollect.sources.source import Entry

MAX_BYTES: Final = 4 << 20
_SUFFIX: Final = ".json"
_AGENT: Final = "-agent-"
_TODOS: Final = "todos"
_TASKS: Final = "tasks"
_DIRECTORIES: Final = (_TODOS, _TASKS)


class ListFile(Record, frozen=True, tag="<list>"):
    """A todo list or a task, as its file has it."""

    raw: Raw = Raw()


def is_list_file(path: str) -> bool:
    """Whether a file of the index is a list; transcripts end otherwise."""
    return path.endswith(_SUFFIX)


def read_list(record: ListFile) -> str:
    """Return the words of a list, without states and ids."""
    # The types of all tools, which a search of current texts does not need.
    from recollect.records.tools.planning_tools import Task, Todo

    todos = decode_value(record.raw, tuple[Todo, ...])
    if todos is not None:
        texts = [text for todo in todos for text in (todo.content, todo.active_form)]
    else:
        task = decode_value(record.raw, Task) or Task()
        texts = [task.subject, task.description]
    return "\n".join(text for text in texts if text)


def with_lists(transcripts: Sequence[Transcript]) -> list[Transcript]:
    """Return `transcripts`, followed by the lists of their sessions."""
    by_project = {each.project_dir: each for each in transcripts}
    roots = {directory: find_root_of(each) for directory, each in by_project.items()}
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


def _iter_lists(root: Path, owners: dict[str, Transcript]) -> Iterator[Transcript]:
    for entry in _scan(root / _TODOS):
        yield from _take(entry, owners.get(entry.name.partition(_AGENT)[0]))
    for directory in _scan(root / _TASKS):
        owner = owners.get(directory.name)
        if owner is not None and directory.is_dir(follow_symlinks=False):
            for entry in _scan(Path(directory.path)):
                yield from _take(entry, owner)


def _scan(directory: Path) -> list[Entry]:
    try:
        return list_directory(directory)
    except OSError:
        return []


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
