"""Compression and hashes: the only module that knows zstd.

16 MB of one session at level 4 with long-distance matching, without a dictionary, was measured
(docs/archive.md): within 1.4 times the size of `zstd -19` over everything at ten times the speed. A
trained dictionary makes whole sessions larger, and losing it would lose everything.
"""

import sys
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from typing import Final

from recollect.errors import UnreadableInput

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

LEVEL: Final = 4
WINDOW_LOG: Final = 24
"""A window of 16 MB, the largest content of an object; `zstd -d` accepts up to 27 by default."""

_OPTIONS: Final[dict[int, int]] = {
    zstd.CompressionParameter.compression_level: LEVEL,
    zstd.CompressionParameter.enable_long_distance_matching: 1,
    zstd.CompressionParameter.window_log: WINDOW_LOG,
    zstd.CompressionParameter.checksum_flag: 1,
}
_MAX_WINDOW: Final[dict[int, int]] = {zstd.DecompressionParameter.window_log_max: 27}
_STEP: Final = 1 << 20


def compress(data: bytes | bytearray) -> bytes:
    """Return one zstd frame with the size and a checksum of its content."""
    return zstd.compress(data, options=_OPTIONS)


def compress_stream(parts: Iterable[bytes]) -> Iterator[bytes]:
    """Yield one zstd frame with all parts."""
    encoder = zstd.ZstdCompressor(options=_OPTIONS)
    for part in parts:
        if data := encoder.compress(part):
            yield data
    yield encoder.flush()


def decompress(stored: bytes, limit: int) -> bytes:
    """Return the content of one frame; raise UnreadableInput if it is damaged or exceeds `limit`.

    Never takes more memory than `limit`, whatever a frame claims or contains.
    """
    decoder = zstd.ZstdDecompressor(options=_MAX_WINDOW)
    parts: list[bytes] = []
    total, data = 0, stored
    try:
        while not decoder.eof:
            part = decoder.decompress(data, _STEP)
            data = b""
            total += len(part)
            if total > limit:
                raise UnreadableInput(f"A compressed block is larger than {limit:,} bytes.")
            if not part and decoder.needs_input:
                raise UnreadableInput("A compressed block is cut short.")
            parts.append(part)
    except (zstd.ZstdError, EOFError) as error:
        raise UnreadableInput(f"A compressed block is damaged: {error}.") from error
    if decoder.unused_data:
        raise UnreadableInput("A compressed block is followed by other bytes.")
    return b"".join(parts)


def hash_bytes(data: bytes) -> str:
    """Return the SHA-256 as text."""
    return sha256(data).hexdigest()


class FrameReader:
    """Reads the content of consecutive frames, never more of it at once than it is asked for."""

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self._read = read
        self._decoder = zstd.ZstdDecompressor(options=_MAX_WINDOW)
        self._rest = b""
        self._content = b""
        self._is_inside = False

    def read_line(self, limit: int) -> bytes:
        """Return the bytes up to the first line break; raise UnreadableInput beyond `limit`."""
        line = bytearray()
        while True:
            part = self._take(min(_STEP, limit + 1 - len(line)))
            head, found, rest = part.partition(b"\n")
            line += head
            if found:
                self._content = rest + self._content
                return bytes(line)
            if not part or len(line) > limit:
                raise UnreadableInput(f"The first line is cut short or over {limit:,} bytes.")

    def iter_bytes(self, count: int) -> Iterator[bytes]:
        """Yield the next `count` bytes; raise UnreadableInput if there are fewer."""
        while count:
            part = self._take(min(_STEP, count))
            if not part:
                raise UnreadableInput("The file is cut short.")
            count -= len(part)
            yield part

    def require_end(self) -> None:
        """Raise UnreadableInput if anything follows."""
        if self._take(1):
            raise UnreadableInput("The file is longer than it should be.")

    def _take(self, limit: int) -> bytes:
        """Return up to `limit` bytes of content, nothing at the end."""
        while not self._content:
            if self._decoder.eof:
                self._rest, self._is_inside = self._decoder.unused_data, False
                self._decoder = zstd.ZstdDecompressor(options=_MAX_WINDOW)
            if self._decoder.needs_input and not self._rest:
                self._rest = self._read(_STEP)
                if not self._rest:
                    self._require_whole_frame()
                    return b""
            self._content = self._decode(limit)
            self._is_inside = True
        part, self._content = self._content[:limit], self._content[limit:]
        return part

    def _require_whole_frame(self) -> None:
        if self._is_inside:
            raise UnreadableInput("The file is cut short.")

    def _decode(self, limit: int) -> bytes:
        data, self._rest = self._rest, b""
        try:
            return self._decoder.decompress(data, limit)
        except zstd.ZstdError as error:
            raise UnreadableInput(f"A compressed block is damaged: {error}.") from error
