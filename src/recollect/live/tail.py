"""Read the records of one growing transcript, each once, in order.

An unfinished line is not kept: it is read again when the file has grown, so a torn line that is
rewritten needs no special case. Each read checks that the start and the known end of the file are
unchanged; changes in the middle that keep the size are found by `check`, which hashes everything
that was read. In any case, the records since the last reset are those of a fresh read.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from msgspec import Struct

from recollect.digests import blake2b
from recollect.errors import UnreadableInput
from recollect.live.live_events import Mark
from recollect.reader.line_blocks import CHUNK, MAX_LINE, iter_chunks, mask_line, seek_line_start
from recollect.reader.transcript_reader import TranscriptDecoder, decode_bytes
from recollect.records.envelope import Oversized, Record, Torn
from recollect.sources.growth import (
    EDGE,
    FileState,
    Growth,
    capture_state,
    digest_start,
    find_growth,
    new_digest,
    record_edges,
)
from recollect.sources.safe_files import open_file
from recollect.sources.source import SourceFile, Stamp, is_present

SHORTER: Final = "it is shorter than the part already read"
REPLACED: Final = "it was replaced by another file"
REWRITTEN: Final = "the part already read has changed"
UNKNOWN: Final = "the read position is not known"

NOTHING_READ: Final = Mark(0, new_digest().digest())

Identity = tuple[int, int]
"""Device and inode."""


class Piece(Struct, frozen=True, gc=False):
    """A record, its bytes (empty if the line is too long), and the position after it."""

    record: Record
    raw: bytes
    mark: Mark


class TailStep(Struct, frozen=True):
    """The result of one read. With `reset`, all earlier records are invalid."""

    pieces: tuple[Piece, ...] = ()
    reset: str | None = None
    is_caught_up: bool = True
    """Whether everything up to the end of the file has been read."""
    is_gone: bool = False


class End(Struct, frozen=True):
    """Start at the end that the file had when it was this long."""

    identity: Identity
    size: int


class StartOver(Struct, frozen=True):
    """Start from the beginning, and discard everything known about the file."""


Start = Mark | End | StartOver | None
"""Where to start reading; None is the beginning."""


class Tail:
    """Reads one file as it grows; one thread at a time."""

    def __init__(self, path: Path, start: Start = None) -> None:
        self.path = path
        self._start: Start = start
        self._state: FileState | None = None
        self._checked: Stamp | None = None
        self._is_rewritten = False
        self._restart()

    def _restart(self) -> None:
        self._offset = 0
        self._skip = 0
        self._scanned = 0
        self._digest = new_digest()
        self._head = b""
        self._edge = b""

    @property
    def mark(self) -> Mark:
        """Return the position up to which it has been read, always the start of a line."""
        return Mark(self._offset, self._digest.digest())

    @property
    def needs_verification(self) -> bool:
        """Return whether the file has changed since everything that was read was last verified."""
        return self._state is not None and self._state.stamp != self._checked

    def is_current(self, listed: Stamp) -> bool:
        """Return whether a file that is listed with this stamp is unchanged since the last read."""
        return self._state is not None and self._state.is_current(listed)

    def read(self) -> TailStep:
        """Return the next records, about `CHUNK` bytes of them."""
        try:
            with open_file(self.path) as file:
                return self._examine(file)
        except (UnreadableInput, OSError):
            return TailStep(is_gone=not is_present(str(self.path)))

    def read_rest(self) -> tuple[Piece, ...]:
        """Return the last line if only its newline is missing; for files that no longer grow."""
        try:
            with open_file(self.path) as file:
                data = _read_at(file, self._offset, MAX_LINE)
        except (UnreadableInput, OSError):
            return ()
        records = decode_bytes(str(self.path), self._offset, data)
        pieces = _iter_pieces(records, data, self._offset, self._digest.copy())
        whole = tuple(
            piece
            for piece in pieces
            if _starts_after(piece, self._skip) and not isinstance(piece.record, Torn)
        )
        # Reading any further would start in the middle of a line.
        self._is_rewritten = self._is_rewritten or bool(whole)
        return whole

    def check(self) -> Iterator[None]:
        """Compare everything that was read with the file, a little at a time.

        If it differs, the next `read` starts over. A file that cannot be read is checked later.
        """
        mark = self.mark
        digest = new_digest()
        try:
            with open_file(self.path) as file:
                seen = capture_state(file)
                for chunk in iter_chunks(file, mark.offset):
                    digest.update(chunk)
                    yield
                identities = {_identify(each) for each in (seen, capture_state(file), self._state)}
        except (UnreadableInput, OSError):
            return
        if digest.digest() != mark.digest:
            self._is_rewritten = True
        elif len(identities) == 1:
            self._record(seen)
            self._checked = seen.stamp
        self._scanned = 0

    def _examine(self, file: SourceFile) -> TailStep:
        seen, known = capture_state(file), self._state
        reset = self._find_rewrite(file, known, seen) if known else self._begin(file, seen)
        if reset:
            self._restart()
            self._is_rewritten = False
            self._checked = None
        pieces = self._take(file, seen.size)
        self._record(seen)
        is_caught_up = not pieces or self._offset >= seen.size
        return TailStep(pieces, reset, is_caught_up)

    def _record(self, seen: FileState) -> None:
        self._state = record_edges(seen, self._offset, self._head, self._edge)

    def _begin(self, file: SourceFile, seen: FileState) -> str | None:
        self._restart()
        match self._start:
            case StartOver():
                return UNKNOWN
            case End(identity, size):
                if identity != (seen.device, seen.inode):
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

    def _go_to(self, file: SourceFile, position: int) -> bytes:
        """Seek to the line that contains byte `position`, and hash the bytes before it."""
        self._offset = seek_line_start(file, position)
        self._head = _read_at(file, 0, min(EDGE, self._offset))
        self._edge = _read_at(file, max(self._offset - EDGE, 0), min(EDGE, self._offset))
        file.seek(0)
        for chunk in iter_chunks(file, self._offset):
            self._digest.update(chunk)
        within_line = self._digest.copy()
        within_line.update(_read_at(file, self._offset, position - self._offset))
        return within_line.digest()

    def _find_rewrite(self, file: SourceFile, known: FileState, seen: FileState) -> str | None:
        if self._is_rewritten:
            return REWRITTEN
        if seen.size < self._offset:
            return SHORTER
        growth = find_growth(file, known, seen)
        if growth is Growth.REPLACED:
            is_copy = digest_start(file, self._offset) == self._digest.digest()
            return None if is_copy else REPLACED
        # `check` compares the rest of a file that was touched or is racy.
        return REWRITTEN if growth is Growth.REWRITTEN else None

    def _take(self, file: SourceFile, size: int) -> tuple[Piece, ...]:
        """Return the records up to the end of the first chunk that completes a line."""
        if not self._has_line_end(file, size):
            return ()
        decoder = TranscriptDecoder(str(self.path), self._offset)
        held = _Held(self._offset, self._digest.copy(), self._head, self._edge)
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
        self._head = (held.head + taken[:EDGE])[:EDGE]
        self._edge = (held.edge + taken)[-EDGE:]
        self._digest, self._offset = held.digest, end
        if self._skip:
            # Only the line where reading resumed can contain earlier records.
            skip, self._skip = self._skip, 0
            pieces = tuple(piece for piece in pieces if _starts_after(piece, skip))
        return pieces

    def _has_line_end(self, file: SourceFile, size: int) -> bool:
        """Return False for a long line that has grown but not ended: it is not read again."""
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
    """Bytes from `offset` on that have been read; not those of a line that is too long."""

    def __init__(self, offset: int, digest: blake2b, head: bytes, edge: bytes) -> None:
        self.offset = offset
        self.digest = digest
        self.head = head
        self.edge = edge
        self.chunks: list[bytes] = []
        self._length = 0

    def add(self, chunk: bytes) -> None:
        if self._length > MAX_LINE:
            for each in self.chunks:
                self.digest.update(each)
                self.head = (self.head + each[:EDGE])[:EDGE]
                self.edge = (self.edge + each[-EDGE:])[-EDGE:]
            self.offset += self._length
            self.chunks, self._length = [], 0
        self.chunks.append(chunk)
        self._length += len(chunk)


def _iter_pieces(
    records: Iterable[Record], data: bytes, base: int, digest: blake2b
) -> Iterator[Piece]:
    """Yield the records with their bytes, which are in `data` from offset `base` on."""
    for record in records:
        if span := record.span:
            raw = data[max(span.offset - base, 0) : span.end - base]
            digest.update(raw)
            known = b"" if isinstance(record, Oversized) else mask_line(span.file, span.offset, raw)
            yield Piece(record, known, Mark(span.end, digest.digest()))


def _starts_after(piece: Piece, position: int) -> bool:
    return piece.record.span is not None and piece.record.span.offset >= position


def _identify(state: FileState | None) -> tuple[int, ...] | None:
    if state is None:
        return None
    return state.device, state.inode, state.size, state.mtime_ns


def _read_at(file: SourceFile, offset: int, length: int) -> bytes:
    file.seek(offset)
    return b"".join(iter_chunks(file, offset + length))
