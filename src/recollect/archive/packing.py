"""Packing bytes of several files into objects, which worker threads compress and write.

Compressing, hashing and flushing to disk all release Python's lock, so threads use all cores. Only
a few objects wait in memory: whoever adds more waits for the oldest.
"""

from collections import deque
from collections.abc import Iterable
from concurrent.futures import Executor, Future
from typing import Final, NamedTuple

from msgspec import structs

from recollect.archive.manifests import Piece
from recollect.archive.object_store import MAX_CONTENT, ObjectStore

_MAX_PENDING: Final = 4


class _Slot:
    """An object that is being filled, or has been handed to a worker."""

    def __init__(self) -> None:
        self.content = bytearray()
        self.stored: Future[tuple[str, int]] | None = None


class PendingPiece(NamedTuple):
    """A piece of an object that may not be stored yet."""

    slot: _Slot
    offset: int
    length: int

    def resolve(self) -> Piece:
        """Wait until the object is stored; raise what went wrong with it."""
        if self.slot.stored is None:
            raise RuntimeError("end_object was not called")
        return Piece(self.slot.stored.result()[0], self.offset, self.length)


class Packer:
    """Fills one object after the other."""

    def __init__(self, objects: ObjectStore, pool: Executor) -> None:
        self._objects = objects
        self._pool = pool
        self._slot = _Slot()
        self._waiting: deque[Future[tuple[str, int]]] = deque()
        self._written = 0

    def add(self, data: bytes) -> list[PendingPiece]:
        """Append bytes; return where they will be, in order."""
        pieces: list[PendingPiece] = []
        while data:
            slot = self._slot
            part = data[: MAX_CONTENT - len(slot.content)]
            pieces.append(PendingPiece(slot, len(slot.content), len(part)))
            slot.content += part
            data = data[len(part) :]
            if len(slot.content) == MAX_CONTENT:
                self.end_object()
        return pieces

    def end_object(self) -> None:
        """Hand over the present object, if there is anything in it, and begin another."""
        slot = self._slot
        if not slot.content:
            return
        while len(self._waiting) >= _MAX_PENDING:
            self._written += self._waiting.popleft().result()[1]
        slot.stored = self._pool.submit(self._store, slot)
        self._waiting.append(slot.stored)
        self._slot = _Slot()

    def take_written(self) -> int:
        """Wait for all objects; return how many bytes were written since the last call."""
        while self._waiting:
            self._written += self._waiting.popleft().result()[1]
        written, self._written = self._written, 0
        return written

    def _store(self, slot: _Slot) -> tuple[str, int]:
        stored = self._objects.put(slot.content)
        slot.content = bytearray()
        return stored


def join_pieces(pieces: Iterable[Piece]) -> tuple[Piece, ...]:
    """Return the same pieces with neighbours of one object joined."""
    joined: list[Piece] = []
    for piece in pieces:
        last = joined[-1] if joined else None
        if last and (last.object, last.offset + last.length) == (piece.object, piece.offset):
            joined[-1] = structs.replace(last, length=last.length + piece.length)
        else:
            joined.append(piece)
    return tuple(joined)
