"""Open the index, for reading at any time, for writing in one process at a time; and report its
status: path, size, contents and integrity.

SQLite is apsw's own, the only one in the process. WAL lets readers continue while another process
writes. A damaged index is set aside and rebuilt; one with the tables of an older version is copied
before its tables are dropped, in place, so that readers are not disturbed. Their data about deleted
transcripts is carried over by `replaced_indexes`. Each page has a checksum, so a query fails rather
than return wrong results.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import NamedTuple, TypeVar

import apsw
from msgspec import Struct

from recollect.errors import IndexFailure
from recollect.store import data_directory, schema
from recollect.store.catalog import Names, load_files, load_problems

_BUSY_MS = 5_000
_CACHE_KB = 64 * 1024
_PAGE_BYTES = 8192
_LOG_PAGES = 4000
"""Maximum length of the log before it is merged: a first sync writes most pages several times."""

DAMAGED_NAME = "index.damaged.db"
_OLDER_NAMES = "index.older*.db"

CARRIED_KEY = "carried"
"""Set in `meta` once the data about deleted transcripts in replaced indexes has been carried
over."""

T = TypeVar("T")
Connection = apsw.Connection
"""The index, opaque to the layers above: only this package queries it."""


class Access(NamedTuple):
    """The index, open for writing."""

    connection: apsw.Connection
    lock: data_directory.Lock
    directory: Path


def open_for_reading(directory: Path, *, accept_old_data: bool = False) -> apsw.Connection | None:
    """Return the index in `directory`, or None if there is none that this program can read.

    `accept_old_data` is for tables that have their own version. Raises `NewerIndex` for an index
    made by a newer program.
    """
    path = directory / data_directory.INDEX_NAME
    if not path.is_file():
        return None
    for connect in (_connect, _connect_immutable):
        try:
            return _check_for_reading(connect(path), path, accept_old_data=accept_old_data)
        except (apsw.CantOpenError, apsw.ReadOnlyError):
            # With a WAL, SQLite needs files that it cannot create on a read-only medium.
            continue
        except (apsw.Error, UnicodeDecodeError, schema.DamagedIndex):
            return None
    return None


def run_query(
    directory: Path, query: Callable[[apsw.Connection], T], *, accept_old_data: bool = False
) -> T | None:
    """Return the result of a query on the index in `directory`; None if it cannot be read.

    Read in one transaction: concurrent writes are not seen. Raises `DamagedIndex` if it turns out
    to be damaged, and what `open_for_reading` raises.
    """
    connection = open_for_reading(directory, accept_old_data=accept_old_data)
    if connection is None:
        return None
    path = directory / data_directory.INDEX_NAME
    with schema.translate_errors(path), closing(connection), snapshot(connection):
        return query(connection)


def load(directory: Path, query: Callable[[apsw.Connection], T]) -> T | None:
    """Return rows of tables that have their own version; None if they cannot be read."""
    try:
        return run_query(directory, query, accept_old_data=True)
    except schema.DamagedIndex:
        # The next writer will set it aside.
        return None


def save(directory: Path, work: Callable[[apsw.Connection], None]) -> None:
    """Add rows to such tables in one transaction, if the index can be written."""
    try:
        with open_for_writing(directory) as connection, transaction(connection):
            work(connection)
    except IndexFailure:
        return


def refuse_newer(directory: Path) -> None:
    """Raise `NewerIndex` if a newer program made the index in `directory`."""
    connection = open_for_reading(directory)
    if connection is not None:
        connection.close()


def update(directory: Path, work: Callable[[Access], T], *, replaces_newer: bool = False) -> T:
    """Return the result of `work` on the index in `directory`, while no other process writes it.

    The index is created if necessary. If it turns out to be damaged, it is set aside and `work`
    starts again with an empty one; so is that of a newer program if it may be replaced. Raises
    `IndexFailure` if it cannot be written.
    """
    data_directory.make_private_directory(directory)
    path = directory / data_directory.INDEX_NAME
    with data_directory.hold_lock(directory) as lock:
        try:
            return _run(path, lock, work)
        except schema.DamagedIndex:
            set_aside(path)
        except schema.NewerIndex:
            if not replaces_newer:
                raise
            set_aside(path, schema.NEWER_NAME)
        return _run(path, lock, work)


@contextmanager
def open_for_writing(directory: Path) -> Iterator[apsw.Connection]:
    """Open the index in `directory`, created if necessary, while no other process writes it.

    For small additions outside the catalog, which do not depend on other tables.
    """
    data_directory.make_private_directory(directory)
    path = directory / data_directory.INDEX_NAME
    with (
        data_directory.hold_lock(directory),
        schema.translate_errors(path),
        closing(_open_sound(path)) as connection,
    ):
        yield connection


def _run(path: Path, lock: data_directory.Lock, work: Callable[[Access], T]) -> T:
    with schema.translate_errors(path), closing(_open_for_writing(path)) as connection:
        return work(Access(connection, lock, path.parent))


def _open_sound(path: Path) -> apsw.Connection:
    try:
        with schema.translate_errors(path):
            return _open_for_writing(path)
    except schema.DamagedIndex:
        set_aside(path)
    return _open_for_writing(path)


def set_aside_if_damaged(directory: Path) -> bool:
    """Check the whole index, set it aside if it is damaged, and return whether it was."""
    path = directory / data_directory.INDEX_NAME
    with data_directory.hold_lock(directory) as lock:
        try:
            _run(path, lock, lambda access: check_everything(access.connection))
        except schema.DamagedIndex:
            set_aside(path)
            return True
    return False


def set_aside(path: Path, name: str = DAMAGED_NAME) -> None:
    """Rename the index at `path`, replacing an earlier one of that name."""
    target = path.with_name(name)
    try:
        # Its log first: an index without its log is an older state, while a log without an index is
        # useless.
        for suffix in ("-wal", "-shm", ""):
            target.with_name(target.name + suffix).unlink(missing_ok=True)
            if path.with_name(path.name + suffix).exists():
                path.with_name(path.name + suffix).rename(target.with_name(target.name + suffix))
    except OSError as error:
        raise IndexFailure(
            f"The index {path} can be neither used nor moved away: {error.strerror}. "
            "Stop all other Recollect processes and delete it; it will be rebuilt."
        ) from error


def copy_aside(connection: apsw.Connection, path: Path) -> None:
    """Copy the index of an older version before its tables are dropped.

    Reads every page, so that damage raises before anything is lost. Earlier copies are kept until
    their rows have been carried over into this index.
    """
    if schema.read_meta(connection, CARRIED_KEY):
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
    paths = [directory / DAMAGED_NAME, directory / schema.NEWER_NAME, *directory.glob(_OLDER_NAMES)]
    found = [path for path in paths if path.is_file()]
    return sorted(found, key=lambda path: path.stat().st_mtime_ns, reverse=True)


@contextmanager
def transaction(connection: apsw.Connection) -> Iterator[None]:
    """Commit all writes in the block, or none."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    finally:
        # A full disk may have ended it already.
        if connection.in_transaction:
            connection.execute("ROLLBACK")


