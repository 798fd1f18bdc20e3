"""What SQLite's errors mean: a damaged index, or a place that cannot be used now.

A damaged index is set aside and built anew, which callers need not know about. Anything else is
told to the user, because another try would meet the same disk.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from recollect.errors import IndexFailure
from recollect.store.place import VARIABLE

_DAMAGED = (apsw.CorruptError, apsw.NotADBError, apsw.FormatError)
_FORBIDDEN = (apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError, apsw.AuthError)
_IN_USE = (apsw.BusyError, apsw.LockedError)


_OF_CONTENT = (apsw.SQLITE_IOERR_SHORT_READ, apsw.SQLITE_IOERR_DATA)
"""Errors of reading that do not come from the disk: a page is cut, or its checksum is wrong."""


class DamagedIndex(IndexFailure):
    """The index contradicts itself, or holds what no index can hold."""


class NewerIndex(IndexFailure):
    """A newer program made the index: it is sound, and not ours to read or to replace."""


@contextmanager
def translate_errors(path: Path) -> Iterator[None]:
    """Raise `IndexFailure` with what to do for whatever SQLite says about the index at `path`."""
    try:
        yield
    except UnicodeDecodeError as error:
        # Only text is written, so that bytes which are none were not written.
        raise _tell_damage(path, error) from error
    except apsw.Error as error:
        if is_damage(error):
            raise _tell_damage(path, error) from error
        if isinstance(error, apsw.SQLError):
            # Our own statement is wrong: a bug, and not the user's business to mend.
            raise
        raise IndexFailure(f"{_describe(error, path)} {_REMEDY}") from error


_REMEDY = f"Make room or mend the permissions, or set {VARIABLE} to another directory."


def _tell_damage(path: Path, error: Exception) -> DamagedIndex:
    return DamagedIndex(
        f"The index {path} is damaged ({error}). `recollect index --rebuild` mends it."
    )


def is_damage(error: apsw.Error) -> bool:
    """Whether an error tells of the content of the file and not of its surroundings."""
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
