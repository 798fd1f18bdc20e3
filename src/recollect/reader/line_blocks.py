"""Read a file in chunks, split chunks into blocks of whole lines with their offsets, and replace
lines while they are decoded.

Knows lines, not records. Lines end at `\\n` only, because JSON strings on disk may contain a raw
U+2028. A block has many lines, so that it can be searched as one piece. A line over the limit is
counted but not kept: memory does not depend on the content of the file.

After a crash a file may have a hole, zeros that were never written. Reading gigabytes of them would
take most of a minute, so a hole that is longer than any line is skipped; its line then counts as
too long, as if all of it had been read.

Everything that shows a session decodes its lines first, so this is the one place to mask them. A
mask takes a block of lines and returns replacements. The library sets none by default, so records
are exactly what the file contains. Spans always refer to the file.
"""

import errno
import os
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, TypeVar

import msgspec
from msgspec import Struct

from recollect.sources.source import SourceFile

MAX_LINE = 64 * 1024 * 1024
"""Maximum length of a line, in bytes, that is read into memory."""


class LineBlock(Struct, frozen=True, gc=False):
    """Whole lines, each with its `\\n`, starting at `offset`."""

    offset: int
    data: bytes


class TooLong(Struct, frozen=True, gc=False):
    """A line that was counted but not kept."""

    offset: int
    length: int


class Hole(Struct, frozen=True, gc=False):
    """A run of unwritten zeros, longer than the longest line, that is not read."""

    length: int

    def __len__(self) -> int:
        """Return the number of bytes that were skipped."""
        return self.length


_NOWHERE = range(0)


class BlockSplitter:
    """Splits chunks into blocks; keeps the last line until it is complete."""

    def __init__(self, offset: int = 0, max_line: int = MAX_LINE) -> None:
        self._max_line = max_line
        self._held: list[bytes] = []
        self._held_length = 0
        self.offset = offset
        """Start of the held-back line; reading can resume from here."""

    def feed(self, chunk: bytes | Hole) -> list[LineBlock | TooLong]:
        """Return the lines completed by `chunk`."""
        first, lines = self.split(chunk)
        found = [] if first is None else [first]
        if isinstance(chunk, bytes) and lines.start < lines.stop:
            offset = self.offset - len(lines)
            found.append(LineBlock(offset, chunk[lines.start : lines.stop]))
        return found

    def split(self, chunk: bytes | Hole) -> tuple[LineBlock | TooLong | None, range]:
        """Return the pending line if `chunk` completes it, and the range of whole lines after it.

        The range is not copied; it ends at `offset`.
        """
        if isinstance(chunk, Hole):
            # No line ends in a hole, and the line around it is too long to keep.
            self._held.clear()
            self._held_length += chunk.length
            return None, _NOWHERE
        cut = chunk.rfind(b"\n") + 1
        if not cut:
            self._hold(chunk)
            return None, _NOWHERE
        first = None
        start = 0
        if self._held_length:
            start = chunk.find(b"\n") + 1
            first = self._release(chunk[:start])
        self.offset += cut - start
        self._hold(chunk[cut:])
        return first, range(start, cut)

    def finish(self) -> LineBlock | TooLong | None:
        """Return the pending line at the end of the input, if there is one."""
        return self._release(b"") if self._held_length else None

    def _hold(self, chunk: bytes) -> None:
        if chunk:
            self._held_length += len(chunk)
            self._held.append(chunk)
            if self._held_length > self._max_line:
                self._held.clear()

    def _release(self, rest: bytes) -> LineBlock | TooLong:
        offset, length = self.offset, self._held_length + len(rest)
        held, self._held = self._held, []
        too_long = length - rest.endswith(b"\n") > self._max_line
        self._held_length = 0
        self.offset = offset + length
        if too_long:
            return TooLong(offset, length)
        return LineBlock(offset, b"".join((*held, rest)))


CHUNK = 256 * 1024
"""Bytes per read. Chunks that fit the CPU cache are 1.5 times as fast as chunks of a megabyte."""

_BLOCK = 512
"""The unit of `st_blocks`, in bytes."""


def iter_chunks(file: SourceFile, stop: int | None = None) -> Iterator[bytes]:
    """Yield the rest of `file`, up to byte `stop`, in chunks."""
    left = None if stop is None else max(stop - file.tell(), 0)
    while chunk := file.read(CHUNK if left is None else min(CHUNK, left)):
        yield chunk
        if left is not None:
            left -= len(chunk)


def iter_pieces(file: SourceFile, stop: int | None = None) -> Iterator[bytes | Hole]:
    """Yield the rest of `file`, up to byte `stop`, as chunks and holes."""
    for start, end in find_holes(file):
        first = max(start, file.tell())
        behind = end if stop is None else min(end, stop)
        if behind - first > MAX_LINE:
            yield from iter_chunks(file, first)
            yield Hole(behind - first)
            file.seek(behind)
    yield from iter_chunks(file, stop)


