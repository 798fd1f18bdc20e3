"""PNG images are decoded as they were written, whatever filters their rows use."""

import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from tests.web.browser.pictures import (
    CHANNELS,
    PREDICTORS,
    SIGNATURE,
    Picture,
    decode,
    make_chunk,
    measure_difference,
    pack,
)

FILTERS = st.integers(0, len(PREDICTORS) - 1)


@st.composite
def pictures(draw: DrawFn) -> Picture:
    """A small picture."""
    width, height = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    channels = draw(st.sampled_from(sorted(CHANNELS.values())))
    length = width * channels
    rows = draw(st.tuples(*[st.binary(min_size=length, max_size=length)] * height))
    return Picture(width, height, channels, rows)


def encode(picture: Picture, filters: list[int]) -> bytes:
    """Encode an image as PNG, with one filter for each row and the data in two chunks."""
    (colour,) = (kind for kind, channels in CHANNELS.items() if channels == picture.channels)
    head = struct.pack(">IIBBBBB", picture.width, picture.height, 8, colour, 0, 0, 0)
    above = bytes(picture.width * picture.channels)
    filtered = b""
    for row, kind in zip(picture.rows, filters, strict=True):
        filtered += bytes([kind]) + filter_row(row, above, kind, picture.channels)
        above = row
    packed = zlib.compress(filtered, 0)
    half = len(packed) // 2
    chunks = ((b"IHDR", head), (b"IDAT", packed[:half]), (b"IDAT", packed[half:]), (b"IEND", b""))
    return SIGNATURE + b"".join(make_chunk(*each) for each in chunks)


def filter_row(row: bytes, above: bytes, kind: int, channels: int) -> bytes:
    """Return the bytes of a row in the file."""
    padded, above = bytes(channels) + row, bytes(channels) + above
    return bytes(
        (padded[at] - PREDICTORS[kind](padded[at - channels], above[at], above[at - channels]))
        & 255
        for at in range(channels, len(padded))
    )


@given(picture=pictures(), data=st.data())
def test_decoding_is_the_reverse_of_encoding(picture: Picture, data: st.DataObject) -> None:
    """Rows may have any of the five filters; recompressing changes no pixel."""
    filters = data.draw(st.lists(FILTERS, min_size=picture.height, max_size=picture.height))
    png = encode(picture, filters)
    assert decode(png) == decode(pack(png)) == picture


@pytest.mark.parametrize(
    ("neighbours", "expected"),
    [
        ((200, 10, 5), 200),
        ((10, 200, 5), 200),
        ((10, 20, 15), 15),
        ((6, 12, 10), 6),
        ((12, 6, 10), 6),
    ],
)
def test_the_nearest_neighbour_is_predicted(
    neighbours: tuple[int, int, int], expected: int
) -> None:
    """The Paeth filter predicts left, above or corner, the corner only if it alone is nearest."""
    assert PREDICTORS[4](*neighbours) == expected


def test_differences_are_counted_by_pixels() -> None:
    """A pixel counts once, however many channels differ, and only beyond a tolerance."""
    one = Picture(2, 2, 3, (bytes(6), bytes(6)))
    other = Picture(2, 2, 3, (bytes([9, 90, 90, 9, 0, 0]), bytes(6)))
    found = [measure_difference(one, other, tolerance) for tolerance in (0, 9, 90)]
    assert found == [0.5, 0.25, 0.0]
    assert measure_difference(one, Picture(2, 1, 3, (bytes(6),)), 255) == 1.0
