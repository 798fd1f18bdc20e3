"""Read transcripts and streams: bytes become records, nothing is lost, bad data never raises.

Whole-record readers are imported on first use: they load every record type, which counting tokens
or reading a file without streams does not need.
"""

from typing import TYPE_CHECKING

from recollect.lazy_names import import_on_first_use
from recollect.reader.line_blocks import MAX_LINE
from recollect.reader.usage_reader import read_usage

if TYPE_CHECKING:
    from recollect.reader.stream_reader import StreamDecoder, StreamItem, read_stream
    from recollect.reader.transcript_reader import TranscriptDecoder, read_span, read_transcript

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

_MODULE_OF = {
    "StreamDecoder": "stream_reader",
    "StreamItem": "stream_reader",
    "TranscriptDecoder": "transcript_reader",
    "read_span": "transcript_reader",
    "read_stream": "stream_reader",
    "read_transcript": "transcript_reader",
}

__getattr__ = import_on_first_use(globals(), _MODULE_OF)
