"""Data about deleted transcripts in replaced indexes, including those before schema 4, which stored
listings, figures and tool calls as msgpack in one table.

These msgpack rows have a kind, a name and a version. Fields were only ever added, so the current
types decode all of them.

Existing transcripts are read again, so only data about deleted ones is carried over. Tables are
read by column name: a column that an older version lacks gets its default, so no version needs its
own migration. This is best effort: inconsistent data is left out.
"""

from collections.abc import Callable, Iterator
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple, TypeVar
from zlib import crc32

import apsw
import msgspec

from recollect.documents.session_listing import CallSummary, FileFigures, SessionListing
from recollect.sources.source import Stamp
from recollect.store import catalog, data_directory, database, ledger_rows, schema, session_table

T = TypeVar("T")

_LISTING: Final = msgspec.msgpack.Decoder(SessionListing | None)
_FIGURES: Final = msgspec.msgpack.Decoder(FileFigures)
_CALLS: Final = msgspec.msgpack.Decoder(list[CallSummary])


def load_msgpack_listings(connection: apsw.Connection) -> dict[str, session_table.StoredListing]:
    """Return the listings in the msgpack table, by path."""
    found = {}
    for path, stamp, noted in _iter_notes(connection, "listing", _LISTING):
        listing = None if noted is None else msgspec.structs.replace(noted, path=path)
        found[path] = session_table.StoredListing(path, stamp, "", "", listing)
    return found


def load_msgpack_figures(connection: apsw.Connection) -> dict[str, session_table.StoredFigures]:
    """Return the figures in the msgpack table, by path."""
    notes = _iter_notes(connection, "figures", _FIGURES)
    return {
        path: session_table.StoredFigures(path, stamp, figures) for path, stamp, figures in notes
    }


def load_msgpack_calls(connection: apsw.Connection) -> dict[str, session_table.StoredCalls]:
    """Return the tool calls in the msgpack table, by path."""
    notes = _iter_notes(connection, "calls", _CALLS)
    return {path: session_table.StoredCalls(path, stamp, calls) for path, stamp, calls in notes}


def _iter_notes(
    connection: apsw.Connection, name: str, decoder: "msgspec.msgpack.Decoder[T]"
) -> Iterator[tuple[str, Stamp, T]]:
    """Iterate over the valid rows of a kind; for each file, the latest comes last."""
    query = "SELECT path, size, mtime_ns, note, crc FROM file_notes WHERE kind GLOB ? ORDER BY kind"
    for path, size, mtime_ns, note, crc in connection.execute(query, (f"{name}/*",)):
        try:
            if crc32(note) == crc:
                yield catalog.decode_path(path), (0, size, mtime_ns), decoder.decode(note)
        except msgspec.MsgspecError:
            continue


_NOTES_TABLE = "file_notes"
_UNREADABLE = (
    *(apsw.Error, schema.DamagedIndex, msgspec.MsgspecError),
    *(LookupError, TypeError, ValueError),
)
"""Exceptions on reading an index whose pages are zeroed, missing or from another table."""
_DEFAULTS = {"INTEGER": "0", "TEXT": "''", "BLOB": "x''", "REAL": "0"}


class DeletedTranscript(msgspec.Struct, frozen=True):
    """The data of an index about one deleted transcript."""

    file: catalog.FileRow
    messages: list[ledger_rows.StoredMessage]
    names: catalog.Names
    """The names that the messages refer to, by number."""


class DeletedListings(NamedTuple):
    """Listings, figures and tool calls of deleted transcripts."""

    listings: list[session_table.StoredListing]
    figures: list[tuple[session_table.StoredFigures, list[CallSummary]]]


def iter_deleted_transcripts(
    directory: Path, exists: Callable[[str], bool]
) -> Iterator[DeletedTranscript]:
    """Iterate over the deleted transcripts in replaced indexes, each once, newest index first."""
    seen: set[str] = set()
    for connection, version in _iter_predecessors(directory):
        for remains in _iter_deleted(connection, version, exists):
            if remains.file.path not in seen:
                seen.add(remains.file.path)
                yield remains


def find_deleted_listings(directory: Path, exists: Callable[[str], bool]) -> DeletedListings:
    """Return the listings and tool calls of deleted transcripts in replaced indexes."""
    listings: dict[str, session_table.StoredListing] = {}
    figures: dict[str, session_table.StoredFigures] = {}
    calls: dict[str, session_table.StoredCalls] = {}
    for connection, _ in _iter_predecessors(directory):
        try:
            has_notes = connection.table_exists("main", _NOTES_TABLE)
            listings = (load_msgpack_listings if has_notes else session_table.load_listings)(
                connection
            ) | listings
            figures = (load_msgpack_figures if has_notes else session_table.load_figures)(
                connection
            ) | figures
            calls = (load_msgpack_calls if has_notes else session_table.load_calls)(
                connection
            ) | calls
        except _UNREADABLE:
            continue
    paths = listings.keys() | figures.keys()
    deleted = {path for path in paths if _is_path(path) and not exists(path)}
    return DeletedListings(
        [stored for path, stored in listings.items() if path in deleted],
        [
            (stored, calls[path].calls if path in calls else [])
            for path, stored in figures.items()
            if path in deleted
        ],
    )


def _is_path(name: object) -> bool:
    """Return whether a value, possibly damaged, is a path."""
    return isinstance(name, str) and "\0" not in name and bool(name)


def _iter_predecessors(directory: Path) -> Iterator[tuple[apsw.Connection, int]]:
    """Open the replaced indexes with their versions, newest first.

    Ends with one that already includes the data of those before it.
    """
    for path in database.find_predecessors(directory):
        with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)) as connection:
            try:
                version = int(connection.execute("PRAGMA user_version").get)
                if version < data_directory.SCHEMA_VERSION:
                    _show_as_current(connection)
                has_carried = bool(schema.read_meta(connection, database.CARRIED_KEY))
            except _UNREADABLE:
                continue
            if version <= data_directory.SCHEMA_VERSION:
                yield connection, version
                if has_carried and path.name != database.DAMAGED_NAME:
                    return


def _iter_deleted(
    connection: apsw.Connection, version: int, exists: Callable[[str], bool]
) -> Iterator[DeletedTranscript]:
    try:
        names = catalog.Names(connection)
        files = catalog.load_files(
            connection,
            is_trusted=version < data_directory.SCHEMA_VERSION and schema.load_checksums(),
        )
    except _UNREADABLE:
        return
    for path, (number, row) in files.items():
        messages = None if exists(path) else _find_sound(connection, number)
        if messages is not None:
            yield DeletedTranscript(row, messages, names)


def _find_sound(connection: apsw.Connection, number: int) -> list[ledger_rows.StoredMessage] | None:
    try:
        ledger_rows.check_messages(connection, [number])
        return ledger_rows.select_of_file(connection, number)
    except _UNREADABLE:
        return None


def _show_as_current(connection: apsw.Connection) -> None:
    """Shadow the tables of an older version with views that have the current columns."""
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
    """The columns of each table, with the defaults for rows written without them."""
    with closing(apsw.Connection(":memory:")) as connection:
        connection.execute(schema.TABLES)
        return {
            table: {
                name: _DEFAULTS[kind] if is_required else "NULL"
                for _, name, kind, is_required, *_ in connection.execute(
                    f"PRAGMA table_info({table})"
                )
            }
            for table in sorted(schema.TABLE_NAMES)
        }
