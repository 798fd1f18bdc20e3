"""Messages in the form of the Messages API, as a program would send them to continue a session,
and their images and documents by position; the bytes stay in the records.

Omits what the API rejects: calls without a result, results without a call, empty texts, and
thinking without a signature. Injected texts stay, because the model saw them; replies made up by
the client are dropped. Cache breakpoints are left to the caller, because only four are allowed.

The messages that the client itself would restore start at the last compaction: its summary, the
preserved messages, and everything after it. A cycle or a missing parent ends the chain there.

The copy of an image that a tool result has outside its content block is ignored.
"""

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from operator import itemgetter
from typing import Literal, TypedDict

from msgspec import Raw, Struct

from recollect.records import blocks, decoding, envelope, system_records
from recollect.session.messages import Message
from recollect.session.record_texts import AnyBlock
from recollect.session.tree import Tree

BlockParam = dict[str, object]
"""A content block in API form."""


class MessageParam(TypedDict):
    """A message in API form."""

    role: Literal["user", "assistant"]
    content: list[BlockParam]


def to_api_messages(messages: Sequence[Message]) -> tuple[MessageParam, ...]:
    """Return `messages` for a request: roles alternate, and results follow their calls."""
    results = {
        block.tool_use_id: block
        for message in messages
        for block in message.content
        if isinstance(block, blocks.ToolResult)
    }
    merged: list[MessageParam] = []
    for param in _iter_params(messages, results):
        if merged and merged[-1]["role"] == param["role"]:
            merged[-1]["content"] += param["content"]
        elif param["content"]:
            merged.append(param)
    return tuple(merged)


def _iter_params(
    messages: Iterable[Message], results: dict[str, blocks.ToolResult]
) -> Iterator[MessageParam]:
    """Yield messages, each reply with the results of its calls directly after it.

    The client writes one line per result, in the order in which tools finished and sometimes after
    later text; the API requires all of them at the start of the message after the calls.
    """
    waiting = dict(results)
    for message in messages:
        if message.is_synthetic or message.failure is not None:
            continue
        answers: list[blocks.ToolResult] = []
        said: list[AnyBlock] = []
        for block in message.content:
            if isinstance(block, blocks.ToolUse):
                # Removed, so that a repeated call is dropped: ids are unique.
                result = waiting.pop(block.id, None)
                if result is None:
                    continue
                answers.append(result)
            if not isinstance(block, blocks.ToolResult):
                said.append(block)
        role: Literal["user", "assistant"] = "assistant" if message.role == "assistant" else "user"
        yield {"role": role, "content": _to_params(said)}
        yield {"role": "user", "content": _to_params(answers)}


def _to_params(content: Iterable[AnyBlock]) -> list[BlockParam]:
    params = (_to_param(block) for block in content)
    return [param for param in params if param]


def _to_param(block: AnyBlock) -> BlockParam | None:
    """Return a block with the field names of the API; None if the API rejects it."""
    match block:
        case blocks.UnknownBlock():
            return decoding.decode_value(block.raw, dict[str, object])
        case blocks.Text():
            written = blocks.Text(text=block.words, citations=block.citations)
            return _list_fields(written) if block.words.strip() else None
        case blocks.Thinking(signature=""):
            return None
        case blocks.ToolUse():
            wanted = decoding.decode_value(block.input, dict[str, object])
            return {**_list_fields(block), "input": wanted or {}}
    return _list_fields(block)


def _list_fields(struct: Struct) -> BlockParam:
    tag = struct.__struct_config__.tag
    found: BlockParam = {} if tag is None else {"type": tag}
    names = zip(struct.__struct_fields__, struct.__struct_encode_fields__, strict=True)
    for name, wire_name in names:
        value = _to_plain(getattr(struct, name))
        if value is not None and name != "cache_control":
            found[wire_name] = value
    return found


def _to_plain(value: object) -> object:
    match value:
        case Raw():
            return decoding.decode_value(value, object)
        case Struct():
            return _list_fields(value)
        case tuple():
            return _to_params(
                blocks.Text(text=part) if isinstance(part, str) else part for part in value
            )
    return value


class PlainMessage(Struct, frozen=True):
    """A message reduced to its role and text."""

    role: str
    content: str


