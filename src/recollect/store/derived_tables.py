"""The tables `edit_outlines` and `edited_names`, the files that each session mentions, and
`reply_notes`, the context of the replies in each transcript.

Outlines and notes are opaque here. The tables are optional and created when they are first written.
"""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple
from zlib import crc32

import apsw

from recollect.sources.source import Stamp
from recollect.store.catalog import decode_path, encode_path, encode_paths
from recollect.store.schema import load_checksums, read_meta, write_meta

_OUTLINES_KEY: Final = "edit_outlines"
_OUTLINES_VERSION: Final = "3"
"""Incremented when the content of outlines changes; those of another version are deleted."""

_TABLES: Final = """
-- One row per session. `signature` is a hash of the states of its transcripts when they were read.
CREATE TABLE IF NOT EXISTS edit_outlines (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    signature BLOB NOT NULL,
    outline BLOB NOT NULL
);

-- Hashes of the names of the files in an outline, without directories and ignoring case.
CREATE TABLE IF NOT EXISTS edited_names (
    outline INTEGER NOT NULL,
    name INTEGER NOT NULL,
    PRIMARY KEY (outline, name)
) WITHOUT ROWID;
"""
_AMONG: Final = "path IN (SELECT value FROM json_each(?))"


class StoredOutline(NamedTuple):
    """The outline of the session at `path`, and the names of the files that it mentions."""

    path: str
    signature: bytes
    outline: bytes
    names: tuple[str, ...] = ()


def hash_file_name(name: str) -> int:
    """Return the hash by which a name is found; different names may share one."""
    return crc32(name.casefold().encode("utf-8", "replace"))


def load_signatures(connection: apsw.Connection, paths: Sequence[str]) -> dict[str, bytes]:
    """Return the signatures of the outlines of these sessions, by path."""
    if not _is_usable(connection):
        return {}
    query = f"SELECT path, signature FROM edit_outlines WHERE {_AMONG}"
    rows = connection.execute(query, (encode_paths(paths),))
    return {decode_path(path): signature for path, signature in rows}


def find_outlines(
    connection: apsw.Connection, paths: Sequence[str], names: Iterable[str] | None
) -> list[StoredOutline]:
    """Return the outlines of these sessions that mention a file with one of the names.

    Without names, all of them.
    """
    if not _is_usable(connection):
        return []
    query = f"SELECT path, signature, outline FROM edit_outlines WHERE {_AMONG}"
    values: tuple[str, ...] = (encode_paths(paths),)
    if names is not None:
        hashes = ",".join(str(hash_file_name(name)) for name in names)
        query += (
            " AND EXISTS (SELECT 1 FROM edited_names "
            "WHERE outline = id AND name IN (SELECT value FROM json_each(?)))"
        )
        values = (*values, f"[{hashes}]")
    rows = connection.execute(query, values)
    return [StoredOutline(decode_path(path), *others) for path, *others in rows]


def save_outlines(connection: apsw.Connection, outlines: Iterable[StoredOutline]) -> None:
    """Write outlines, replacing those of the same sessions; within a transaction."""
    connection.execute(_TABLES)
    if read_meta(connection, _OUTLINES_KEY) != _OUTLINES_VERSION:
        connection.execute("DELETE FROM edit_outlines; DELETE FROM edited_names")
        write_meta(connection, _OUTLINES_KEY, _OUTLINES_VERSION)
    for path, signature, outline, names in outlines:
        row = connection.execute(
            "INSERT INTO edit_outlines (path, signature, outline) VALUES (?, ?, ?) "
            "ON CONFLICT (path) DO UPDATE SET signature = excluded.signature, "
            "outline = excluded.outline RETURNING id",
            (encode_path(path), signature, outline),
        ).get
        connection.execute("DELETE FROM edited_names WHERE outline = ?", (row,))
        connection.executemany(
            "INSERT OR IGNORE INTO edited_names VALUES (?, ?)",
            ((row, hash_file_name(name)) for name in names),
        )


def _is_usable(connection: apsw.Connection) -> bool:
    """Whether there are outlines of this version, on pages with checksums."""
    return load_checksums() and read_meta(connection, _OUTLINES_KEY) == _OUTLINES_VERSION


_NOTES_KEY: Final = "reply_notes"
_NOTES_VERSION: Final = "1"
"""Incremented when the content of notes changes; those of another version are deleted."""

_TABLE: Final = """
-- One row per transcript that was read completely, with its `inode`, `size` and `mtime_ns` then.
CREATE TABLE IF NOT EXISTS reply_notes (
    path TEXT PRIMARY KEY,
    inode INTEGER NOT NULL,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    notes BLOB NOT NULL
) WITHOUT ROWID;
"""


class StoredNotes(NamedTuple):
    """The encoded notes of a transcript, and the state of the file that they were made from."""

    path: str
    stamp: Stamp
    notes: bytes


def load_notes(
    connection: apsw.Connection, paths: Iterable[str] | None = None
) -> dict[str, StoredNotes]:
    """Return the notes of all transcripts, or of those in `paths`, by path."""
    # Without page checksums, a flipped bit would go unnoticed.
    if not load_checksums() or read_meta(connection, _NOTES_KEY) != _NOTES_VERSION:
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
    """Write notes, replacing those of the same transcripts; within a transaction."""
    connection.execute(_TABLE)
    if read_meta(connection, _NOTES_KEY) != _NOTES_VERSION:
        connection.execute("DELETE FROM reply_notes")
        write_meta(connection, _NOTES_KEY, _NOTES_VERSION)
    connection.executemany(
        "INSERT OR REPLACE INTO reply_notes VALUES (?, ?, ?, ?, ?)",
        ((encode_path(path), *stamp, notes) for path, stamp, notes in found),
    )
