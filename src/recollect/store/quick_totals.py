"""Quick totals: the few figures of a status line, as fast as possible.

A status line is requested several times a second and must never wait, so this opens the index
without the checks of other queries, imports nothing but SQLite, and returns None instead of
raising. It changes nothing, not even the index's log.
"""

import os
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import quote

import apsw

from recollect.sources.source import UNTRUSTED, Stamp
from recollect.store.data_directory import DATA_VERSION, INDEX_NAME, SCHEMA_VERSION, name_version

PATIENCE_MS: Final = 50
"""How long to wait for another process's lock, which only occurs on network drives."""

_VERSIONS = "SELECT value FROM meta WHERE key IN ('schema', 'data') ORDER BY key"
# `substr` and not LIKE, because a path may contain LIKE's wildcards.
_IN_PLACE = """
substr(path, 1, length(:place)) = :place OR substr(path, 1, length(:real_place)) = :real_place
"""
_ARE_ALL = f"SELECT NOT EXISTS (SELECT 1 FROM files WHERE NOT ({_IN_PLACE}))"
_SOME = f"""
SELECT hour, sum(cost), sum(unpriced) FROM hours
WHERE hour >= :since AND file_id IN (SELECT id FROM files WHERE {_IN_PLACE}) GROUP BY hour
"""
_ALL = "SELECT hour, sum(cost), sum(unpriced) FROM sums WHERE hour >= :since GROUP BY hour"
_SESSION = """
SELECT sum(cost), sum(unpriced) FROM hours
WHERE file_id IN (SELECT id FROM files WHERE session_id = :session) HAVING count(*)
"""
_STAMP = f"""
SELECT inode, size, iif(is_racy, {UNTRUSTED}, mtime_ns) FROM files
WHERE path = :path AND is_gone = 0
"""


class TotalsSum(NamedTuple):
    """Micro-dollars, and the number of messages without a known price."""

    cost: int
    unpriced: int


class TotalsQuery(NamedTuple):
    """A query by the status line."""

    since: int
    """Hours since 1970."""
    place: str = ""
    """Prefix of the paths of the transcripts, as given."""
    real_place: str = ""
    """The same prefix with links resolved."""
    session_id: str = ""
    transcript: str = ""


class QuickTotals(NamedTuple):
    """Totals as of the last update of the index."""

    hours: dict[int, TotalsSum]
    """Counted totals, by hours since 1970."""
    session: TotalsSum | None
    stamp: Stamp | None
    """The transcript as it was listed when it was read, to compare by `is_same`."""


def read_quick_totals(directory: Path, query: TotalsQuery) -> QuickTotals | None:
    """Return totals from the index in `directory`; None unless it can be read immediately."""
    path = os.fspath(directory / INDEX_NAME)
    try:
        connection = _open(path)
        try:
            return _ask(connection, query)
        finally:
            connection.close()
    except (apsw.Error, UnicodeError, OSError, ValueError, TypeError):
        return None


def _open(path: str) -> apsw.Connection:
    try:
        return _prepare(apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE))
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        # With a log, SQLite needs files that it cannot create on a read-only medium.
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        return _prepare(apsw.Connection(f"file:{quote(path)}?immutable=1", flags=flags))


def _prepare(connection: apsw.Connection) -> apsw.Connection:
    connection.set_busy_timeout(PATIENCE_MS)
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    connection.execute("PRAGMA query_only = ON; PRAGMA trusted_schema = OFF; BEGIN")
    return connection


def _ask(connection: apsw.Connection, query: TotalsQuery) -> QuickTotals | None:
    if connection.execute(_VERSIONS).get != [name_version(DATA_VERSION), str(SCHEMA_VERSION)]:
        return None
    values = query._asdict()
    # If the index has one Claude directory only, as usual, the overall sums can be used.
    are_all = connection.execute(_ARE_ALL, values).get
    rows = connection.execute(_ALL if are_all else _SOME, values)
    # A damaged hour may be a text, which SQLite sorts after every number.
    hours = {row[0]: TotalsSum(*row[1:]) for row in rows if isinstance(row[0], int)}
    session = connection.execute(_SESSION, {"session": query.session_id}).fetchone()
    stamp = connection.execute(_STAMP, {"path": query.transcript}).fetchone()
    return QuickTotals(hours, TotalsSum(*session) if session else None, stamp)
