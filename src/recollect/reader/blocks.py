"""Chunks of bytes, torn anywhere → blocks of whole lines with their offsets.

Knows line ends and nothing else: `\\n` only, because JSON strings on disk hold raw U+2028. A block
holds many lines, so that whoever reads it can search it as one piece. A line that outgrows the
limit is counted, not kept: memory does not depend on what is in the file.
"""

from msgspec import Struct

MAX_LINE = 64 * 1024 * 1024
"""Longest line, in bytes, that is read into memory."""


class Block(Struct, frozen=True, gc=False):
    """Whole lines, each with its `\\n`, from `offset` on."""

    offset: int
    data: bytes


class TooLong(Struct, frozen=True, gc=False):
    """A line that was counted but not kept."""

    offset: int
    length: int


class BlockSplitter:
    """Takes chunks in, gives blocks out, and holds back what has no line end yet."""

    def __init__(self, offset: int = 0, max_line: int = MAX_LINE) -> None:
        self._max_line = max_line
        self._held: list[bytes] = []
        self._held_length = 0
        self.offset = offset
        """Where the held-back line begins: reading can be taken up again from here."""

    def feed(self, chunk: bytes) -> list[Block | TooLong]:
        """The lines that `chunk` completes."""
        cut = chunk.rfind(b"\n") + 1
        if not cut:
            self._hold(chunk)
            return []
        found: list[Block | TooLong] = []
        start = 0
        if self._held_length:
            start = chunk.find(b"\n") + 1
            found.append(self._release(chunk[:start]))
        if start < cut:
            found.append(Block(self.offset, chunk[start:cut]))
            self.offset += cut - start
        self._hold(chunk[cut:])
        return found

    def finish(self) -> Block | TooLong | None:
        """What is held back, now that nothing more will come."""
        return self._release(b"") if self._held_length else None

    def _hold(self, chunk: bytes) -> None:
        if chunk:
            self._held_length += len(chunk)
            self._held.append(chunk)
            if self._held_length > self._max_line:
                self._held.clear()

    def _release(self, rest: bytes) -> Block | TooLong:
        offset, length = self.offset, self._held_length + len(rest)
        held, self._held = self._held, []
        too_long = length - rest.endswith(b"\n") > self._max_line
        self._held_length = 0
        self.offset = offset + length
        if too_long:
            return TooLong(offset, length)
        return Block(offset, b"".join((*held, rest)))
