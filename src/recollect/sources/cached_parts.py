"""In-memory cache for parts of files.

A list needs both ends of every transcript shortly after the quick pass has read all of it. A file
whose parts are cached is read from memory, and only opened if another part is needed.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Final, NamedTuple, Self

from recollect.sources.source import SourceFile, find_source

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


def read_parts(file: SourceFile, lines: Sequence[tuple[int, int]] = ()) -> FileParts:
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


def _read(file: SourceFile, offset: int, length: int) -> bytes:
    file.seek(offset)
    return file.read(length)


class CachedFile:
    """An open file whose parts are in memory."""

    def __init__(self, name: str, cached: FileParts) -> None:
        self._name = name
        self._cached = cached
        self._size = cached.size
        self._position = 0
        self._file: SourceFile | None = None

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
            self._file = find_source(self._name).open(self._name)
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


def open_cached(name: str) -> SourceFile | None:
    """Open a file whose parts are cached; return None for any other."""
    cached = _cached.get(name)
    return None if cached is None else CachedFile(name, cached)
