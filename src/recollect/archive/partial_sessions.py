"""Partial sessions: transcripts that are made of what Claude Code leaves of deleted ones.

They lie in Recollect's data directory, laid out like a Claude directory, and are read like all
others. So lists, searches and pages need to know one thing only: that a session is partial. Their
paths differ from those that the transcripts had, because what the index remembers of these, such as
their tokens, must stay. They have no replies and no usage.

Every command asks whether they are up to date, so this module only compares what directories say;
`partial_transcripts` does the work.
"""

import os
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final

import msgspec

from recollect.locations.project_names import PROJECTS_DIRECTORY
from recollect.sources.safe_files import list_directory
from recollect.sources.stamps import Stamp, find_stamp

DIRECTORY: Final = "partial-sessions"
_STATE: Final = "state.json"
_VERSION: Final = "1"
_LEFT: Final = ("history.jsonl", "todos", "tasks", "file-history")
_WATCHED: Final = (*_LEFT, "plans", PROJECTS_DIRECTORY)
_MARK: Final = f"{os.sep}{DIRECTORY}{os.sep}"


def is_partial(path: str) -> bool:
    """Whether a transcript was made of leftovers."""
    return _MARK in path


def update_partial_sessions(
    root: Path,
    data_directory: Path,
    forgotten: Sequence[str] = (),
    archive: Stamp | None = None,
) -> Path | None:
    """Bring the partial sessions of a Claude directory up to date; None if there are none.

    `forgotten` are sessions that the user has removed on purpose; `archive` is the stamp of the
    archive that is mounted at the directory, whose sessions are not partial.
    """
    stamps = {name: find_stamp(str(root / name)) for name in _WATCHED}
    if not any(stamps[name] for name in _LEFT):
        return None
    directory = data_directory / DIRECTORY / _name(root)
    state = _make_state(root, {**stamps, "archive": archive}, forgotten)
    if _read_state(directory) != state:
        from recollect.archive.partial_transcripts import replace_file, write_transcripts

        write_transcripts(root, directory, forgotten)
        replace_file(directory / _STATE, state)
    return directory if (directory / PROJECTS_DIRECTORY).is_dir() else None


def _make_state(root: Path, stamps: dict[str, Stamp | None], forgotten: Iterable[str]) -> bytes:
    """Return what has to be the same for the partial sessions to be up to date."""
    try:
        projects = list_directory(root / PROJECTS_DIRECTORY)
    except OSError:
        projects = []
    listed = [(entry.name, find_stamp(entry.path)) for entry in projects]
    return msgspec.json.encode((_VERSION, str(root), stamps, listed, sorted(forgotten)))


def _read_state(directory: Path) -> bytes | None:
    try:
        return (directory / _STATE).read_bytes()
    except OSError:
        return None


def _name(root: Path) -> str:
    return sha256(os.path.realpath(root).encode(errors="surrogateescape")).hexdigest()[:16]
