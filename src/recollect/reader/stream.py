"""Bytes of a client's standard output → stream messages, with spans that tile them.

The counterpart of `transcript` for what a running client prints. A stream is never salvaged: it is
written by one process from start to end, and a line that is no message is text that somebody else
printed in between.
"""

from collections.abc import Iterator
from pathlib import Path

from recollect.locations import open_regular
from recollect.reader.blocks import MAX_LINE, Block, BlockSplitter, TooLong
from recollect.reader.chunks import CHUNK
from recollect.reader.salvage import NO_RECORD
from recollect.records.irregular import Blank, Damaged, Oversized, Torn
from recollect.records.span import Span
from recollect.records.stream.decoding import StreamMessage, decode_message

StreamItem = StreamMessage | Blank | Damaged | Oversized | Torn
"""A message, or what stands in its place."""


class StreamDecoder:
    """Messages from chunks that may be torn at any byte."""

    def __init__(self, file: str = "", *, max_line: int = MAX_LINE) -> None:
        self._file = file
        self._max_line = max_line
        self._splitter = BlockSplitter(0, max_line)

    def feed(self, chunk: bytes) -> Iterator[StreamItem]:
        """The messages that `chunk` completes."""
        for piece in self._splitter.feed(chunk):
            if isinstance(piece, TooLong):
                yield Oversized(span=Span(self._file, piece.offset, piece.length))
            else:
                yield from self._read_block(piece)

    def finish(self) -> Iterator[StreamItem]:
        """The last line, which has no line end: a message if it is whole, else `Torn`."""
        rest = self._splitter.finish()
        if rest is None:
            return
        if isinstance(rest, TooLong):
            yield Oversized(span=Span(self._file, rest.offset, rest.length))
            return
        item = self._read_line(rest.data, Span(self._file, rest.offset, len(rest.data)))
        yield Torn(span=item.span) if isinstance(item, Damaged) else item

    def _read_block(self, block: Block) -> Iterator[StreamItem]:
        start = 0
        while end := block.data.find(b"\n", start) + 1:
            span = Span(self._file, block.offset + start, end - start)
            yield self._read_line(block.data[start : end - 1], span)
            start = end

    def _read_line(self, line: bytes, span: Span) -> StreamItem:
        if len(line) > self._max_line:
            return Oversized(span=span)
        if not line.strip():
            return Blank(span=span)
        return decode_message(line, span) or Damaged(reason=NO_RECORD, span=span)


def read_stream(path: Path | str) -> Iterator[StreamItem]:
    """The messages in the file at `path`, which holds what a client printed as `stream-json`."""
    decoder = StreamDecoder(str(path))
    with open_regular(path) as file:
        while chunk := file.read(CHUNK):
            yield from decoder.feed(chunk)
    yield from decoder.finish()
