"""Sources: the abstraction over where transcripts and their sidecars are stored; and stamps, which
show in a directory listing whether a file has changed.

A source opens files, returns their status and lists directories. File names are strings that look
like paths, as in `Transcript.file` and `Span.file`. A name below a mount point belongs to the
source mounted there; any other name is a path on disk. So a span, a row of the index or a worker
process needs only the name to read the bytes, wherever they are stored. Imports only the standard
library: the status line, which has to respond within milliseconds, compares stamps too. The rest of
change detection is in `recollect.sources.growth`.
"""

import os
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import reduce
from io import FileIO
from operator import or_
from types import TracebackType
from typing import Final, Protocol, Self

from recollect.errors import UnreadableInput

# `stat.IO_REPARSE_TAG_MOUNT_POINT`, which Python defines on Windows only.
_JUNCTION_TAG: Final = 0xA0000003
_KEY_SUFFIX: Final = ".key"

# A flag that a system lacks is 0: Windows has neither pipes in directories nor O_NOFOLLOW.
_WANTED: Final = (
    "O_NONBLOCK",
    "O_NOFOLLOW",
    "O_CLOEXEC",
    "O_NOCTTY",
    "O_BINARY",
    "O_NOINHERIT",
)
_FLAGS: Final = reduce(or_, (getattr(os, name, 0) for name in _WANTED))


