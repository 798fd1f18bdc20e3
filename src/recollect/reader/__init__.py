"""Read transcripts and streams: bytes become records, nothing is lost, bad data never raises.

Whole-record readers are imported on first use: they load every record type, which counting tokens
or reading a file without streams does not need.
"""

from importlib import import_module
from typing import TYPE_CHECKING

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

_OF_STREAMS = frozenset({"StreamDecoder", "StreamItem", "read_stream"})


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = "stream_reader" if name in _OF_STREAMS else "transcript_reader"
    value: object = getattr(import_module(f"{__name__}.{module}"), name)
    globals()[name] = value
    return value
