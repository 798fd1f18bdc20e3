"""Replaced indexes, and what they know about transcripts that no longer exist.

A damaged index is moved aside; one with the tables of an older version is copied before its tables
are dropped, in place, so that readers are not disturbed. Everything about existing transcripts is
read from the files again, so what is carried over is all that would be lost. Tables are read by the
names of their columns: a column that an older version did not have gets its default, so no version
needs a migration of its own. Best effort: what contradicts itself is left out.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import NamedTuple

import apsw
from msgspec import Struct

from recollect.errors import IndexFailure
from recollect.store.catalog import FileRow, Names, load_files
from recollect.store.file_notes import load_noted_calls, load_noted_figures, load_noted_listings
from recollect.store.hour_sums import check_messages
from recollect.store.integrity import DamagedIndex, load_checksums
from recollect.store.message_rows import StoredMessage, select_of_file
from recollect.store.schema import NEWER_NAME, TABLE_NAMES, TABLES, read_meta
from recollect.store.session_table import (
    CallSummary,
    StoredCalls,
    StoredFigures,
    StoredListing,
    load_calls,
    load_figures,
    load_listings,
)
from recollect.store.versions import SCHEMA_VERSION

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


_NOTES_TABLE = "file_notes"
_UNREADABLE = (apsw.Error, UnicodeDecodeError, DamagedIndex)
_DEFAULTS = {"INTEGER": "0", "TEXT": "''", "BLOB": "x''", "REAL": "0"}


class Remains(Struct, frozen=True):
    """What an index knows of one deleted transcript."""

    file: FileRow
    messages: list[StoredMessage]
    names: Names
    """The names that the messages refer to."""


class SessionRemains(NamedTuple):
    """What lists of deleted transcripts showed, and their tool calls."""

    listings: list[StoredListing]
    figures: list[tuple[StoredFigures, list[CallSummary]]]


def iter_remains(directory: Path, exists: Callable[[str], bool]) -> Iterator[Remains]:
    """Iterate over what replaced indexes know of deleted transcripts, each once, newest first."""
    seen: set[str] = set()
    for connection, version in _iter_predecessors(directory):
        for remains in _iter_deleted(connection, version, exists):
            if remains.file.path not in seen:
                seen.add(remains.file.path)
                yield remains


def find_session_remains(directory: Path, exists: Callable[[str], bool]) -> SessionRemains:
    """Return the listings and tool calls that replaced indexes have of deleted transcripts."""
    listings: dict[str, StoredListing] = {}
    figures: dict[str, StoredFigures] = {}
    calls: dict[str, StoredCalls] = {}
    for connection, _ in _iter_predecessors(directory):
        try:
            has_notes = connection.table_exists("main", _NOTES_TABLE)
            listings = (load_noted_listings if has_notes else load_listings)(connection) | listings
            figures = (load_noted_figures if has_notes else load_figures)(connection) | figures
            calls = (load_noted_calls if has_notes else load_calls)(connection) | calls
        except _UNREADABLE:
            continue
    deleted = {path for path in listings.keys() | figures.keys() if not exists(path)}
    return SessionRemains(
        [stored for path, stored in listings.items() if path in deleted],
        [
            (stored, calls[path].calls if path in calls else [])
            for path, stored in figures.items()
            if path in deleted
        ],
    )


def _iter_predecessors(directory: Path) -> Iterator[tuple[apsw.Connection, int]]:
    """Open the replaced indexes with their versions, newest first.

    Ends with one that has already carried over what those before it know.
    """
    for path in find_predecessors(directory):
        with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)) as connection:
            try:
                version = int(connection.execute("PRAGMA user_version").get)
                if version < SCHEMA_VERSION:
                    _show_as_current(connection)
                has_carried = bool(read_meta(connection, CARRIED_KEY))
            except _UNREADABLE:
                continue
            if version <= SCHEMA_VERSION:
                yield connection, version
                if has_carried and path.name != DAMAGED_NAME:
                    return


def _iter_deleted(
    connection: apsw.Connection, version: int, exists: Callable[[str], bool]
) -> Iterator[Remains]:
    try:
        names = Names(connection)
        files = load_files(connection, is_trusted=version < SCHEMA_VERSION and load_checksums())
    except _UNREADABLE:
        return
    for path, (number, row) in files.items():
        messages = None if exists(path) else _find_sound(connection, number)
        if messages is not None:
            yield Remains(row, messages, names)


def _find_sound(connection: apsw.Connection, number: int) -> list[StoredMessage] | None:
    try:
        check_messages(connection, [number])
        return select_of_file(connection, number)
    except _UNREADABLE:
        return None


def _show_as_current(connection: apsw.Connection) -> None:
    """Put views with the current columns before the tables of an older version."""
    for table, columns in _find_columns().items():
        known = {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}
        if known:
            shown = ", ".join(
                name if name in known else f"{default} AS {name}"
                for name, default in columns.items()
            )
            connection.execute(f"CREATE TEMP VIEW {table} AS SELECT {shown} FROM main.{table}")


@cache
def _find_columns() -> dict[str, dict[str, str]]:
    """The columns of each table and what a row has there that was written without them."""
    with closing(apsw.Connection(":memory:")) as connection:
        connection.execute(TABLES)
        return {
            table: {
                name: _DEFAULTS[kind] if is_required else "NULL"
                for _, name, kind, is_required, *_ in connection.execute(
                    f"PRAGMA table_info({table})"
                )
            }
            for table in sorted(TABLE_NAMES)
        }
