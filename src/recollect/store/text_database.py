"""Opening the full-text index, a file of its own beside the catalogue.

It is many times as large as the catalogue, is written for minutes where that takes moments, and
can be thrown away at any time: another file lets both be written and checked without the other.
One that is damaged, or made for other terms, is deleted and built anew.
"""

import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Final, TypeVar

import apsw

from recollect.store.database import transaction
from recollect.store.failures import DamagedIndex, translate_errors
from recollect.store.lock import hold_lock
from recollect.store.meta import read_meta, write_meta
from recollect.store.place import is_on_network, make_private_directory
from recollect.store.text import SETTINGS, TABLES

DIRECTORY: Final = "text"
"""Below the data directory, with a lock of its own."""

_NAME: Final = "text.db"
_VERSION_KEY: Final = "version"
_SCHEMA: Final = "3"
_BUSY_MS: Final = 5_000
_PAGE_BYTES: Final = 8192
_CACHE_KB: Final = 16 * 1024

T = TypeVar("T")


def open_texts(directory: Path, terms: str) -> apsw.Connection | None:
    """The full-text index in a data directory, for reading; None unless it has these terms."""
    path = directory / DIRECTORY / _NAME
    if not path.is_file():
        return None
    try:
        connection = _connect(path)
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        connection.execute("PRAGMA query_only = ON")
        if _is_made_for(connection, terms):
            return connection
        connection.close()
    except apsw.Error:
        return None
    return None


def open_in_memory(tokenizer: str) -> apsw.Connection:
    """Tables without a text, in memory."""
    connection = apsw.Connection(":memory:")
    connection.execute(TABLES.format(tokenizer=tokenizer))
    return connection


def update_texts(
    directory: Path, terms: str, tokenizer: str, work: Callable[[apsw.Connection], T]
) -> T:
    """The result of `work`, in one transaction, on an index with these terms.

    It is made if need be, and made anew if it is damaged or has other terms.
    """
    place = directory / DIRECTORY
    make_private_directory(directory)
    make_private_directory(place)
    with hold_lock(place):
        try:
            return _run(place / _NAME, terms, tokenizer, work)
        except DamagedIndex:
            _delete(place / _NAME)
        return _run(place / _NAME, terms, tokenizer, work)


def delete_texts(directory: Path) -> None:
    """Throw the full-text index in a data directory away, so that it is made anew."""
    place = directory / DIRECTORY
    if (place / _NAME).exists():
        with hold_lock(place):
            _delete(place / _NAME)


def _run(path: Path, terms: str, tokenizer: str, work: Callable[[apsw.Connection], T]) -> T:
    with translate_errors(path):
        if path.exists() and not _is_usable(path, terms):
            _delete(path)
        opened = closing(_open_for_writing(path, terms, tokenizer))
        with opened as connection, transaction(connection):
            return work(connection)


def _is_usable(path: Path, terms: str) -> bool:
    with closing(_connect(path)) as connection:
        return _is_made_for(connection, terms)


def _is_made_for(connection: apsw.Connection, terms: str) -> bool:
    if not connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'words'").get:
        return False
    return read_meta(connection, _VERSION_KEY) == f"{_SCHEMA}/{terms}"


def _open_for_writing(path: Path, terms: str, tokenizer: str) -> apsw.Connection:
    is_new = not path.exists()
    if is_new:
        # Made by us, because SQLite would let others read it. Its log gets the same permissions.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    connection = _connect(path)
    connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
    mode = "DELETE" if is_on_network(path) else "WAL"
    connection.execute(f"PRAGMA journal_mode = {mode}")
    connection.execute("PRAGMA synchronous = NORMAL")
    if is_new:
        with transaction(connection):
            connection.execute(TABLES.format(tokenizer=tokenizer))
            for name, value in SETTINGS.items():
                connection.execute("INSERT INTO words(words, rank) VALUES (?, ?)", (name, value))
            write_meta(connection, _VERSION_KEY, f"{_SCHEMA}/{terms}")
    return connection


def _connect(path: Path) -> apsw.Connection:
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    connection.set_busy_timeout(_BUSY_MS)
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute(f"PRAGMA cache_size = -{_CACHE_KB}")
    return connection


def _delete(path: Path) -> None:
    for suffix in ("-wal", "-shm", ""):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
