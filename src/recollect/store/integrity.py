"""SQLite's errors, and a checksum on every page of the index.

A damaged index is set aside and rebuilt, which callers need not know about. Any other error is
reported to the user, because another attempt would fail, too. Checksums turn a flipped bit into an
error instead of a wrong answer. They are SQLite's own checksum VFS, which comes with apsw as a
separate file; without that file the index works, and only the sums and checksums within its rows
are checked.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import apsw

from recollect.errors import IndexFailure
from recollect.store.data_directory import VARIABLE

_DAMAGED = (apsw.CorruptError, apsw.NotADBError, apsw.FormatError)
_FORBIDDEN = (apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError, apsw.AuthError)
_IN_USE = (apsw.BusyError, apsw.LockedError)


_OF_CONTENT = (apsw.SQLITE_IOERR_SHORT_READ, apsw.SQLITE_IOERR_DATA)
"""Errors of reading that do not come from the disk: a page is cut, or its checksum is wrong."""


class DamagedIndex(IndexFailure):
    """The index contradicts itself, or contains what no index can contain."""


class NewerIndex(IndexFailure):
    """A newer program made the index: it is intact, and not ours to read or to replace."""


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
        # Only text is written, so that bytes which are none were not written.
        raise _describe_damage(path, error, rebuild) from error
    except apsw.Error as error:
        if is_damage(error):
            raise _describe_damage(path, error, rebuild) from error
        if isinstance(error, apsw.SQLError):
            # Our own statement is wrong: a bug, and not the user's business to mend.
            raise
        raise IndexFailure(f"{_describe(error, path)} {_REMEDY}") from error


_REMEDY = f"Make room or mend the permissions, or set {VARIABLE} to another directory."


def _describe_damage(path: Path, error: Exception, rebuild: str) -> DamagedIndex:
    return DamagedIndex(f"The index {path} is damaged ({error}). `{rebuild}` mends it.")


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
"""At the end of each page: what the VFS needs, and the sign by which it knows its files."""


@cache
def load_checksums() -> bool:
    """Let all connections of this process check what they read: whether that is possible."""
    # Not by `apsw.sqlite_extra`, whose imports cost more than a warm answer takes to compute.
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
    """Let the pages of an index that is still empty have checksums."""
    if load_checksums():
        connection.reserve_bytes(reserve=RESERVED_BYTES)


def check_reserve(connection: apsw.Connection) -> None:
    """Raise `DamagedIndex` if the pages have no checksums although they could have."""
    if load_checksums() and connection.reserve_bytes() != RESERVED_BYTES:
        raise DamagedIndex("The index has no checksums on its pages.")
