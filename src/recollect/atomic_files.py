"""Atomic file writes: files are written to a temporary name, then renamed.

Files and directories are readable only by their owner, unless the caller says otherwise. Failures
are OSErrors: callers know what the file was for, and say what to do.
"""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

_RANDOM_BYTES: Final = 8
_MAX_NAME: Final = 50
"""Characters of a name that its temporary file repeats; some file systems allow 255 bytes."""

_temporary_files: Final[dict[Path, int]] = {}
"""The temporary files being written, with the process that does it, which may have been forked."""


@contextmanager
def open_atomic(
    target: Path,
    *,
    overwrite: bool,
    temporary_directory: Path | None = None,
    mode: int | None = None,
    mtime_ns: int | None = None,
) -> Iterator[BinaryIO]:
    """Open a file that is renamed into place when the block ends, and deleted if the block fails.

    Raise FileExistsError if the name is taken by then and must not be overwritten. The temporary
    directory, that of the target by default, must be on the same file system.
    """
    # Named before it is created, so that it can be removed after an interrupt at any moment.
    name = f".{target.name[:_MAX_NAME]}.{os.urandom(_RANDOM_BYTES).hex()}"
    temporary = (temporary_directory or target.parent) / name
    _temporary_files[temporary] = os.getpid()
    try:
        with open(temporary, "xb", opener=_open_private) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            temporary.chmod(mode)
        if mtime_ns is not None:
            os.utime(temporary, ns=(mtime_ns, mtime_ns))
        if overwrite:
            temporary.replace(target)
        else:
            _name_new(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)
        _temporary_files.pop(temporary, None)


def remove_temporary_files() -> None:
    """Remove the files that this process has not finished, because it is about to be killed."""
    for path, process in list(_temporary_files.items()):
        if process == os.getpid():
            with suppress(OSError):
                path.unlink()


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def make_directories(path: Path) -> None:
    """Create a directory and those above it that are missing."""
    for directory in reversed([path, *path.parents]):
        if not directory.exists():
            directory.mkdir(mode=0o700, exist_ok=True)


def _name_new(temporary: Path, target: Path) -> None:
    try:
        # Unlike a rename, a link fails if the file has been created in the meantime.
        os.link(temporary, target)
    except FileExistsError:
        raise
    except OSError:
        # A file system without links: there is a moment in which another file may be replaced.
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target)) from None
        temporary.replace(target)
