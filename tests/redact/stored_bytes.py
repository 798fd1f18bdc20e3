"""Everything that the files of a data directory contain, also inside compressed values."""

import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path


def read_stored(path: Path) -> bytes:
    """Return the bytes of a file; of a database, also its values, decompressed if they are."""
    data = path.read_bytes()
    if not data.startswith(b"SQLite format 3\0"):
        return data
    return b"\n".join([data, *_iter_values(path)])


def _iter_values(path: Path) -> Iterator[bytes]:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        for (name,) in names:
            # The system's SQLite may not know all options of a full-text table.
            with suppress(sqlite3.OperationalError):
                for row in connection.execute(f'SELECT * FROM "{name}"'):
                    yield from (_decompress(value) for value in row if isinstance(value, bytes))


def _decompress(value: bytes) -> bytes:
    with suppress(zlib.error):
        return zlib.decompress(value)
    return value