def find_loaded_links(tree: Tree, path: Sequence[str]) -> tuple[envelope.Chain, ...]:
    """Return the links that a resume loads, in order; `path` leads to the live end."""
    # A client only follows links, so it loads nothing before a gap.
    starts = (n for n, uuid in enumerate(path) if _is_start(tree, uuid))
    links = [tree.links[uuid] for uuid in path[max(starts, default=0) :]]
    return tuple(_insert_preserved(links, tree))


def _is_start(tree: Tree, uuid: str) -> bool:
    return tree.parents[uuid] is None or isinstance(
        tree.links[uuid], system_records.CompactBoundary
    )


def _insert_preserved(links: Sequence[envelope.Chain], tree: Tree) -> Iterator[envelope.Chain]:
    """Yield `links` with the records that the preceding compaction kept, after their anchor."""
    present = {link.uuid for link in links}
    anchor, uuids = _find_preserved(links[0], tree) if links else (None, ())
    kept = [tree.links[uuid] for uuid in uuids if uuid in tree.links and uuid not in present]
    if anchor not in present and links:
        anchor = links[0].uuid
    for link in links:
        yield link
        if link.uuid == anchor:
            yield from kept


def _find_preserved(first: envelope.Chain, tree: Tree) -> tuple[str | None, Sequence[str]]:
    """Return the records that the compaction preserved, and their anchor."""
    facts = first.compact_metadata if isinstance(first, system_records.CompactBoundary) else None
    if facts is None:
        return None, ()
    if facts.preserved_messages is not None:
        return facts.preserved_messages.anchor_uuid, facts.preserved_messages.uuids
    preserved = facts.preserved_segment
    if preserved is None or preserved.tail_uuid not in tree.links:
        return None, ()
    uuids: list[str] = []
    for uuid in tree.iter_ancestors(preserved.tail_uuid):
        uuids.append(uuid)
        if uuid == preserved.head_uuid:
            return preserved.anchor_uuid, uuids[::-1]
    return None, ()


def select_loaded(
    messages: Iterable[Message], loaded: Iterable[envelope.Chain]
) -> tuple[Message, ...]:
    """Return the messages in `loaded`, in that order."""
    place = {record.uuid: number for number, record in enumerate(loaded)}
    found: list[tuple[int, Message]] = []
    for message in messages:
        places = [place[uuid] for uuid in message.uuids if uuid in place]
        if places:
            found.append((min(places), message))
    return tuple(message for _, message in sorted(found, key=itemgetter(0)))


def simplify(messages: Iterable[Message]) -> tuple[PlainMessage, ...]:
    """Return the role and the text of the visible messages."""
    return tuple(
        PlainMessage(message.role, message.text)
        for message in messages
        if message.is_visible and message.text
    )


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
) -> Iterator[tuple[tuple[int, ...], blocks.Image | blocks.Document, str | None]]:
    for number, block in enumerate(message.content):
        if isinstance(block, blocks.Image | blocks.Document):
            yield (number,), block, None
        elif isinstance(block, blocks.ToolResult) and isinstance(block.content, tuple):
            for part_number, part in enumerate(block.content):
                if isinstance(part, blocks.Image | blocks.Document):
                    yield (number, part_number), part, block.tool_use_id


def _make_medium(
    message: Message,
    path: tuple[int, ...],
    block: blocks.Image | blocks.Document,
    tool_use_id: str | None,
) -> Medium:
    source = block.source or blocks.Source()
    return Medium(
        message_id=message.id,
        path=path,
        kind=MediumKind.DOCUMENT if isinstance(block, blocks.Document) else MediumKind.IMAGE,
        media_type=source.media_type,
        size=_estimate_size(source),
        url=source.url,
        file_id=source.file_id,
        title=block.title if isinstance(block, blocks.Document) else None,
        tool_use_id=tool_use_id,
    )


def _estimate_size(source: blocks.Source) -> int | None:
    """Return the size: four base64 characters are three bytes, less one for each final `=`."""
    if source.data is None:
        return None
    if source.type == "text":
        return len(source.data.encode(errors="surrogatepass"))
    padding = source.data.count("=", -2)
    return max(len(source.data) * 3 // 4 - padding, 0)