def iter_blocks(file: SourceFile) -> Iterator[LineBlock]:
    """Yield the rest of `file`, from the start of a line, in blocks of lines.

    Lines that are too long to keep are left out, and the last one may lack its line end.
    """
    splitter = BlockSplitter(file.tell())
    for chunk in iter_pieces(file):
        for piece in splitter.feed(chunk):
            if isinstance(piece, LineBlock):
                yield piece
    rest = splitter.finish()
    if isinstance(rest, LineBlock):
        yield rest


def find_holes(file: SourceFile) -> list[tuple[int, int]]:
    """Return the start and end of each hole in `file` that is longer than any line, in order."""
    status = file.find_status()
    blocks: int | None = getattr(status, "st_blocks", None)
    # This check is enough for nearly all files. Windows and other sources report no blocks.
    if blocks is None or status.st_size - blocks * _BLOCK <= MAX_LINE:
        return []
    position = file.tell()
    try:
        return [hole for hole in _iter_holes(file, status.st_size) if hole[1] - hole[0] > MAX_LINE]
    except OSError:
        # The file was truncated meanwhile, or a network drive does not support `SEEK_HOLE`.
        return []
    finally:
        file.seek(position)


def _iter_holes(file: SourceFile, size: int) -> Iterator[tuple[int, int]]:
    start = file.seek(0, os.SEEK_HOLE)
    while start < size:
        try:
            end = file.seek(start, os.SEEK_DATA)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            # The hole extends to the end of the file.
            end = size
        yield start, end
        start = file.seek(end, os.SEEK_HOLE) if end < size else size


def seek_line_start(file: SourceFile, position: int) -> int:
    """Move `file` to the start of the line that contains byte `position`, and return its offset.

    Several records may share a line, and decoding the second one takes the whole line.
    """
    holes = find_holes(file) if position > 0 else []
    while position > 0:
        while holes and holes[-1][0] >= position:
            holes.pop()
        if holes and holes[-1][1] >= position:
            # No line starts in a hole.
            position = holes.pop()[0]
            continue
        step = min(CHUNK, position)
        file.seek(position - step)
        found = file.read(step).rfind(b"\n") + 1
        position += found - step
        if found:
            break
    file.seek(position)
    return position


T = TypeVar("T")

LineMask = Callable[[str, LineBlock], Mapping[int, bytes]]
"""From a file and some of its lines to replacements by position in the block, without line ends."""

NOWHERE: Final = 1 << 62
"""The offset of a line that is not in a transcript."""

Preload = Callable[[Collection[str]], None]
"""Preloads what a mask needs for several files."""

_process_mask: LineMask | None = None
_preload: Preload | None = None
_chosen: ContextVar[tuple[LineMask | None] | None] = ContextVar("chosen", default=None)
"""The mask set by `masked_by`, in a tuple because it may be None."""


def mask_by_default(mask: LineMask | None, preload: Preload | None = None) -> None:
    """Set the default mask of this process, for all threads."""
    global _process_mask, _preload
    _process_mask, _preload = mask, preload


def preload_masks(files: Collection[str]) -> None:
    """Prepare the mask of this process for files from which single lines will be read."""
    if _preload is not None and _chosen.get() is None:
        _preload(files)


@contextmanager
def masked_by(mask: LineMask | None) -> Iterator[None]:
    """Use this mask, or none, while the block runs."""
    token = _chosen.set((mask,))
    try:
        yield
    finally:
        _chosen.reset(token)


def find_mask() -> LineMask | None:
    """Return the mask that is in effect."""
    chosen = _chosen.get()
    return _process_mask if chosen is None else chosen[0]


def mask_line(file: str, offset: int, data: bytes) -> bytes:
    """Return a line of a file, masked; the line end is optional."""
    mask = find_mask()
    if mask is None:
        return data
    line = data.rstrip(b"\r\n")
    masked = mask(file, LineBlock(offset, line)).get(0)
    return data if masked is None else masked + data[len(line) :]


def mask_text(file: str, text: str) -> str:
    """Return the text of a file beside a transcript, masked."""
    if find_mask() is None:
        return text
    # As a single line, because a secret may span several, and at an offset that no transcript has.
    written = msgspec.json.encode(text.encode("utf-8", "replace").decode())
    masked = mask_line(file, NOWHERE, written)
    return text if masked is written else msgspec.json.decode(masked, type=str)


def mask_value(file: str, value: T) -> T:
    """Return a struct with all of its texts masked together."""
    if find_mask() is None:
        return value
    written = msgspec.json.encode(value)
    masked = mask_line(file, NOWHERE, written)
    return value if masked is written else msgspec.json.decode(masked, type=type(value))
