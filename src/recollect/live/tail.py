"""One transcript that grows → its records, each once, in order.

Nothing is kept of a line that has not ended: it is read again once there is more, so a torn line
that is written anew costs nothing. Each look asks the file whether it still begins and ends where
it did; what such a look cannot see, bytes in the middle exchanged for as many others, `check` finds
by hashing all that was read. Whatever happened, the records since the last reset are those of a
fresh read.
"""

import hashlib
import os
from collections.abc import Iterable, Iterator
from io import FileIO
from pathlib import Path
from typing import Final

from msgspec import Struct

from recollect.errors import UnreadableInput
from recollect.live.positions import Mark
from recollect.locations import open_regular
from recollect.reader import MAX_LINE, TranscriptDecoder
from recollect.reader.chunks import CHUNK, iter_chunks, seek_line_start
from recollect.records.envelope import Record
from recollect.records.irregular import Oversized, Torn

EDGE: Final = 512
"""Bytes at the start, and before the place that was reached, that each look compares."""

_DIGEST_BYTES: Final = 12

SHORTER: Final = "it is shorter than what was read of it"
REPLACED: Final = "another file is in its place"
REWRITTEN: Final = "what was read of it has changed"
UNKNOWN: Final = "how far it was read is not known"

NOTHING_READ: Final = Mark(0, hashlib.blake2b(digest_size=_DIGEST_BYTES).digest())

Identity = tuple[int, int]
"""Device and inode."""


class Piece(Struct, frozen=True, gc=False):
    """A record, its bytes, and the place behind it; a line too long to hold has no bytes."""

    record: Record
    raw: bytes
    mark: Mark


class Step(Struct, frozen=True):
    """What one look gave. With `reset`, everything that came before it no longer counts."""

    pieces: tuple[Piece, ...] = ()
    reset: str | None = None
    is_level: bool = True
    """Whether there was nothing more to read."""
    is_gone: bool = False


class End(Struct, frozen=True):
    """Start where the file ended when it was this one and this long."""

    identity: Identity
    size: int


class Nowhere(Struct, frozen=True):
    """Start from the beginning, and say that whatever is known of the file does not count."""


Start = Mark | End | Nowhere | None
"""Where to begin to read; None is the beginning."""


class _Seen(Struct, frozen=True):
    """The state of a file at a look."""

    identity: Identity
    size: int
    mtime_ns: int


