"""Decode the standard output of a client into stream messages whose spans tile it.

The counterpart of `transcript_reader` for the output of a running client. Nothing is salvaged: one
process writes the stream from start to end, and a line that is not a message was printed by
something else. A separate module, because loading the message types takes 10 ms and transcripts do
not need them. Messages are masked like the lines of a transcript, with two exceptions: requests of
the client, which are answered with the input that it sent, and pieces of a text, which are masked
by the code that joins them.
"""

from collections.abc import Iterator
from pathlib import Path

from recollect.reader import line_blocks
from recollect.reader.transcript_reader import NO_RECORD
from recollect.records.envelope import Blank, Damaged, Oversized, Span, Torn
from recollect.records.stream.control import ControlCancelRequest, ControlRequest, ControlResponse
from recollect.records.stream.message_decoding import StreamMessage, decode_message
from recollect.records.stream.partial_messages import StreamEvent
from recollect.sources.safe_files import open_file

StreamItem = StreamMessage | Blank | Damaged | Oversized | Torn
"""A message, or a value for a line that is not one."""

_Unmasked = ControlRequest | ControlResponse | ControlCancelRequest | StreamEvent


class StreamDecoder:
    """Decodes messages from chunks that may be split at any byte."""

    def __init__(self, file: str = "", *, max_line: int = line_blocks.MAX_LINE) -> None:
        self._file = file
        self._max_line = max_line
        self._splitter = line_blocks.BlockSplitter(0, max_line)

    def feed(self, chunk: bytes) -> Iterator[StreamItem]:
        """Yield the messages completed by `chunk`."""
        for piece in self._splitter.feed(chunk):
            if isinstance(piece, line_blocks.TooLong):
                yield Oversized(span=Span(self._file, piece.offset, piece.length))
            else:
                yield from self._read_block(piece)

    def finish(self) -> Iterator[StreamItem]:
        """Yield the message of a last line without a line end, or `Torn` if it is incomplete."""
        rest = self._splitter.finish()
        if rest is None:
            return
        if isinstance(rest, line_blocks.TooLong):
            yield Oversized(span=Span(self._file, rest.offset, rest.length))
            return
        item = self._read_line(rest.data, Span(self._file, rest.offset, len(rest.data)))
        yield Torn(span=item.span) if isinstance(item, Damaged) else item

    def _read_block(self, block: line_blocks.LineBlock) -> Iterator[StreamItem]:
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
        message = decode_message(line, span)
        if message is None:
            return Damaged(reason=NO_RECORD, span=span)
        if isinstance(message, _Unmasked):
            return message
        masked = line_blocks.mask_line(self._file, line_blocks.NOWHERE, line)
        return message if masked is line else decode_message(masked, span) or message


def read_stream(path: Path | str) -> Iterator[StreamItem]:
    """Yield the messages of the file at `path`, a saved `stream-json` output of a client."""
    decoder = StreamDecoder(str(path))
    with open_file(path) as file:
        while chunk := file.read(line_blocks.CHUNK):
            yield from decoder.feed(chunk)
    yield from decoder.finish()
