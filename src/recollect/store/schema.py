"""The tables of the index, the two versions that decide whether it can be used, SQLite's errors,
and page checksums.

A damaged index is set aside and rebuilt, invisibly to callers. Any other error is reported to the
user, because another attempt would fail too. With checksums, a flipped bit causes an error rather
than a wrong result. They come from SQLite's checksum VFS, a separate file in apsw; without it the
index works, but only the sums and checksums within its rows are checked.

`SCHEMA_VERSION` changes with the tables, `DATA_VERSION` with the stored data. An index with older
data is updated file by file, and keeps the data of deleted files; one with older tables is emptied
first. A newer one is left alone: the program that created it may be in use.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from zlib import crc32

import apsw

from recollect import __version__
from recollect.errors import IndexFailure
from recollect.records.token_usage import CLASSES
from recollect.store.data_directory import (
    DATA_VERSION,
    LISTING_VERSION,
    SCHEMA_VERSION,
    VARIABLE,
    name_version,
)

_DAMAGED = (apsw.CorruptError, apsw.NotADBError, apsw.FormatError)
_FORBIDDEN = (apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError, apsw.AuthError)
_IN_USE = (apsw.BusyError, apsw.LockedError)


_OF_CONTENT = (apsw.SQLITE_IOERR_SHORT_READ, apsw.SQLITE_IOERR_DATA)
"""Read errors that are not from the disk: a truncated page, or a wrong checksum."""


class DamagedIndex(IndexFailure):
    """The index is inconsistent, or contains invalid data."""


class NewerIndex(IndexFailure):
    """The index was created by a newer version: it is intact, and must not be read or replaced."""


class ReplacedIndex(IndexFailure):
    """Another process deleted the index, or built it again, while it was in use here."""


@contextmanager
def translate_errors(path: Path, rebuild: str = "recollect index --rebuild") -> Iterator[None]:
    """Raise `IndexFailure` with advice for SQLite's errors about the index at `path`.

    `rebuild` is the command that rebuilds it.
    """
    try:
        yield
    except UnicodeDecodeError as error:
        # Only valid text is ever written, so invalid bytes are damage.
        raise _describe_damage(path, error, rebuild) from error
    except apsw.Error as error:
        if is_damage(error):
            raise _describe_damage(path, error, rebuild) from error
        if isinstance(error, apsw.SQLError):
            # Our own statement is wrong: a bug, which the user cannot fix.
            raise
        raise IndexFailure(f"{_describe(error, path)} {_REMEDY}") from error


_REMEDY = f"Free some space or fix the permissions, or set {VARIABLE} to another directory."


def _describe_damage(path: Path, error: Exception, rebuild: str) -> DamagedIndex:
    return DamagedIndex(f"The index {path} is damaged ({error}). Run `{rebuild}`.")


def is_damage(error: apsw.Error) -> bool:
    """Return whether an error is about the content of the file, not about its environment."""
    if isinstance(error, apsw.IOError):
        return getattr(error, "extendedresult", None) in _OF_CONTENT
    return isinstance(error, _DAMAGED)


def _describe(error: apsw.Error, path: Path) -> str:
    if isinstance(error, apsw.FullError):
        return f"The disk is full: the index {path} cannot grow."
    if isinstance(error, _FORBIDDEN):
        return f"The index {path} cannot be opened or written ({error})."
    if isinstance(error, _IN_USE):
        return f"The index {path} is in use by another program ({error})."
    return f"The index {path} cannot be used ({error})."


RESERVED_BYTES = 8
"""Bytes at the end of each page that the VFS needs; it recognises its files by them."""


@cache
def load_checksums() -> bool:
    """Verify page checksums on all connections of this process; return whether that is possible."""
    # Not with `apsw.sqlite_extra`, whose imports take longer than a warm query.
    extension = Path(apsw.__file__).parent / "sqlite_extra_binaries" / "cksumvfs"
    connection = apsw.Connection(":memory:")
    try:
        connection.enable_load_extension(True)
        connection.load_extension(str(extension))
    except apsw.Error:
        return False
    finally:
        connection.close()
    return True


def reserve_checksums(connection: apsw.Connection) -> None:
    """Enable page checksums for an index that is still empty."""
    if load_checksums():
        connection.reserve_bytes(reserve=RESERVED_BYTES)


def check_reserve(connection: apsw.Connection) -> None:
    """Raise `DamagedIndex` if the pages lack checksums although the VFS is available."""
    if load_checksums() and connection.reserve_bytes() != RESERVED_BYTES:
        raise DamagedIndex("The index has no checksums on its pages.")


NO_HOUR = -(2**40)
NO_MODEL = 0
"""The value of unknown keys in `sums`, which cannot be NULL."""

FIGURES = (*CLASSES, "messages", "cost", "unpriced", "relayed", "client_priced")
"""The figures that are summed: `cost` covers messages with a known price, `unpriced` counts the
rest.

