"""Bytes → records: nothing is lost, nothing is hidden, nothing raises for bad data.

The reader of streams is loaded when it is first used: its types are many, and files need none.
"""

from typing import TYPE_CHECKING

from recollect.reader.blocks import MAX_LINE
from recollect.reader.transcript import TranscriptDecoder, read_span, read_transcript
from recollect.reader.usage_view import read_usage

if TYPE_CHECKING:
    from recollect.reader.stream import StreamDecoder, StreamItem, read_stream

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


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from recollect.reader import stream  # noqa: PLC0415 - see above

    value: object = getattr(stream, name)
    globals()[name] = value
    return value
