"""Lines that are replaced while a transcript is decoded, so that no reader sees their secrets.

Everything that shows a session decodes its lines first, so this is the one place that all of it
passes. What is replaced, and by what, is decided above: a mask is given a block of lines and
returns the lines to put in their place. Without a mask, which is how the library starts, records
are what the file holds. Spans are those of the file either way.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

import msgspec

from recollect.reader.line_blocks import LineBlock

LineMask = Callable[[str, LineBlock], Mapping[int, bytes]]
"""From a file and some of its lines to replacements, by position in the block; no line ends."""

NOWHERE: Final = 1 << 62
"""The position of what is in no transcript, so that nothing is known of it."""

_process_mask: LineMask | None = None
_chosen: ContextVar[tuple[LineMask | None] | None] = ContextVar("chosen", default=None)
"""What `masked_by` says, in a tuple, because it may say that there is no mask."""


def mask_by_default(mask: LineMask | None) -> None:
    """Set the mask of this process, for all threads."""
    global _process_mask  # noqa: PLW0603 - what a program shows is the same everywhere in it
    _process_mask = mask


@contextmanager
def masked_by(mask: LineMask | None) -> Iterator[None]:
    """Decode with this mask, or without any, within the block."""
    token = _chosen.set((mask,))
    try:
        yield
    finally:
        _chosen.reset(token)


def find_mask() -> LineMask | None:
    """Return the mask that is in effect."""
    chosen = _chosen.get()
    return _process_mask if chosen is None else chosen[0]


def mask_line(file: str, offset: int, data: bytes) -> bytes:
    """Return the bytes of a line of a file, with or without its end, as they may be shown."""
    mask = find_mask()
    if mask is None:
        return data
    line = data.rstrip(b"\r\n")
    masked = mask(file, LineBlock(offset, line)).get(0)
    return data if masked is None else masked + data[len(line) :]


def mask_text(file: str, text: str) -> str:
    """Return the text of a file beside a transcript as it may be shown."""
    if find_mask() is None:
        return text
    # As one line, because a secret may have several, and behind anything that is known of a file.
    written = msgspec.json.encode(text.encode("utf-8", "replace").decode())
    masked = mask_line(file, NOWHERE, written)
    return text if masked is written else msgspec.json.decode(masked, type=str)
