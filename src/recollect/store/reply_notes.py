"""The table `reply_notes`: what happened around the replies of each transcript.

Notes are opaque here. The table is made when it is first written: it is an addition to the index,
and an index without it is complete.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

import apsw

from recollect.sources.stamps import Stamp
from recollect.store.catalog import decode_path, encode_path, encode_paths
from recollect.store.integrity import load_checksums
from recollect.store.schema import read_meta, write_meta

_VERSION_KEY: Final = "reply_notes"
_VERSION: Final = "1"
"""Changes with what is in the notes; those of another version are deleted."""

_TABLE: Final = """
-- One row a transcript that was read whole. `inode`, `size` and `mtime_ns` are those it had then.
CREATE TABLE IF NOT EXISTS reply_notes (
    path TEXT PRIMARY KEY,
    inode INTEGER NOT NULL,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    notes BLOB NOT NULL
) WITHOUT ROWID;
"""


class StoredNotes(NamedTuple):
    """The notes of a transcript, encoded, and what they were made from."""

    path: str
    stamp: Stamp
    notes: bytes


def load_notes(
    connection: apsw.Connection, paths: Iterable[str] | None = None
) -> dict[str, StoredNotes]:
    """Return the notes of all transcripts, or of these, by path."""
    # Without checksums of pages, a flipped bit would be a figure like any other.
    if not load_checksums() or read_meta(connection, _VERSION_KEY) != _VERSION:
        return {}
    condition = "" if paths is None else "WHERE path IN (SELECT value FROM json_each(?))"
    values = () if paths is None else (encode_paths(list(paths)),)
    rows = connection.execute(
        f"SELECT path, inode, size, mtime_ns, notes FROM reply_notes {condition}", values
    )
    found = (
        StoredNotes(decode_path(path), (inode, size, mtime_ns), notes)
        for path, inode, size, mtime_ns, notes in rows
    )
    return {stored.path: stored for stored in found}


def save_notes(connection: apsw.Connection, found: Iterable[StoredNotes]) -> None:
    """Write notes, in place of those of the same transcripts; within a transaction."""
    connection.execute(_TABLE)
    if read_meta(connection, _VERSION_KEY) != _VERSION:
        connection.execute("DELETE FROM reply_notes")
        write_meta(connection, _VERSION_KEY, _VERSION)
    connection.executemany(
        "INSERT OR REPLACE INTO reply_notes VALUES (?, ?, ?, ?, ?)",
        ((encode_path(path), *stamp, notes) for path, stamp, notes in found),
    )
