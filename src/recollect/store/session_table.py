"""The tables `sessions` and `tool_calls`: the listing and the tool calls of each transcript.

A row is valid while its file has the recorded size and time; data that needs the whole file has its
own recorded size and time. Rows of deleted files are kept, so that their sessions can still be
named. Rows have no checksums, because their pages do: where SQLite cannot check pages (see
`schema`), these tables are not used and the files are read each time.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import starmap
from typing import Any, Final, NamedTuple

import apsw
import msgspec

from recollect.documents import session_listing
from recollect.locations.claude_directories import AGENT_PREFIX
from recollect.sources.source import UNTRUSTED, Stamp
from recollect.store import catalog, data_directory, schema


class StoredListing(NamedTuple):
    """A listing, or None for a file without a session, and the state of the file."""

    path: str
    stamp: Stamp
    titles_hash: str
    """Hash of the titles in all files of the project."""
    title_file: str
    """The other file that contains the title; empty if there is none."""
    listing: session_listing.SessionListing | None


class StoredFigures(NamedTuple):
    """The figures of a transcript, and the state of the file."""

    path: str
    stamp: Stamp
    figures: session_listing.FileFigures


class StoredCalls(NamedTuple):
    """The tool calls of a transcript, and the state of the file."""

    path: str
    stamp: Stamp
    calls: list[session_listing.CallSummary]


_PATH, _IS_SUBAGENT, _MODELS = map(
    session_listing.STORED_FIELDS.index, ("path", "is_subagent", "models")
)
_COUNTED: Final = {
    "models": "all_models, models",
    "message_count": "all_messages, message_count",
    **{name: f"{name}, NULL" for name in session_listing.STORED_FIELDS[_MODELS + 2 :]},
}
"""SQL for a field: the column if the whole file was counted, and the one if not."""
_SUMMARY: Final = session_listing.FileFigures.__struct_fields__.index("summary") - 1
"""The index of the summary among the figures after the models."""
_COLUMNS: Final = {"id": "session_id"}
"""Columns with names other than their fields: `id` is the row number, as in other tables."""
_LISTED: Final = [
    _COLUMNS.get(name, name)
    for name in session_listing.STORED_FIELDS[:_MODELS]
    if name not in ("path", "size")
]
_IS_COUNTED: Final = "counted_mtime_ns = mtime_ns AND counted_size = size AND counted_inode = inode"


def _select_field(name: str) -> str:
    if name in _COUNTED:
        return f"iif({_IS_COUNTED}, {_COUNTED[name]})"
    return _COLUMNS.get(name, name)


_SELECT_LISTINGS: Final = (
    "SELECT inode, mtime_ns, titles_hash, title_file, "
    f"{', '.join(map(_select_field, session_listing.STORED_FIELDS))} "
    "FROM sessions WHERE titles_hash IS NOT NULL"
)
_SELECT_FIGURES: Final = (
    "SELECT path, counted_inode, counted_size, counted_mtime_ns, all_models, turn_count, "
    "all_messages, error_count, compaction_count, compaction_summary, copied_tokens, "
    "client_cost_usd, trace, turn_starts FROM sessions WHERE all_models IS NOT NULL"
)
_SELECT_COUNTED: Final = (
    "SELECT id, path, counted_inode, counted_size, counted_mtime_ns FROM sessions "
    "WHERE all_models IS NOT NULL"
)
_SELECT_CALLS: Final = (
    "SELECT call_id, tool, status, started, duration_ms FROM tool_calls {} ORDER BY session, number"
)
_COUNT_CALLS: Final = "SELECT session, count(*) FROM tool_calls {} GROUP BY 1 ORDER BY 1"
_AMONG: Final = " AND path IN (SELECT value FROM json_each(?))"


def _make_upsert(columns: Sequence[str]) -> str:
    return (
        f"INSERT INTO sessions (path, {', '.join(columns)}) "
        f"VALUES (?, {', '.join('?' * len(columns))}) ON CONFLICT (path) DO UPDATE SET "
        + ", ".join(f"{name} = excluded.{name}" for name in columns)
    )


_SAVE_LISTING: Final = _make_upsert(
    [
        *("inode", "size", "mtime_ns", "titles_hash", "title_file"),
        *(*_LISTED, "models", "message_count"),
    ]
)
_SAVE_FIGURES: Final = _make_upsert(
    [
        *("counted_inode", "counted_size", "counted_mtime_ns", "all_models", "turn_count"),
        *("all_messages", "error_count", "compaction_count", "compaction_summary"),
        *("copied_tokens", "client_cost_usd", "trace", "turn_starts"),
    ]
)

_encode: Final = msgspec.json.Encoder().encode
_decode_starts: Final = msgspec.msgpack.Decoder(tuple[int, ...]).decode
_decode_models: Final = lru_cache(maxsize=1024)(msgspec.json.Decoder(tuple[str, ...]).decode)


def load_listings(
    connection: apsw.Connection, paths: Iterable[str] | None = None
) -> dict[str, StoredListing]:
    """Return the listings of all files, or of those in `paths`, by path."""
    found: dict[str, StoredListing] = {}
    is_outdated = _is_outdated(connection)
    rows = _select(connection, _SELECT_LISTINGS, paths)
    for inode, mtime_ns, titles_hash, title_file, *values in rows:
        path = values[_PATH]
        if path[:1] == catalog.ODD:
            path = values[_PATH] = catalog.decode_path(path)
        stamp = (inode, values[_PATH + 1], UNTRUSTED if is_outdated else mtime_ns)
        listing = None
        if values[0] is not None:
            values[_MODELS] = _decode_models(values[_MODELS])
            values[_IS_SUBAGENT] = values[_IS_SUBAGENT] == 1
            if values[_IS_SUBAGENT] and values[0].startswith(AGENT_PREFIX):
                values.append(values[0].removeprefix(AGENT_PREFIX))
            listing = session_listing.SessionListing(*values)
        if title_file:
            title_file = catalog.decode_path(title_file)  # noqa: PLW2901 - few have one
        found[path] = StoredListing(path, stamp, titles_hash, title_file, listing)
    return found


def load_figures(
    connection: apsw.Connection, paths: Iterable[str] | None = None
) -> dict[str, StoredFigures]:
    """Return the figures of all files that were read whole, or of those in `paths`, by path."""
    is_outdated = _is_outdated(connection)
    found: dict[str, StoredFigures] = {}
    for name, inode, size, mtime_ns, models, *counts in _select(connection, _SELECT_FIGURES, paths):
        path = catalog.decode_path(name)
        stamp = (inode, size, UNTRUSTED if is_outdated else mtime_ns)
        counts[_SUMMARY] = counts[_SUMMARY] or ""
        counts[-1] = _decode_starts(counts[-1]) if counts[-1] else ()
        found[path] = StoredFigures(
            path, stamp, session_listing.FileFigures(_decode_models(models), *counts)
        )
    return found


def load_calls(
    connection: apsw.Connection, paths: Iterable[str] | None = None
) -> dict[str, StoredCalls]:
    """Return the tool calls of files that were read whole, all or those in `paths`, by path."""
    is_outdated = _is_outdated(connection)
    found = {
        number: StoredCalls(
            catalog.decode_path(path), (inode, size, UNTRUSTED if is_outdated else mtime_ns), []
        )
        for number, path, inode, size, mtime_ns in _select(connection, _SELECT_COUNTED, paths)
    }
    if not found:
        return {}
    condition = "" if paths is None else "WHERE session IN (SELECT value FROM json_each(?))"
    values = () if paths is None else (_encode(list(found)).decode(),)
    # There may be tens of thousands: encoded without a Python step for each, then split.
    rows: list[Any] = connection.execute(_SELECT_CALLS.format(condition), values).fetchall()
    calls = list(starmap(session_listing.CallSummary, rows))
    start = 0
    for session, count in connection.execute(_COUNT_CALLS.format(condition), values):
        found[session].calls.extend(calls[start : start + count])
        start += count
    return {stored.path: stored for stored in found.values()}


def save_listings(connection: apsw.Connection, listings: Iterable[StoredListing]) -> None:
    """Write listings, replacing those of the same files; within a transaction of the caller."""
    _forget_outdated(connection)
    connection.executemany(_SAVE_LISTING, map(_to_row, listings))


def save_figures(
    connection: apsw.Connection,
    figures: Iterable[tuple[StoredFigures, Iterable[session_listing.CallSummary]]],
) -> None:
    """Write figures and calls, replacing those of the same files; within a transaction too."""
    _forget_outdated(connection)
    for (path, stamp, found), calls in figures:
        name = catalog.encode_path(path)
        models, *counts = msgspec.structs.astuple(found)
        counts[_SUMMARY] = counts[_SUMMARY] or None
        counts[-1] = msgspec.msgpack.encode(counts[-1])
        values = (name, *stamp, _encode(models).decode(), *counts)
        connection.execute(_SAVE_FIGURES, values)
        session = connection.execute("SELECT id FROM sessions WHERE path = ?", (name,)).get
        connection.execute("DELETE FROM tool_calls WHERE session = ?", (session,))
        connection.executemany(
            "INSERT INTO tool_calls VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                (session, number, *msgspec.structs.astuple(call))
                for number, call in enumerate(calls)
            ),
        )


def find_titles(
    connection: apsw.Connection, paths: Iterable[str]
) -> dict[str, tuple[Stamp, str | None]]:
    """Return the titles of these files as last listed, with the stamps of the files, by path."""
    query = "SELECT path, inode, size, mtime_ns, title FROM sessions WHERE titles_hash IS NOT NULL"
    is_outdated = _is_outdated(connection)
    return {
        catalog.decode_path(path): ((inode, size, UNTRUSTED if is_outdated else mtime_ns), title)
        for path, inode, size, mtime_ns, title in _select(connection, query, paths)
    }


def _select(
    connection: apsw.Connection, query: str, paths: Iterable[str] | None
) -> Iterable[tuple[Any, ...]]:
    if not schema.load_checksums():
        return ()
    if paths is None:
        return connection.execute(query)
    return connection.execute(query + _AMONG, (catalog.encode_paths(paths),))


def _to_row(stored: StoredListing) -> tuple[object, ...]:
    path, stamp, titles_hash, title_file, listing = stored
    head = (catalog.encode_path(path), *stamp, titles_hash, catalog.encode_path(title_file))
    if listing is None:
        return (*head, *(None for _ in _LISTED), None, None)
    values = msgspec.structs.astuple(listing)
    models = _encode(listing.models).decode()
    return (
        *head,
        *values[:_PATH],
        *values[_PATH + 2 : _MODELS],
        models,
        listing.message_count,
    )


def _name_version() -> str:
    return data_directory.name_version(data_directory.LISTING_VERSION)


def _is_outdated(connection: apsw.Connection) -> bool:
    return schema.read_meta(connection, schema.LISTINGS_KEY) != _name_version()


def _forget_outdated(connection: apsw.Connection) -> None:
    """Mark all files to be read again if another version wrote the rows; no row is deleted."""
    if _is_outdated(connection):
        query = "UPDATE sessions SET mtime_ns = :time, counted_mtime_ns = :time"
        connection.execute(query, {"time": UNTRUSTED})
        schema.write_meta(connection, schema.LISTINGS_KEY, _name_version())