class Tail:
    """Reads one file as it grows; one thread at a time."""

    def __init__(self, path: Path, start: Start = None) -> None:
        self.path = path
        self._start: Start = start
        self._seen: _Seen | None = None
        self._checked: _Seen | None = None
        self._is_rewritten = False
        self._restart()

    def _restart(self) -> None:
        self._offset = 0
        self._skip = 0
        self._scanned = 0
        self._digest = hashlib.blake2b(digest_size=_DIGEST_BYTES)
        self._head = b""
        self._edge = b""

    @property
    def mark(self) -> Mark:
        """How far it was read: a place where a line begins."""
        return Mark(self._offset, self._digest.digest())

    @property
    def state(self) -> tuple[int, int, int] | None:
        """Inode, size and time of the file when it was last looked at."""
        seen = self._seen
        return None if seen is None else (seen.identity[1], seen.size, seen.mtime_ns)

    @property
    def is_doubtful(self) -> bool:
        """Whether the file has changed since everything that was read was last compared."""
        return self._seen != self._checked

    def read(self) -> Step:
        """The next records, about `CHUNK` bytes of them."""
        try:
            with open_regular(self.path) as file:
                return self._look(file)
        except (UnreadableInput, OSError):
            return Step(is_gone=not os.path.lexists(self.path))

    def read_rest(self) -> tuple[Piece, ...]:
        """The last line if it is whole but for its line end; for when no more will come."""
        decoder = TranscriptDecoder(str(self.path), self._offset)
        try:
            with open_regular(self.path) as file:
                data = _read_at(file, self._offset, MAX_LINE)
        except (UnreadableInput, OSError):
            return ()
        records = [*decoder.feed(data), *decoder.finish()]
        pieces = _iter_pieces(records, data, self._offset, self._digest.copy())
        whole = tuple(
            piece
            for piece in pieces
            if _starts_behind(piece, self._skip) and not isinstance(piece.record, Torn)
        )
        # Whatever comes now would have to be read from the middle of a line.
        self._is_rewritten = self._is_rewritten or bool(whole)
        return whole

    def check(self) -> Iterator[None]:
        """Compare all that was read with the file, a little at a time.

        If it differs the next `read` starts over. A file that cannot be read waits for its turn.
        """
        mark, seen = self.mark, self._seen
        digest = hashlib.blake2b(digest_size=_DIGEST_BYTES)
        try:
            with open_regular(self.path) as file:
                for chunk in iter_chunks(file, mark.offset):
                    digest.update(chunk)
                    yield
                is_same = _look_at(file) == seen
        except (UnreadableInput, OSError):
            return
        if digest.digest() != mark.digest:
            self._is_rewritten = True
        elif is_same:
            self._checked = seen
        self._scanned = 0

    def _look(self, file: FileIO) -> Step:
        seen = _look_at(file)
        reset = self._find_rewrite(file, seen) if self._seen else self._begin(file, seen)
        if reset:
            self._restart()
            self._is_rewritten = False
            self._checked = None
        self._seen = seen
        pieces = self._take(file, seen.size)
        is_level = not pieces or self._offset >= seen.size
        return Step(pieces, reset, is_level)

    def _begin(self, file: FileIO, seen: _Seen) -> str | None:
        self._restart()
        match self._start:
            case Nowhere():
                return UNKNOWN
            case End(identity, size):
                if identity != seen.identity:
                    return REPLACED
                if seen.size < size:
                    return SHORTER
                self._go_to(file, size)
            case Mark(offset, digest):
                if seen.size < offset:
                    return SHORTER
                if self._go_to(file, offset) != digest:
                    return REWRITTEN
                self._skip = offset if offset > self._offset else 0
        return None

    def _go_to(self, file: FileIO, position: int) -> bytes:
        """Stand at the line that holds byte `position`, and hash what lies before that byte."""
        self._offset = seek_line_start(file, position)
        self._head = _read_at(file, 0, min(EDGE, self._offset))
        self._edge = _read_at(file, max(self._offset - EDGE, 0), min(EDGE, self._offset))
        file.seek(0)
        for chunk in iter_chunks(file, self._offset):
            self._digest.update(chunk)
        within_line = self._digest.copy()
        within_line.update(_read_at(file, self._offset, position - self._offset))
        return within_line.digest()

    def _find_rewrite(self, file: FileIO, seen: _Seen) -> str | None:
        if self._is_rewritten:
            return REWRITTEN
        if seen.size < self._offset:
            return SHORTER
        if self._seen and seen.identity != self._seen.identity:
            return None if self._holds_the_same(file) else REPLACED
        is_edge_same = _read_at(file, self._offset - len(self._edge), len(self._edge)) == self._edge
        is_same = is_edge_same and _read_at(file, 0, len(self._head)) == self._head
        return None if is_same else REWRITTEN

    def _holds_the_same(self, file: FileIO) -> bool:
        digest = hashlib.blake2b(digest_size=_DIGEST_BYTES)
        file.seek(0)
        for chunk in iter_chunks(file, self._offset):
            digest.update(chunk)
        return digest.digest() == self._digest.digest()

    def _take(self, file: FileIO, size: int) -> tuple[Piece, ...]:
        """The records of at least one line, if one has ended, and of what else came with it."""
        if not self._has_line_end(file, size):
            return ()
        decoder = TranscriptDecoder(str(self.path), self._offset)
        held = _Held(self._offset, self._digest.copy(), self._edge)
        file.seek(self._offset)
        for chunk in iter_chunks(file, size):
            held.add(chunk)
            records = list(decoder.feed(chunk))
            if records:
                return self._accept(records, held, decoder.offset)
        self._scanned = size
        return ()

    def _accept(self, records: list[Record], held: "_Held", end: int) -> tuple[Piece, ...]:
        data, base = b"".join(held.chunks), held.offset
        pieces = tuple(_iter_pieces(records, data, base, held.digest))
        taken = data[: end - base]
        if base == self._offset:
            self._head = (self._head + taken)[:EDGE]
        self._edge = (held.edge + taken)[-EDGE:]
        self._digest, self._offset = held.digest, end
        if self._skip:
            # Only the line where reading was taken up can hold records that came before.
            skip, self._skip = self._skip, 0
            pieces = tuple(piece for piece in pieces if _starts_behind(piece, skip))
        return pieces

    def _has_line_end(self, file: FileIO, size: int) -> bool:
        """False for a long line that has grown without ending, which is not read all over again."""
        if size <= self._offset:
            return False
        if self._scanned - self._offset < CHUNK:
            return True
        file.seek(min(self._scanned, size))
        if any(b"\n" in chunk for chunk in iter_chunks(file, size)):
            return True
        self._scanned = size
        return False


class _Held:
    """Bytes from `offset` on that have been read for records; of a line too long to keep, none."""

    def __init__(self, offset: int, digest: "hashlib.blake2b", edge: bytes) -> None:
        self.offset = offset
        self.digest = digest
        self.edge = edge
        self.chunks: list[bytes] = []
        self._length = 0

    def add(self, chunk: bytes) -> None:
        if self._length > MAX_LINE:
            for each in self.chunks:
                self.digest.update(each)
            self.offset += self._length
            self.edge = self.chunks[-1][-EDGE:]
            self.chunks, self._length = [], 0
        self.chunks.append(chunk)
        self._length += len(chunk)


def _iter_pieces(
    records: Iterable[Record], data: bytes, base: int, digest: "hashlib.blake2b"
) -> Iterator[Piece]:
    """The records with their bytes, which lie in `data` from offset `base` on."""
    for record in records:
        if span := record.span:
            raw = data[max(span.offset - base, 0) : span.end - base]
            digest.update(raw)
            known = b"" if isinstance(record, Oversized) else raw
            yield Piece(record, known, Mark(span.end, digest.digest()))


def _starts_behind(piece: Piece, position: int) -> bool:
    return piece.record.span is not None and piece.record.span.offset >= position


def _look_at(file: FileIO) -> _Seen:
    status = os.fstat(file.fileno())
    return _Seen((status.st_dev, status.st_ino), status.st_size, status.st_mtime_ns)


def _read_at(file: FileIO, offset: int, length: int) -> bytes:
    file.seek(offset)
    return b"".join(iter_chunks(file, offset + length))
