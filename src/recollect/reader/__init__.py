"""Read transcripts and streams: bytes become records, nothing is lost, bad data never raises.

Everything is imported on first use: readers load every record type, which a command that only sets
a mask or counts tokens does not need.
"""

from typing import TYPE_CHECKING

from recollect.lazy_names import import_on_first_use

if TYPE_CHECKING:
    from recollect.reader.line_blocks import MAX_LINE
    from recollect.reader.stream_reader import StreamDecoder, StreamItem, read_stream
    from recollect.reader.transcript_reader import TranscriptDecoder, read_span, read_transcript
    from recollect.reader.usage_reader import read_usage

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
    "MAX_LINE": "line_blocks",
    "StreamDecoder": "stream_reader",
    "StreamItem": "stream_reader",
    "TranscriptDecoder": "transcript_reader",
    "read_span": "transcript_reader",
    "read_stream": "stream_reader",
    "read_transcript": "transcript_reader",
    "read_usage": "usage_reader",
}

__getattr__ = import_on_first_use(globals(), _MODULE_OF)
