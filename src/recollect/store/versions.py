"""Which tables and which data an index has, and which SQLite keeps it.

Apart from the tables themselves, because a status line asks for nothing but the versions.
"""

from contextlib import closing
from pathlib import Path
from typing import Final

import apsw

from recollect.store.data_directory import INDEX_NAME

SCHEMA_VERSION: Final = 6
"""Changes with the tables."""
DATA_VERSION: Final = 5
"""Changes with what is put into them, apart from the tables of the next."""
LISTING_VERSION: Final = "2"
"""Changes with what is put into `sessions` and `tool_calls`, for which files are read again."""

TEXT_SCHEMA: Final = "8"
"""Changes with the tables of the full-text index."""

SQLITE_VERSION: Final = apsw.sqlite_lib_version()
MIN_SQLITE_VERSION: Final = "3.51.3"
"""Older ones may damage an index that two programs write at once."""


def is_sqlite_safe(version: str = SQLITE_VERSION) -> bool:
    """Whether that SQLite is recent enough for an index that several programs use."""
    return _to_numbers(version) >= _to_numbers(MIN_SQLITE_VERSION)


def find_schema_version(directory: Path) -> int | None:
    """The version of the tables of the index in `directory`; None if it cannot be read."""
    path = directory / INDEX_NAME
    if not path.is_file():
        return None
    try:
        with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
            return int(connection.execute("PRAGMA user_version").get)
    except (apsw.Error, UnicodeError):
        return None


def _to_numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))
