"""Bytes → records: nothing is lost, nothing is hidden, nothing raises for bad data.

What reads whole records is loaded when it is first used: its types are many, and whoever counts
tokens, or reads files and no streams, need not wait for them.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from recollect.reader.blocks import MAX_LINE
from recollect.reader.usage_view import read_usage

if TYPE_CHECKING:
    from recollect.reader.stream import StreamDecoder, StreamItem, read_stream
    from recollect.reader.transcript import TranscriptDecoder, read_span, read_transcript

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
    module = "stream" if name in {"StreamDecoder", "StreamItem", "read_stream"} else "transcript"
    value: object = getattr(import_module(f"{__name__}.{module}"), name)
    globals()[name] = value
    return value
