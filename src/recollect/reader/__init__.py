"""Bytes → records: nothing is lost, nothing is hidden, nothing raises for bad data."""

from recollect.reader.blocks import MAX_LINE
from recollect.reader.stream import StreamDecoder, StreamItem, read_stream
from recollect.reader.transcript import TranscriptDecoder, read_span, read_transcript
from recollect.reader.usage_view import read_usage

__all__ = [
    "MAX_LINE",
    "StreamDecoder",
    "StreamItem",
    "TranscriptDecoder",
    "read_span",
    "read_stream",
    "read_transcript",
    "read_usage",
]
