"""Content blocks → parts, for messages and for what tools returned.

Calls of tools and their results are not described here: they are steps, not parts of one.
"""

from collections.abc import Iterable

from recollect.records.blocks import (
    ContainerUpload,
    ContentBlock,
    Document,
    Fallback,
    Image,
    NestedBlock,
    Resource,
    ResourceLink,
    SearchResult,
    Source,
    Text,
    ToolReference,
    UnknownBlock,
)
from recollect.records.envelope import is_absent
from recollect.render.views.parts import Entry, Part, Picture, Plain, Prose
from recollect.render.views.values import show_entries, show_fields, show_json, show_value

AnyBlock = ContentBlock | NestedBlock | str

_UNKNOWN_MEDIA = "application/octet-stream"


def show_blocks(blocks: Iterable[AnyBlock], *, as_prose: bool = False) -> tuple[Part, ...]:
    """The parts of `blocks`; texts are taken for Markdown only where somebody wrote them."""
    words = Prose if as_prose else Plain
    parts: list[Part] = []
    for block in blocks:
        text = block if isinstance(block, str) else block.words if isinstance(block, Text) else None
        if text is None:
            parts += _show_block(block)
        elif text.strip():
            parts.append(words(text))
    return tuple(parts)


def _show_block(block: AnyBlock) -> tuple[Part, ...]:
    match block:
        case Image():
            return show_source(block.source, None)
        case Document():
            return show_source(block.source, block.title)
        case ContainerUpload(file_id=name):
            return show_fields(("file", name))
        case Fallback(origin=origin, target=target):
            return show_fields(
                ("from", origin.model if origin else None), ("to", target.model if target else None)
            )
    return _show_reference(block)


def _show_reference(block: AnyBlock) -> tuple[Part, ...]:
    match block:
        case ToolReference(tool_name=name):
            return show_entries((Entry(name),))
        case ResourceLink():
            return show_entries((Entry(block.name or block.uri or "", note=block.uri),))
        case SearchResult():
            found = show_entries((Entry(block.title or block.source or "", note=block.source),))
            return (*found, *show_value(block.content))
    return _show_raw(block)


def _show_raw(block: AnyBlock) -> tuple[Part, ...]:
    match block:
        case Resource():
            return show_value(block.resource)
        case UnknownBlock():
            return (show_json(block.raw),)
    return ()


def show_source(source: Source | None, name: str | None) -> tuple[Part, ...]:
    """The picture or document in `source`; a document may be plain text, or lie elsewhere."""
    if source is None:
        return (Picture(_UNKNOWN_MEDIA, "", name),)
    if source.type == "text" and source.data is not None:
        return (Plain(source.data),)
    if not is_absent(source.content):
        return (show_json(source.content),)
    return (
        Picture(
            source.media_type or _UNKNOWN_MEDIA,
            source.data or "",
            name or source.url or source.file_id,
        ),
    )