class SourceFile(Protocol):
    """An open file: seekable bytes and their status."""

    def read(self, size: int = -1, /) -> bytes:
        """Return up to `size` bytes, all that are left by default."""

    def readinto(self, buffer: bytearray | memoryview, /) -> int | None:
        """Fill `buffer` as far as possible and return the number of bytes."""

    def seek(self, offset: int, whence: int = 0, /) -> int:
        """Move to an offset and return it."""

    def tell(self) -> int:
        """Return the offset of the next read."""

    def close(self) -> None:
        """Release the file."""

    def find_status(self) -> os.stat_result:
        """Return the status of the open file, even if another file has its name now."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> None: ...


class Entry(Protocol):
    """A directory entry, like `os.DirEntry`."""

    @property
    def name(self) -> str:
        """Its name in the directory."""

    @property
    def path(self) -> str:
        """The name of the directory joined with its own."""

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        """Return whether it is a regular file."""

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        """Return whether it is a directory."""

    def is_symlink(self) -> bool:
        """Return whether it is a symbolic link."""

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        """Return its status."""


class Source(Protocol):
    """Provides files by name. It has to be picklable, to be sent to worker processes."""

    def open(self, name: str) -> SourceFile:
        """Open a regular file for reading, unbuffered; raise UnreadableInput for anything else."""

    def find_status(self, name: str) -> os.stat_result:
        """Return the status of an entry, not following a link; raise OSError if there is none."""

    def list_directory(self, name: str) -> list[Entry]:
        """Return the entries of a directory in any order; raise OSError if that is impossible."""


class DirectorySource:
    """Files on disk, which are untrusted: links and special files are not opened.

    An entry is checked before it is opened, since opening alone can hang (a pipe) or have side
    effects (a device), and again through the descriptor, since it may have been replaced in
    between.
    """

    def open(self, name: str) -> SourceFile:
        """Open a regular file, not following links."""
        refuse_unless_regular(name, os.lstat(name))
        return DiskFile(name, "rb", opener=_open_descriptor)

    def find_status(self, name: str) -> os.stat_result:
        """Return the status of the entry itself."""
        return os.lstat(name)

    def list_directory(self, name: str) -> list[Entry]:
        """Return the entries as the system lists them."""
        with os.scandir(name) as entries:
            return list(entries)

    def has_on_disk(self, name: str) -> bool:
        """Return whether the file exists on disk; False for a file that only this source has."""
        return True


class DiskFile(FileIO):
    """A regular file on disk."""

    def find_status(self) -> os.stat_result:
        """Return the status of the descriptor."""
        return os.fstat(self.fileno())


DIRECTORY: Final = DirectorySource()

_mounts: dict[str, Source] = {}


def find_source(name: str) -> Source:
    """Return the source of the file with this name."""
    # Fast path: there are rarely mounts, and this is called for thousands of files.
    if _mounts:
        for point, source in _mounts.items():
            if name == point or name.startswith(point + os.sep):
                return source
    return DIRECTORY


def is_on_disk(name: str) -> bool:
    """Return whether a name is a path on disk, not below a mount point."""
    source = find_source(name)
    return isinstance(source, DirectorySource) and source.has_on_disk(name)


def is_only_archived(name: str) -> bool:
    """Return whether the file is no longer on disk, but its source still has it."""
    source = find_source(name)
    return isinstance(source, DirectorySource) and not source.has_on_disk(name)


def mount(point: str, source: Source) -> None:
    """Mount `source` at `point`, an absolute path, in this process.

    Worker processes get the same mounts.
    """
    _mounts[point] = source


def unmount(point: str) -> None:
    """Unmount the source at `point`."""
    del _mounts[point]


@contextmanager
def mounted(point: str, source: Source) -> Iterator[None]:
    """Mount `source` at `point` while the block runs."""
    mount(point, source)
    try:
        yield
    finally:
        unmount(point)


def list_mounts() -> Mapping[str, Source]:
    """Return all mounts, for `mount_all` in another process."""
    return dict(_mounts)


def mount_all(mounts: Mapping[str, Source]) -> None:
    """Mount what `list_mounts` returned in the parent process."""
    _mounts.update(mounts)


def is_link(status: os.stat_result) -> bool:
    """Return whether an entry points to another: a symbolic link, or a junction on Windows."""
    tag: int = getattr(status, "st_reparse_tag", 0)
    return stat.S_ISLNK(status.st_mode) or tag == _JUNCTION_TAG


def is_key_name(name: str) -> bool:
    """Return whether a file contains the secret of a running process, which must not be opened."""
    return name.casefold().endswith(_KEY_SUFFIX)


def refuse_unless_regular(name: str, status: os.stat_result) -> None:
    """Raise UnreadableInput unless an entry with this status may be opened."""
    if is_key_name(name):
        raise UnreadableInput(f"Not reading {name}: it is the secret of a running process.")
    if is_link(status):
        raise UnreadableInput(
            f"Not reading {name}: it is a symbolic link. Specify the file it points to."
        )
    if not stat.S_ISREG(status.st_mode):
        raise UnreadableInput(
            f"Not reading {name}: it is not a regular file. Specify a transcript, a .jsonl file."
        )


def _open_descriptor(name: str, flags: int) -> int:
    descriptor = os.open(name, flags | _FLAGS)
    try:
        refuse_unless_regular(name, os.fstat(descriptor))
    except UnreadableInput:
        os.close(descriptor)
        raise
    return descriptor


UNTRUSTED: Final = -1
"""The time in the stamp of a racy state, which no file has."""

_SECOND_NS: Final = 1_000_000_000
_TICK_NS: Final = 50_000_000
"""Resolution of the coarsest clock with fractions of a second."""

LISTS_INODES: Final = os.name != "nt"
"""Whether directory listings include inodes; otherwise they are 0 in stamps."""

Stamp = tuple[int, int, int]
"""Inode, size and modification time of a file in a directory listing."""


def is_racy(mtime_ns: int, now: int | None = None) -> bool:
    """Whether a file written at `mtime_ns` could be written again without changing its time."""
    step = 2 * _SECOND_NS if mtime_ns % _SECOND_NS == 0 else _TICK_NS
    return abs((time.time_ns() if now is None else now) - mtime_ns) <= step


def make_stamp(listed: Stamp) -> Stamp:
    """Return the stamp to record for a file with this status that is about to be read."""
    inode, size, mtime_ns = listed
    return inode, size, UNTRUSTED if is_racy(mtime_ns) else mtime_ns


def is_same(known: Stamp | None, listed: Stamp) -> bool:
    """Return whether a file is unchanged, by its stamps in the index and in a listing."""
    if known is None or known[1:] != listed[1:]:
        return False
    return known[0] == listed[0] or not (known[0] and listed[0])


def find_stamp(name: str) -> Stamp | None:
    """Return the stamp that a file would have in a listing now; None if it does not exist."""
    try:
        status = find_source(name).find_status(name)
    except (OSError, ValueError):
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def is_present(path: str) -> bool:
    """Return whether `path` exists and is not empty, as far as can be determined."""
    try:
        return find_source(path).find_status(path).st_size > 0
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        # Without permission to look, assume that nothing has changed.
        return True
