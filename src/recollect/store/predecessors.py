"""Indexes that were replaced and are kept next to the one in use.

A damaged index is moved aside; one with the tables of an older version is copied before its tables
are dropped, in place, so that readers are not disturbed. `remains` reads what they know.
"""

import os
from pathlib import Path

import apsw

from recollect.errors import IndexFailure
from recollect.store.schema import NEWER_NAME, read_meta

DAMAGED_NAME = "index.damaged.db"
_OLDER_NAMES = "index.older*.db"

CARRIED_KEY = "carried"
"""Set in `meta` once an index has what its predecessors know about deleted transcripts."""


def set_aside(path: Path, name: str = DAMAGED_NAME) -> None:
    """Rename the index at `path`, replacing an earlier one of that name."""
    target = path.with_name(name)
    try:
        # Its log first: an index without it is an older one, a log without an index is nothing.
        for suffix in ("-wal", "-shm", ""):
            target.with_name(target.name + suffix).unlink(missing_ok=True)
            if path.with_name(path.name + suffix).exists():
                path.with_name(path.name + suffix).rename(target.with_name(target.name + suffix))
    except OSError as error:
        raise IndexFailure(
            f"The index {path} cannot be used, nor moved away: {error.strerror}. "
            "Stop every other Recollect and delete it; it will be rebuilt."
        ) from error


def copy_aside(connection: apsw.Connection, path: Path) -> None:
    """Copy the index of an older version before its tables are dropped.

    Reads every page, so that damage raises before anything is lost. Earlier copies are kept until
    their rows have been carried over into this index.
    """
    if read_meta(connection, CARRIED_KEY):
        delete_copies(path.parent)
    number = len(list(path.parent.glob(_OLDER_NAMES))) + 1
    target = path.with_name(f"index.older-{number}.db")
    part = target.with_suffix(".part")
    part.unlink(missing_ok=True)
    # Created by us, because SQLite would let others read it.
    os.close(os.open(part, os.O_RDWR | os.O_CREAT, 0o600))
    connection.execute("VACUUM INTO ?", (str(part),))
    part.replace(target)


def delete_copies(directory: Path) -> None:
    """Delete the copies of older indexes, once their rows have been carried over."""
    for path in directory.glob(_OLDER_NAMES):
        path.unlink(missing_ok=True)


def find_predecessors(directory: Path) -> list[Path]:
    """Return the replaced indexes in `directory`, the last one first."""
    paths = [directory / DAMAGED_NAME, directory / NEWER_NAME, *directory.glob(_OLDER_NAMES)]
    found = [path for path in paths if path.is_file()]
    return sorted(found, key=lambda path: path.stat().st_mtime_ns, reverse=True)