@contextmanager
def snapshot(connection: apsw.Connection) -> Iterator[None]:
    """Read in one transaction: concurrent writes are not seen."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        # A read error may have ended it already.
        if connection.in_transaction:
            connection.execute("COMMIT")


def check_everything(connection: apsw.Connection) -> None:
    """Raise `DamagedIndex` if the index is inconsistent."""
    from recollect.store.ledger_rows import check_hours, check_messages, check_sums

    found = connection.execute("PRAGMA integrity_check(1)").fetchall()
    if found != [("ok",)]:
        raise schema.DamagedIndex(f"The index is damaged: {found[0][0]}.")
    _check(connection)
    _ = load_files(connection), Names(connection)
    check_hours(connection)
    check_messages(connection)
    check_sums(connection)


def _connect(path: Path) -> apsw.Connection:
    schema.load_checksums()
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    except UnicodeEncodeError as error:
        raise IndexFailure(
            f"SQLite cannot open {path}: its name is not valid UTF-8. "
            f"Set {data_directory.VARIABLE} to a directory whose name is."
        ) from error
    connection.set_busy_timeout(_BUSY_MS)
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    # Otherwise a statement is recompiled for each bound value.
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    connection.execute("PRAGMA trusted_schema = OFF")
    return connection


def _connect_immutable(path: Path) -> apsw.Connection:
    from urllib.parse import quote  # hardly ever needed

    schema.load_checksums()
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    return apsw.Connection(f"file:{quote(str(path))}?immutable=1", flags=flags)


def _check_for_reading(
    connection: apsw.Connection, path: Path, *, accept_old_data: bool
) -> apsw.Connection | None:
    is_usable = False
    try:
        # Only writers merge the log into the index.
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        connection.execute("PRAGMA query_only = ON")
        is_usable = schema.has_tables(connection) and schema.is_current(connection, path)
        if is_usable:
            _check(connection)
            is_usable = accept_old_data or schema.read_meta(
                connection, "data"
            ) == data_directory.name_version(data_directory.DATA_VERSION)
    finally:
        if not is_usable:
            connection.close()
    return connection if is_usable else None


def _open_for_writing(path: Path) -> apsw.Connection:
    if not path.exists():
        # Created by us, because SQLite would let others read it. Its log gets the same permissions.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    with ExitStack() as stack:
        connection = stack.enter_context(closing(_connect(path)))
        connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
        if not path.stat().st_size:
            schema.reserve_checksums(connection)
        mode = "DELETE" if data_directory.is_on_network(path) else "WAL"
        connection.execute(f"PRAGMA journal_mode = {mode}")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(f"PRAGMA cache_size = -{_CACHE_KB}")
        connection.execute(f"PRAGMA wal_autocheckpoint = {_LOG_PAGES}")
        if schema.has_tables(connection) and not schema.is_current(connection, path):
            copy_aside(connection, path)
            schema.drop_everything(connection)
        if not schema.has_tables(connection):
            with transaction(connection):
                schema.make_tables(connection)
        _check(connection)
        stack.pop_all()
    return connection


def _check(connection: apsw.Connection) -> None:
    """Raise `DamagedIndex` if the data that every query relies on is damaged."""
    check_length(connection)
    schema.check_reserve(connection)
    if schema.read_meta(connection, "tables") != schema.sum_tables(connection):
        raise schema.DamagedIndex("The tables of the index have been altered.")
    if not schema.load_checksums():
        from recollect.store.ledger_rows import check_hours  # lists do without it

        check_hours(connection)
    connection.execute("SELECT message_id FROM messages ORDER BY id DESC LIMIT 1").fetchall()


def check_length(connection: apsw.Connection) -> None:
    """Raise `DamagedIndex` if the file ends within a page."""
    if Path(connection.filename).stat().st_size % int(connection.execute("PRAGMA page_size").get):
        # SQLite would read the rest of a torn page as zeros.
        raise schema.DamagedIndex("The index file is truncated.")


class IndexStatus(Struct, frozen=True, kw_only=True):
    """The status of an index; of an unusable one, only the size is known."""

    path: str
    bytes: int = 0
    """0 if there is none."""
    is_sound: bool = False
    files: int = 0
    """Number of indexed transcripts that exist."""
    files_gone: int = 0
    """Number of deleted transcripts, whose usage still counts."""
    messages: int = 0
    """Number of messages that count."""
    copies: int = 0
    """Number of rows that do not count, because they repeat a message."""
    problems: dict[str, str] = {}
    """Why files could not be read, by path."""


def find_index_status(directory: Path) -> IndexStatus:
    """Return the status of the index in `directory`; reads all of it."""
    path = directory / data_directory.INDEX_NAME
    if not path.is_file():
        return IndexStatus(path=str(path))
    size = sum(found.stat().st_size for found in directory.glob(f"{data_directory.INDEX_NAME}*"))
    connection = open_for_reading(directory)
    if connection is None:
        return IndexStatus(path=str(path), bytes=size)
    try:
        with schema.translate_errors(path), closing(connection), snapshot(connection):
            check_everything(connection)
            return _describe(connection, path, size)
    except schema.DamagedIndex:
        return IndexStatus(path=str(path), bytes=size)


def _describe(connection: apsw.Connection, path: Path, size: int) -> IndexStatus:
    files, gone = next(connection.execute("SELECT count(*), coalesce(sum(is_gone), 0) FROM files"))
    counted, rows = next(
        connection.execute("SELECT coalesce(sum(counted), 0), count(*) FROM messages")
    )
    return IndexStatus(
        path=str(path),
        bytes=size,
        is_sound=True,
        files=files - gone,
        files_gone=gone,
        messages=counted,
        copies=rows - counted,
        problems=load_problems(connection),
    )
