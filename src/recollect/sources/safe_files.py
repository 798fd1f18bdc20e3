"""Access untrusted files and directories; refusals are values with a reason. Also the cache for
parts of files.

Knows links, special files and permissions, in any source, but not the meaning of files. A refusal
is a value and not an exception, because one bad entry must not hide the others.

A list needs both ends of every transcript shortly after the quick pass has read all of it. A file
whose parts are cached is read from memory, and only opened if another part is needed.
"""

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import Final, NamedTuple, Self

from recollect.errors import UnreadableInput
from recollect.sources import source

Parts = tuple[str, ...]


class Refusal(StrEnum):
    """Why an entry was refused."""

    LINK_OUTSIDE = "symbolic link to outside the directory"
    LINK_BROKEN = "broken symbolic link"
    LINK_ELSEWHERE = "symbolic link to something that is not a transcript"
    LINK = "symbolic link that is not followed"
    SPECIAL = "neither a regular file nor a directory"
    UNREADABLE = "cannot be accessed"


class Refused(NamedTuple):
    """An entry that was found and refused."""

    path: Path
    reason: Refusal
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}" + (f" ({self.detail})" if self.detail else "")


def describe_error(error: OSError | ValueError) -> str:
    """Return the system's message without the path, which callers add."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def list_directory(directory: str | Path) -> list[source.Entry]:
    """Return the entries of a directory by name, none if it is gone; raise OSError otherwise."""
    name = str(directory)
    try:
        return sorted(source.find_source(name).list_directory(name), key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError):
        # Claude Code cleans up while we read; a deleted directory is simply empty.
        return []


def list_readable(directory: str | Path) -> list[source.Entry]:
    """Return the entries of a directory by name, none if it is gone or cannot be read."""
    try:
        return list_directory(directory)
    except OSError:
        return []


def find_status(path: str | Path) -> os.stat_result | Refused | None:
    """Return the status of an entry, not following a link; None if it does not exist."""
    try:
        return source.find_source(str(path)).find_status(str(path))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return Refused(Path(path), Refusal.UNREADABLE, describe_error(error))


def find_real_status(path: Path) -> os.stat_result:
    """Return the status of a path without links; raise OSError if it does not exist."""
    return source.find_source(str(path)).find_status(str(path))


def resolve_links(path: Path) -> Path:
    """Return the real path of an existing entry; raise OSError otherwise."""
    if not source.is_on_disk(str(path)):
        # Only files on disk can be links.
        find_real_status(path)
        return path
    # Before Python 3.13, Path.resolve raises RuntimeError for a loop of links.
    return Path(os.path.realpath(path, strict=True))


def find_real(path: Path) -> tuple[Path, os.stat_result]:
    """Return the real path of an existing entry, and its status; raise OSError otherwise."""
    real = resolve_links(path)
    return real, find_real_status(real)


def is_directory(path: Path) -> bool:
    """Return whether a directory exists, following links; False if that cannot be determined."""
    if source.is_on_disk(str(path)):
        try:
            return path.is_dir()
        except OSError:
            return False
    status = find_status(path)
    return isinstance(status, os.stat_result) and stat.S_ISDIR(status.st_mode)


def is_link_entry(entry: source.Entry) -> bool:
    """Return whether a listed entry is a link. Takes a system call on Windows only."""
    return entry.is_symlink() or (
        os.name == "nt" and source.is_link(entry.stat(follow_symlinks=False))
    )


def refusal_of(path: Path, status: os.stat_result) -> Refused | None:
    """Return why an entry is refused that should be a plain file or directory, or None."""
    if source.is_link(status):
        return Refused(path, Refusal.LINK)
    if stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode):
        return None
    return Refused(path, Refusal.SPECIAL)


def find_file(path: Path) -> Path | Refused | None:
    """Return a path if it is a plain file, or why it is refused; None if there is no file."""
    if source.is_key_name(path.name):
        return None
    status = find_status(path)
    if status is None or isinstance(status, Refused):
        return status
    return None if stat.S_ISDIR(status.st_mode) else refusal_of(path, status) or path


def find_directory(base: Path, *names: str) -> Path | Refused | None:
    """Return the directory below `base` that is reached through real directories only.

    `base` itself is trusted and may be a link; each of `names` must already be a plain name.
    """
    path = base
    for name in names:
        path = path / name
        status = find_status(path)
        if status is None or isinstance(status, Refused):
            return status
        if refused := refusal_of(path, status):
            return refused
    return path


def iter_tree(start: Path) -> Iterator[Parts | Refused]:
    """Yield the path, relative to `start`, of everything below it that is not a real directory."""
    pending: list[Parts] = [()]
    while pending:
        above = pending.pop()
        directory = start.joinpath(*above)
        try:
            entries = list_directory(directory)
        except OSError as error:
            yield Refused(directory, Refusal.UNREADABLE, describe_error(error))
            continue
        for entry in entries:
            parts = (*above, entry.name)
            if _is_real_directory(entry):
                pending.append(parts)
            else:
                yield parts


def _is_real_directory(entry: source.Entry) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False) and not is_link_entry(entry)
    except OSError:
        # Some file systems do not report the type when listing; opening the entry reports it.
        return False


def open_file(name: Path | str, *, resolve: bool = False) -> source.SourceFile:
    """Open a regular file for reading, unbuffered; raise UnreadableInput for anything else.

    `resolve` is for a path given by the user, whose symbolic links are followed.
    """
    try:
        # A string stays a string: there are thousands of files, and Path objects are slow to
        # create.
        target = str(resolve_links(Path(name)) if resolve else name)
        return open_cached(target) or source.find_source(target).open(target)
    except (OSError, ValueError) as error:
        raise UnreadableInput(
            f"Cannot read {name}: {describe_error(error)}. "
            "Check that it exists and that you can read it."
        ) from error


END_BYTES: Final = 64 * 1024
"""Number of bytes to cache at the beginning and at the end of a file."""

_STATUS_FIELDS: Final = 10
"""The fields of a status that every system has."""


class FileParts(NamedTuple):
    """Parts of a file by offset, and its status when they were read."""

    status: tuple[int, ...]
    mtime_ns: int
    parts: list[tuple[int, bytes]]

    @property
    def size(self) -> int:
        """Return the size that the file had."""
        return self.find_status().st_size

    def find_status(self) -> os.stat_result:
        """Return the status, with only the fields that every system has."""
        return os.stat_result(self.status, {"st_mtime_ns": self.mtime_ns})


def read_parts(file: source.SourceFile, lines: Sequence[tuple[int, int]] = ()) -> FileParts:
    """Return both ends of an open file, and the lines between them with this offset and length."""
    status = file.find_status()
    size = status.st_size
    if size <= 2 * END_BYTES:
        spans = [(0, size)]
    else:
        end = size - END_BYTES
        between = [span for span in lines if END_BYTES <= span[0] < end]
        spans = [(0, END_BYTES), *between, (end, END_BYTES)]
    parts = [(offset, _read(file, offset, length)) for offset, length in spans]
    return FileParts(tuple(map(int, status[:_STATUS_FIELDS])), status.st_mtime_ns, parts)


def _read(file: source.SourceFile, offset: int, length: int) -> bytes:
    file.seek(offset)
    return file.read(length)


class CachedFile:
    """An open file whose parts are in memory."""

    def __init__(self, name: str, cached: FileParts) -> None:
        self._name = name
        self._cached = cached
        self._size = cached.size
        self._position = 0
        self._file: source.SourceFile | None = None

    def read(self, size: int = -1, /) -> bytes:
        """Return up to `size` bytes, all remaining ones by default."""
        left = max(self._size - self._position, 0)
        data = self._find(left if size < 0 else min(size, left))
        self._position += len(data)
        return data

    def readinto(self, buffer: bytearray | memoryview, /) -> int:
        """Fill `buffer` as far as possible and return the number of bytes."""
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def seek(self, offset: int, whence: int = 0, /) -> int:
        """Move to an offset from the start, from here or from the end, and return it."""
        self._position = (0, self._position, self._size)[whence] + offset
        return self._position

    def tell(self) -> int:
        """Return the offset of the next read."""
        return self._position

    def close(self) -> None:
        """Release the file."""
        if self._file is not None:
            self._file.close()

    def find_status(self) -> os.stat_result:
        """Return the status that the file had when its parts were read."""
        return self._cached.find_status()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> None:
        self.close()

    def _find(self, length: int) -> bytes:
        for offset, data in self._cached.parts:
            start = self._position - offset
            if 0 <= start <= start + length <= len(data):
                return data[start : start + length]
        if self._file is None:
            self._file = source.find_source(self._name).open(self._name)
        return _read(self._file, self._position, length)


_cached: dict[str, FileParts] = {}


@contextmanager
def use_parts(parts: Mapping[str, FileParts]) -> Iterator[None]:
    """Use these cached parts, by file name, for all reads of this process."""
    _cached.update(parts)
    try:
        yield
    finally:
        _cached.clear()


def open_cached(name: str) -> source.SourceFile | None:
    """Open a file whose parts are cached; return None for any other."""
    cached = _cached.get(name)
    return None if cached is None else CachedFile(name, cached)
