"""Chunks become blocks of whole lines."""

from hypothesis import given
from hypothesis import strategies as st

from recollect.reader.line_blocks import BlockSplitter, LineBlock, TooLong


def test_a_block_ends_at_the_last_line_end() -> None:
    """An incomplete line is held back, and its offset is returned."""
    splitter = BlockSplitter(100)
    assert splitter.feed(b"a\nb\nc") == [LineBlock(100, b"a\nb\n")]
    assert splitter.offset == 104
    assert splitter.feed(b"d") == []
    assert splitter.feed(b"e\nf\n") == [LineBlock(104, b"cde\n"), LineBlock(108, b"f\n")]
    assert splitter.finish() is None


def test_a_long_line_is_counted_and_dropped() -> None:
    """A line over the limit gives its length, not its bytes, however it comes."""
    splitter = BlockSplitter(0, max_line=4)
    assert splitter.feed(b"abc") == []
    assert splitter.feed(b"def") == []
    assert splitter.feed(b"g\nh\n") == [TooLong(0, 8), LineBlock(8, b"h\n")]


def test_an_unfinished_long_line_is_counted_too() -> None:
    """The end of the input may come within a long line."""
    splitter = BlockSplitter(0, max_line=4)
    assert splitter.feed(b"abcdef") == []
    assert splitter.finish() == TooLong(0, 6)


@given(st.lists(st.binary(max_size=20)))
def test_blocks_and_the_rest_are_the_input(chunks: list[bytes]) -> None:
    """Nothing is lost between chunks and blocks."""
    splitter = BlockSplitter(0)
    pieces = [piece for chunk in chunks for piece in splitter.feed(chunk)]
    rest = splitter.finish()
    blocks = [piece for piece in (*pieces, rest) if isinstance(piece, LineBlock)]
    assert b"".join(block.data for block in blocks) == b"".join(chunks)
    assert all(block.data.endswith(b"\n") for block in pieces if isinstance(block, LineBlock))
