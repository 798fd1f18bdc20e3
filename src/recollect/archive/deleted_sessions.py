"""Sessions that Claude Code has deleted: copies in the archive, and partial sessions, which are
transcripts reconstructed from leftovers.

Partial sessions are in Recollect's data directory, with the layout of a Claude directory, and are
read like all others. Lists, searches and pages treat them alike and only mark them as partial.
Their paths differ from the original ones, because the index must keep its records about the
originals, such as their tokens. They have no replies and no usage.

Every command checks whether they are up to date, so this module only compares directory listings;
`partial_transcripts` does the work.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from recollect.archive import find_archive_in, has_archive
from recollect.errors import ArchiveFailure
from recollect.locations.claude_directories import PROJECTS_DIRECTORY
from recollect.sources.safe_files import list_readable
from recollect.sources.source import Stamp, find_stamp, list_mounts

DIRECTORY: Final = "partial-sessions"
_STATE: Final = "state.json"
_VERSION: Final = "2"
_LEFT: Final = ("history.jsonl", "todos", "tasks", "file-history")
_WATCHED: Final = (*_LEFT, "plans", PROJECTS_DIRECTORY)
_MARK: Final = f"{os.sep}{DIRECTORY}{os.sep}"


def is_partial(path: str) -> bool:
    """Return whether a transcript was reconstructed from leftovers."""
    return _MARK in path


class DeletedSessions(NamedTuple):
    """The directories with sessions, including deleted ones."""

    roots: tuple[Path, ...]
    """The Claude directories, and directories with partial sessions."""
    failure: str | None
    """Why the archive cannot be read."""


def include_deleted(
    roots: Sequence[Path],
    data_directory: Path,
    own_directory: Path,
    unlock: Callable[[], None] | None = None,
) -> DeletedSessions:
    """Make deleted sessions available, from the archive or as partial sessions.

    The archive is in `own_directory`, unless the environment sets another one.
    """
    archive = find_archive_in(own_directory)
    failure = use_archive(roots, archive, unlock)
    return DeletedSessions(add_partial_sessions(roots, data_directory, archive), failure)


def use_archive(
    roots: Sequence[Path],
    directory: Path,
    unlock: Callable[[], None] | None = None,
    *,
    is_server: bool = False,
) -> str | None:
    """Read files missing from Claude directories from the archive, if there is one.

    A server also uses an archive that is created later. `unlock` is called before an archive is
    read. Returns the reason if it cannot be read, for example because the key of an encrypted one
    is missing.
    """
    is_there = has_archive(directory)
    if is_there and unlock is not None:
        unlock()
    # Imported only if there is an archive.
    if is_server or is_there:
        from recollect.archive.archive import Archive
        from recollect.archive.archive_source import mount_archive

        archive = Archive(directory)
        try:
            archive.require_keys()
        except ArchiveFailure as error:
            return f"Deleted sessions are left out. {error}"
        mount_archive(archive, roots)
    return None


def add_partial_sessions(
    roots: Sequence[Path], data_directory: Path, archive: Path
) -> tuple[Path, ...]:
    """Return these Claude directories, and directories with partial sessions."""
    mounted = list_mounts()
    forgotten = _list_forgotten(archive)
    stamp = find_stamp(str(archive / "snapshots")) if mounted else None
    found = (
        update_partial_sessions(
            root, data_directory, forgotten, stamp if str(root.absolute()) in mounted else None
        )
        for root in roots
    )
    try:
        return (*roots, *(each for each in found if each))
    except OSError:
        # If our own files cannot be written, commands that need the index report it.
        return tuple(roots)


def _list_forgotten(directory: Path) -> tuple[str, ...]:
    """Return the sessions that the user has removed from the archive."""
    if not has_archive(directory):
        return ()
    from recollect.archive.archive import Archive

    settings = Archive(directory).settings
    return settings.forgotten if settings else ()


def update_partial_sessions(
    root: Path,
    data_directory: Path,
    forgotten: Sequence[str] = (),
    archive: Stamp | None = None,
) -> Path | None:
    """Update the partial sessions of a Claude directory; return None if there are none.

    `forgotten` are sessions that the user has removed; `archive` is the stamp of the archive that
    is mounted at the directory, whose sessions are not partial.
    """
    stamps = {name: find_stamp(str(root / name)) for name in _WATCHED}
    if not any(stamps[name] for name in _LEFT):
        return None
    state = _make_state(root, {**stamps, "archive": archive}, forgotten)
    directory = _find_current(data_directory / DIRECTORY, state)
    if directory is None:
        from recollect.archive.partial_transcripts import replace_file, write_transcripts

        directory = data_directory / DIRECTORY / _name(root)
        write_transcripts(root, directory, forgotten)
        replace_file(directory / _STATE, state)
    return directory if (directory / PROJECTS_DIRECTORY).is_dir() else None


def _make_state(root: Path, stamps: dict[str, Stamp | None], forgotten: Iterable[str]) -> bytes:
    """Return a stamp that changes when the partial sessions are out of date."""
    projects = list_readable(root / PROJECTS_DIRECTORY)
    listed = [(entry.name, find_stamp(entry.path)) for entry in projects]
    return msgspec.json.encode((_VERSION, str(root), stamps, listed, sorted(forgotten)))


def _find_current(parent: Path, state: bytes) -> Path | None:
    """Return the directory that was written with this stamp, which names its Claude directory."""
    paths = (each.path for each in list_readable(parent))
    return next((Path(path) for path in paths if _read_state(path) == state), None)


def _read_state(directory: str) -> bytes | None:
    try:
        return Path(directory, _STATE).read_bytes()
    except OSError:
        return None


def _name(root: Path) -> str:
    from hashlib import sha256  # loads OpenSSL, needed only for writing

    return sha256(os.path.realpath(root).encode(errors="surrogateescape")).hexdigest()[:16]