The last two count messages that are known only from progress records, and those without tokens,
whose cost was recorded by the client.
"""

_CLASSES = ",\n    ".join(f"{name} INTEGER NOT NULL" for name in CLASSES)
_FIGURES = ",\n    ".join(f"{name} INTEGER NOT NULL" for name in FIGURES)

TABLES = f"""
CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

-- One row per transcript. `position` is where reading resumes, always the start of a line. `crc` is
-- the checksum of the text columns, in which damage could not be detected otherwise.
CREATE TABLE files (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    project TEXT NOT NULL,
    kind TEXT NOT NULL,
    session_id TEXT NOT NULL,
    agent_id TEXT,
    agent_type TEXT,
    began INTEGER,
    device INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    position INTEGER NOT NULL,
    head_hash BLOB NOT NULL,
    tail_hash BLOB NOT NULL,
    is_racy INTEGER NOT NULL,
    is_gone INTEGER NOT NULL,
    crc INTEGER NOT NULL
);

-- Offset and length of the lines of a transcript that may name its session, as pairs of 64-bit
-- integers: a list reads these instead of searching the file. Without a row they are not known.
CREATE TABLE naming_lines (
    file_id INTEGER PRIMARY KEY,
    spans BLOB NOT NULL
);

-- Strings that thousands of messages share, stored once.
CREATE TABLE names (
    id INTEGER PRIMARY KEY,
    text TEXT NOT NULL UNIQUE,
    crc INTEGER NOT NULL
);

-- One row per message and file, which merges its lines there. Copies of a message in other files
-- have rows of their own. `late_5m` and `late_1h` are cache writes that are only in the split by
-- lifetime. `usage` is JSON, stored only if tokens and terms do not determine the cost.
-- `client_cost` is the cost that an old client recorded. `is_relayed` marks messages of subagents
-- that are only in progress records.
CREATE TABLE messages (
    id INTEGER PRIMARY KEY,
    file_id INTEGER NOT NULL,
    {_CLASSES},
    late_5m INTEGER NOT NULL,
    late_1h INTEGER NOT NULL,
    usage BLOB,
    cost INTEGER,
    client_cost INTEGER,
    time INTEGER,
    is_sidechain INTEGER NOT NULL,
    is_copy INTEGER NOT NULL,
    is_relayed INTEGER NOT NULL,
    position INTEGER NOT NULL,
    message_id TEXT NOT NULL,
    request_id TEXT,
    model INTEGER,
    branch INTEGER,
    version INTEGER,
    entrypoint INTEGER,
    cwd INTEGER,
    tools INTEGER,
    terms INTEGER,
    counted INTEGER NOT NULL
);
CREATE INDEX messages_by_key ON messages (message_id);
CREATE INDEX messages_by_file ON messages (file_id);

-- Counted messages whose figures come from a copy in another file, because it has larger figures or
-- an earlier time.
CREATE TABLE corrections (
    message INTEGER PRIMARY KEY,
    {_CLASSES},
    cost INTEGER,
    time INTEGER,
    tools INTEGER
);

-- Totals of counted messages, by hour, file and context, so that reports are fast.
CREATE TABLE hours (
    file_id INTEGER NOT NULL,
    hour INTEGER,
    model INTEGER,
    branch INTEGER,
    version INTEGER,
    entrypoint INTEGER,
    cwd INTEGER,
    tools INTEGER,
    {_FIGURES}
);
CREATE INDEX hours_by_file ON hours (file_id);

-- The same by hour and model, over all files: enough for reports by time, and the number of rows
-- does not grow with the number of files.
CREATE TABLE sums (
    hour INTEGER NOT NULL,
    model INTEGER NOT NULL,
    {_FIGURES},
    PRIMARY KEY (hour, model)
) WITHOUT ROWID;

-- Why a file could not be read; deleted when it has been read.
CREATE TABLE problems (
    path TEXT PRIMARY KEY,
    reason TEXT NOT NULL
) WITHOUT ROWID;

