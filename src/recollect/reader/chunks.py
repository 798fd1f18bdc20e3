"""A file → chunks of its bytes, from any place on. Knows line ends, and nothing of records."""

from collections.abc import Iterator
from io import FileIO

CHUNK = 256 * 1024
"""Bytes that are read at a time: what fits a cache is read half again as fast as a megabyte."""


def iter_chunks(file: FileIO, stop: int | None = None) -> Iterator[bytes]:
    """The rest of `file`, up to byte `stop`, a chunk at a time."""
    left = None if stop is None else max(stop - file.tell(), 0)
    while chunk := file.read(CHUNK if left is None else min(CHUNK, left)):
        yield chunk
        if left is not None:
            left -= len(chunk)


def seek_line_start(file: FileIO, position: int) -> int:
    """Move `file` to the start of the line that holds byte `position`, and say where that is.

    Records may share a line; what the second of them means depends on the whole of it.
    """
    while position > 0:
        step = min(CHUNK, position)
        file.seek(position - step)
        found = file.read(step).rfind(b"\n") + 1
        position += found - step
        if found:
            break
    file.seek(position)
    return position
