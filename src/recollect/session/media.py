"""Images and documents in messages, by position; their bytes stay in the records.

The copy of an image that a tool result has outside its content block is ignored.
"""

from collections.abc import Iterator, Sequence
from enum import StrEnum

from msgspec import Struct

from recollect.records.blocks import Document, Image, Source, ToolResult
from recollect.session.messages import Message


class MediumKind(StrEnum):
    """Kinds of media."""

    IMAGE = "image"
    DOCUMENT = "document"


class Medium(Struct, frozen=True, kw_only=True):
    """An image or a document."""

    message_id: str
    path: tuple[int, ...]
    """Index of the block in the message, then of the part in a tool result."""
    kind: MediumKind
    media_type: str | None = None
    size: int | None = None
    """Size in bytes, if the data is in the record."""
    url: str | None = None
    file_id: str | None = None
    title: str | None = None
    tool_use_id: str | None = None
    """The call whose result contains it."""


def build_media(messages: Sequence[Message]) -> tuple[Medium, ...]:
    """Return the images and documents of `messages`, in order."""
    return tuple(
        _make_medium(message, path, block, tool_use_id)
        for message in messages
        for path, block, tool_use_id in _iter_media(message)
    )


def _iter_media(
    message: Message,
) -> Iterator[tuple[tuple[int, ...], Image | Document, str | None]]:
    for number, block in enumerate(message.content):
        if isinstance(block, Image | Document):
            yield (number,), block, None
        elif isinstance(block, ToolResult) and isinstance(block.content, tuple):
            for part_number, part in enumerate(block.content):
                if isinstance(part, Image | Document):
                    yield (number, part_number), part, block.tool_use_id


def _make_medium(
    message: Message, path: tuple[int, ...], block: Image | Document, tool_use_id: str | None
) -> Medium:
    source = block.source or Source()
    return Medium(
        message_id=message.id,
        path=path,
        kind=MediumKind.DOCUMENT if isinstance(block, Document) else MediumKind.IMAGE,
        media_type=source.media_type,
        size=_estimate_size(source),
        url=source.url,
        file_id=source.file_id,
        title=block.title if isinstance(block, Document) else None,
        tool_use_id=tool_use_id,
    )


def _estimate_size(source: Source) -> int | None:
    """Four characters of base64 are three bytes, less one for each `=` at the end."""
    if source.data is None:
        return None
    if source.type == "text":
        return len(source.data.encode(errors="surrogatepass"))
    padding = source.data.count("=", -2)
    return max(len(source.data) * 3 // 4 - padding, 0)
