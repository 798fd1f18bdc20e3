"""Open the index: for reading whenever there is one, for writing by one process at a time.

SQLite is apsw's own, the only one in the process. WAL lets readers continue while another process
writes. A damaged index is set aside and rebuilt: what it knows about deleted transcripts is carried
over as far as it is intact, everything else is in the files. Each page has a checksum, so a query
gets an error instead of a wrong answer.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import NamedTuple, TypeVar

import apsw

from recollect.errors import IndexFailure
from recollect.store.catalog import Names, load_files
from recollect.store.data_directory import (
    INDEX_NAME,
    VARIABLE,
    Lock,
    hold_lock,
    is_on_network,
    make_private_directory,
)
from recollect.store.hour_sums import check_hours, check_messages, check_sums
from recollect.store.integrity import (
    DamagedIndex,
    NewerIndex,
    check_reserve,
    load_checksums,
    reserve_checksums,
    translate_errors,
)
from recollect.store.remains import copy_aside, set_aside
from recollect.store.schema import (
    NEWER_NAME,
    drop_everything,
    has_tables,
    is_current,
    make_tables,
    read_meta,
    sum_tables,
)
from recollect.store.versions import DATA_VERSION

_BUSY_MS = 5_000
_CACHE_KB = 64 * 1024
_PAGE_BYTES = 8192
_LOG_PAGES = 4000
"""How long the log gets before it is merged: a first sync writes most pages several times."""

T = TypeVar("T")
Connection = apsw.Connection
"""The index, as the layers above hand it on; only this package asks it anything."""


class Access(NamedTuple):
    """The index, open for writing."""

    connection: apsw.Connection
    lock: Lock
    directory: Path


def open_for_reading(directory: Path, *, accept_old_data: bool = False) -> apsw.Connection | None:
    """Return the index in `directory`, or None if there is none that this program can read.

    `accept_old_data` is for tables with a version of their own. Raises `NewerIndex` for an index
    made by a newer program.
    """
    path = directory / INDEX_NAME
    if not path.is_file():
        return None
    for connect in (_connect, _connect_immutable):
        try:
            return _check_for_reading(connect(path), path, accept_old_data=accept_old_data)
        except (apsw.CantOpenError, apsw.ReadOnlyError):
            # With a WAL, SQLite needs files that it cannot create on a read-only medium.
            continue
        except (apsw.Error, UnicodeDecodeError, DamagedIndex):
            return None
    return None


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
    make_private_directory(directory)
    path = directory / INDEX_NAME
    with hold_lock(directory) as lock:
        try:
            return _run(path, lock, work)
        except DamagedIndex:
            set_aside(path)
        except NewerIndex:
            if not replaces_newer:
                raise
            set_aside(path, NEWER_NAME)
        return _run(path, lock, work)


@contextmanager
def open_for_writing(directory: Path) -> Iterator[apsw.Connection]:
    """Open the index in `directory`, created if necessary, while no other process writes it.

    For small additions outside the catalog, which damage elsewhere cannot make wrong.
    """
    make_private_directory(directory)
    path = directory / INDEX_NAME
    with hold_lock(directory), translate_errors(path), closing(_open_sound(path)) as connection:
        yield connection


def _run(path: Path, lock: Lock, work: Callable[[Access], T]) -> T:
    with translate_errors(path), closing(_open_for_writing(path)) as connection:
        return work(Access(connection, lock, path.parent))


def _open_sound(path: Path) -> apsw.Connection:
    try:
        with translate_errors(path):
            return _open_for_writing(path)
    except DamagedIndex:
        set_aside(path)
    return _open_for_writing(path)


def set_aside_if_damaged(directory: Path) -> bool:
    """Look at all of the index, and move it out of the way if it is damaged: whether it was."""
    path = directory / INDEX_NAME
    with hold_lock(directory) as lock:
        try:
            _run(path, lock, lambda access: check_everything(access.connection))
        except DamagedIndex:
            set_aside(path)
            return True
    return False


@contextmanager
def transaction(connection: apsw.Connection) -> Iterator[None]:
    """All of what is written within, or nothing."""
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
        # An error of reading has ended it already.
        if connection.in_transaction:
            connection.execute("COMMIT")


def check_everything(connection: apsw.Connection) -> None:
    """Raise `DamagedIndex` if anything in the index contradicts anything else."""
    found = connection.execute("PRAGMA integrity_check(1)").fetchall()
    if found != [("ok",)]:
        raise DamagedIndex(f"The index is damaged: {found[0][0]}.")
    _check(connection)
    _ = load_files(connection), Names(connection)
    check_hours(connection)
    check_messages(connection)
    check_sums(connection)


def _connect(path: Path) -> apsw.Connection:
    load_checksums()
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    except UnicodeEncodeError as error:
        raise IndexFailure(
            f"SQLite cannot open {path}, whose name is no UTF-8. Set {VARIABLE} to a directory "
            "whose name is."
        ) from error
    connection.set_busy_timeout(_BUSY_MS)
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    # Else a statement is compiled again for each value that it is given.
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    connection.execute("PRAGMA trusted_schema = OFF")
    return connection


def _connect_immutable(path: Path) -> apsw.Connection:
    from urllib.parse import quote  # hardly ever needed

    load_checksums()
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    return apsw.Connection(f"file:{quote(str(path))}?immutable=1", flags=flags)


def _check_for_reading(
    connection: apsw.Connection, path: Path, *, accept_old_data: bool
) -> apsw.Connection | None:
    is_usable = False
    try:
        # The log is merged into the index only by those who write it.
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        connection.execute("PRAGMA query_only = ON")
        is_usable = has_tables(connection) and is_current(connection, path)
        if is_usable:
            _check(connection)
            is_usable = accept_old_data or read_meta(connection, "data") == str(DATA_VERSION)
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
            reserve_checksums(connection)
        mode = "DELETE" if is_on_network(path) else "WAL"
        connection.execute(f"PRAGMA journal_mode = {mode}")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(f"PRAGMA cache_size = -{_CACHE_KB}")
        connection.execute(f"PRAGMA wal_autocheckpoint = {_LOG_PAGES}")
        if has_tables(connection) and not is_current(connection, path):
            copy_aside(connection, path)
            drop_everything(connection)
        if not has_tables(connection):
            with transaction(connection):
                make_tables(connection)
        _check(connection)
        stack.pop_all()
    return connection


def _check(connection: apsw.Connection) -> None:
    """Raise `DamagedIndex` if what every answer rests on is not as it was written."""
    check_length(connection)
    check_reserve(connection)
    if read_meta(connection, "tables") != sum_tables(connection):
        raise DamagedIndex("The tables of the index are not as they were made.")
    if not load_checksums():
        check_hours(connection)
    connection.execute("SELECT message_id FROM messages ORDER BY id DESC LIMIT 1").fetchall()


def check_length(connection: apsw.Connection) -> None:
    """Raise `DamagedIndex` if the file breaks off within a page."""
    if Path(connection.filename).stat().st_size % int(connection.execute("PRAGMA page_size").get):
        # SQLite would take the rest of a torn page for zeros.
        raise DamagedIndex("The index breaks off within a page.")
