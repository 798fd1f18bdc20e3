"""PNG screenshots: recompress, decode and compare them.

Supports only what Chromium writes (8 bits per channel, RGB or RGBA, not interlaced), because that
is not worth another dependency.
"""

import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

SIGNATURE = b"\x89PNG\r\n\x1a\n"
CHANNELS = {2: 3, 6: 4}
"""Bytes per pixel by colour type."""


@dataclass(frozen=True)
class Picture:
    """Pixels, row by row."""

    width: int
    height: int
    channels: int
    rows: tuple[bytes, ...]


def pack(png: bytes) -> bytes:
    """Recompress an image: browsers compress for speed."""
    chunks = list(iter_chunks(png))
    tight = zlib.compress(_unpack(chunks), 9)
    kept = [each for each in chunks if each[0] != b"IDAT"]
    return SIGNATURE + b"".join(
        make_chunk(*each) for each in (*kept[:-1], (b"IDAT", tight), kept[-1])
    )


def decode(png: bytes) -> Picture:
    """Return the pixels of an image."""
    chunks = list(iter_chunks(png))
    head = struct.unpack(">IIBBBBB", dict(chunks)[b"IHDR"])
    width, height, depth, colour, _, _, interlaced = head
    if (depth, interlaced) != (8, 0) or colour not in CHANNELS:
        raise ValueError(f"a picture of another kind: {head}")
    channels = CHANNELS[colour]
    rows = tuple(_iter_rows(_unpack(chunks), width * channels, channels))
    return Picture(width, height, channels, rows)


def measure_difference(one: Picture, other: Picture, tolerance: int) -> float:
    """Return the share of pixels that differ by more than `tolerance`; 1 for another size."""
    if (one.width, one.height, one.channels) != (other.width, other.height, other.channels):
        return 1.0
    pairs = zip(one.rows, other.rows, strict=True)
    differing = sum(_count_far(*pair, one.channels, tolerance) for pair in pairs)
    return differing / (one.width * one.height)


def iter_chunks(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the type and the data of each chunk."""
    if not png.startswith(SIGNATURE):
        raise ValueError("not a PNG")
    place = len(SIGNATURE)
    while place < len(png):
        (length,) = struct.unpack_from(">I", png, place)
        yield png[place + 4 : place + 8], png[place + 8 : place + 8 + length]
        place += length + 12


def make_chunk(kind: bytes, data: bytes) -> bytes:
    """Return a chunk with its length and its checksum."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _unpack(chunks: list[tuple[bytes, bytes]]) -> bytes:
    return zlib.decompress(b"".join(data for kind, data in chunks if kind == b"IDAT"))


def _iter_rows(filtered: bytes, length: int, channels: int) -> Iterator[bytes]:
    above = bytes(length)
    for start in range(0, len(filtered), length + 1):
        row = bytearray(filtered[start + 1 : start + 1 + length])
        predict = PREDICTORS[filtered[start]]
        for at, value in enumerate(row):
            left = row[at - channels] if at >= channels else 0
            corner = above[at - channels] if at >= channels else 0
            row[at] = (value + predict(left, above[at], corner)) & 255
        above = bytes(row)
        yield above


def _predict_by_nearest(left: int, above: int, corner: int) -> int:
    """Whichever of the three is nearest to left + above - corner, the first of them on a tie."""
    aim = left + above - corner
    return min((left, above, corner), key=lambda value: abs(aim - value))


PREDICTORS: tuple[Callable[[int, int, int], int], ...] = (
    lambda _left, _above, _corner: 0,
    lambda left, _above, _corner: left,
    lambda _left, above, _corner: above,
    lambda left, above, _corner: (left + above) // 2,
    _predict_by_nearest,
)
"""The prediction of a byte by filter number; the file contains the difference."""


def _count_far(one: bytes, other: bytes, channels: int, tolerance: int) -> int:
    if one == other:
        return 0
    far = (abs(a - b) > tolerance for a, b in zip(one, other, strict=True))
    return sum(any(pixel) for pixel in zip(*[far] * channels, strict=True))
