"""What was once found out about a file, kept for as long as the file stays as it was.

One table for all kinds of notes, apart from the catalogue, because a report on usage must not wait
for titles. The kind of a note says how it is to be read: a program that writes other notes gives
them another kind and finds none of the former. A note that is not as it was written, which nothing
else would show, counts as none.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple
from zlib import crc32

import apsw

from recollect.store.path_text import decode_path, encode_path, encode_paths

_TABLE = """
CREATE TABLE IF NOT EXISTS file_notes (
    kind TEXT NOT NULL,
    path TEXT NOT NULL,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    note BLOB NOT NULL,
    crc INTEGER NOT NULL,
    PRIMARY KEY (kind, path)
) WITHOUT ROWID
"""


class FileNote(NamedTuple):
    """A file as it was when the note was made, and the note."""

    path: str
    size: int
    mtime_ns: int
    note: bytes


def load_notes(
    connection: apsw.Connection, kind: str, paths: Iterable[str] | None = None
) -> dict[str, FileNote]:
    """The notes of a kind by path, on all files or on these; none when no note was ever made."""
    query = "SELECT path, size, mtime_ns, note, crc FROM file_notes WHERE kind = ?"
    values: tuple[str, ...] = (kind,)
    if paths is not None:
        query += " AND path IN (SELECT value FROM json_each(?))"
        values += (encode_paths(paths),)
    try:
        rows: list[Any] = connection.execute(query, values).fetchall()
    except apsw.SQLError:
        return {}
    sound = (FileNote(decode_path(row[0]), *row[1:-1]) for row in rows if crc32(row[3]) == row[4])
    return {note.path: note for note in sound}


def save_notes(connection: apsw.Connection, kind: str, notes: Iterable[FileNote]) -> None:
    """Keep notes, in place of those that there were of the same files."""
    with connection:
        connection.execute(_TABLE)
        connection.executemany(
            "INSERT OR REPLACE INTO file_notes VALUES (?, ?, ?, ?, ?, ?)",
            ((kind, encode_path(note.path), *note[1:], crc32(note.note)) for note in notes),
        )