-- One row per transcript that was listed or whose tool calls were counted, including deleted ones.
-- `inode`, `size` and `mtime_ns` are those of the file when it was listed, and with `counted_` when
-- it was read completely, as needed for the columns from `all_models` on. A time of -1 means that
-- the file must be read again, and any other negative time that only its ends were searched for a
-- title. `session_id` is NULL for a file without a session. `titles_hash` is a hash of the titles
-- in all files of the project, `title_file` the other file that contains the title. `models` and
-- `all_models` are JSON arrays; `models` has only the models in the head and the tail.
CREATE TABLE sessions (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    inode INTEGER,
    size INTEGER,
    mtime_ns INTEGER,
    titles_hash TEXT,
    title_file TEXT,
    session_id TEXT,
    project TEXT,
    modified REAL,
    activity REAL,
    created TEXT,
    last_active TEXT,
    cwd TEXT,
    title TEXT,
    first_prompt TEXT,
    first_prompt_time TEXT,
    git_branch TEXT,
    version TEXT,
    tag TEXT,
    is_subagent INTEGER,
    parent_id TEXT,
    forked_from TEXT,
    continued_in TEXT,
    first_reply_id TEXT,
    models TEXT,
    message_count INTEGER,
    counted_inode INTEGER,
    counted_size INTEGER,
    counted_mtime_ns INTEGER,
    all_models TEXT,
    all_messages INTEGER,
    turn_count INTEGER,
    error_count INTEGER,
    compaction_count INTEGER,
    compaction_summary TEXT,
    copied_tokens INTEGER,
    client_cost_usd REAL,
    trace TEXT,
    turn_starts BLOB
);

-- The tool calls of each transcript that was read completely, in their order. A copy of a call in
-- another file has the same `call_id`. `started` is in seconds since 1970.
CREATE TABLE tool_calls (
    session INTEGER NOT NULL,
    number INTEGER NOT NULL,
    call_id TEXT NOT NULL,
    tool TEXT NOT NULL,
    status TEXT NOT NULL,
    started REAL,
    duration_ms REAL,
    PRIMARY KEY (session, number)
) WITHOUT ROWID;
"""

LISTINGS_KEY = "listings"
"""The key in `meta` of the version of `sessions` and `tool_calls`."""

TABLE_NAMES = frozenset(
    "meta files naming_lines names messages corrections hours sums problems sessions "
    "tool_calls".split()
)


def read_meta(connection: apsw.Connection, key: str) -> str | None:
    """Return the value of `key` in `meta`."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return str(row[0]) if row else None


def write_meta(connection: apsw.Connection, key: str, value: str) -> None:
    """Store `value` under `key` in `meta`."""
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))


NEWER_NAME = "index.newer.db"
"""File name of a newer version's index that was set aside."""


def make_tables(connection: apsw.Connection) -> None:
    """Create all tables, and record the version that created them."""
    connection.execute(TABLES)
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    write_meta(connection, "schema", str(SCHEMA_VERSION))
    write_meta(connection, "data", name_version(DATA_VERSION))
    write_meta(connection, LISTINGS_KEY, name_version(LISTING_VERSION))
    write_meta(connection, "program", __version__)
    write_meta(connection, "tables", sum_tables(connection))


def drop_everything(connection: apsw.Connection) -> None:
    """Drop all tables."""
    connection.config(apsw.SQLITE_DBCONFIG_RESET_DATABASE, 1)
    reserve_checksums(connection)
    connection.execute("VACUUM")
    connection.config(apsw.SQLITE_DBCONFIG_RESET_DATABASE, 0)


def has_tables(connection: apsw.Connection) -> bool:
    """Whether there is any table."""
    return bool(connection.execute("SELECT count(*) FROM sqlite_schema").get)


def is_current(connection: apsw.Connection, path: Path) -> bool:
    """Whether the tables are of the current version, rather than an older one.

    Raises `NewerIndex` when a newer one made them.
    """
    version = int(connection.execute("PRAGMA user_version").get)
    try:
        kept, program = (read_meta(connection, key) for key in ("schema", "program"))
    except apsw.SQLError as error:
        raise DamagedIndex(f"The index {path} has unexpected tables.") from error
    if kept != str(version):
        raise DamagedIndex(f"The index {path} has contradictory version numbers.")
    if version > SCHEMA_VERSION:
        maker = f"Recollect {program}" if program else "a newer version of Recollect"
        raise NewerIndex(
            f"The index {path} was created by {maker} (schema {version}), and this is Recollect "
            f"{__version__} (schema {SCHEMA_VERSION}). Use that version; or start over with "
            f"`recollect index --rebuild`, which moves that index to {NEWER_NAME}; or set "
            f"{VARIABLE} to another directory."
        )
    return version == SCHEMA_VERSION


def sum_tables(connection: apsw.Connection) -> str:
    """Return a checksum of the table definitions; other modules may add their own tables."""
    rows = connection.execute("SELECT tbl_name, sql FROM sqlite_schema ORDER BY name").fetchall()
    return str(crc32(repr([row for row in rows if row[0] in TABLE_NAMES]).encode()))
