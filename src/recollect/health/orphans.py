"""Files of sessions whose transcripts are gone: what Claude Code's cleaning leaves behind.

Goes by names that are ids of sessions and opens nothing. Other names are left alone: a team's tasks
lie in a directory called like the team, and a project's notes beside its sessions.
"""

import re
from collections.abc import Container, Iterator
from pathlib import Path
from typing import Final

from recollect.health.report import Orphan
from recollect.health.sources import Naming
from recollect.locations import Refused
from recollect.locations.entries import find_status, iter_tree, list_directory
from recollect.locations.names import PROJECTS_DIRECTORY

_ID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_TODO: Final = re.compile(rf"({_ID.pattern})-agent-.*\.json")
_BY_SESSION: Final = ("tasks", "file-history")


def find_orphans(root: Path, session_ids: Container[str], naming: Naming) -> tuple[Orphan, ...]:
    """What below `root` belongs to none of these sessions."""
    found = [
        *_iter_session_directories(root),
        *(entry for name in _BY_SESSION for entry in _iter_named(root / name, name, _ID)),
        *_iter_named(root / "todos", "todo", _TODO),
    ]
    orphans = (
        _describe(path, kind, naming) for path, kind, owner in found if owner not in session_ids
    )
    return tuple(sorted(orphans, key=lambda orphan: orphan.file))


def _iter_session_directories(root: Path) -> Iterator[tuple[Path, str, str]]:
    for project in _list_names(root / PROJECTS_DIRECTORY):
        for path, kind, owner in _iter_named(project, "session", _ID):
            if path.is_dir() and not path.is_symlink():
                yield path, kind, owner


def _iter_named(
    directory: Path, kind: str, pattern: re.Pattern[str]
) -> Iterator[tuple[Path, str, str]]:
    """Yield what is called after a session, with that session's id."""
    for path in _list_names(directory):
        if match := pattern.fullmatch(path.name):
            yield path, kind, match[match.lastindex or 0]


def _list_names(directory: Path) -> list[Path]:
    try:
        return [directory / entry.name for entry in list_directory(directory)]
    except OSError:
        # Whoever reads transcripts there reports it; here it is nothing to tell an orphan by.
        return []


def _describe(path: Path, kind: str, naming: Naming) -> Orphan:
    files = [path.joinpath(*parts) for parts in iter_tree(path) if not isinstance(parts, Refused)]
    sizes = [getattr(find_status(file), "st_size", 0) for file in files or [path]]
    return Orphan(file=naming.name(path), kind=kind, files=len(sizes), byte_count=sum(sizes))
