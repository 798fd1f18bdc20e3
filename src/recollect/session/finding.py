"""Find text in a session, in file order.

Searches what a reader can open: messages, thinking, tool inputs and results, including those of
subagents. A match is reported at the record that a page has an anchor for: a tool result at its
call, and everything in a subagent at the call that started it.
"""

from collections.abc import Iterator

from msgspec import Raw

from recollect.records.blocks import (
    McpToolUse,
    ServerToolUseBlock,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
)
from recollect.records.conversation import Assistant, User
from recollect.records.decoding import decode_value
from recollect.session.content import AnyBlock, list_blocks, result_text
from recollect.session.messages import Message
from recollect.session.session import Session


def find_text(session: Session, words: str) -> tuple[str, ...]:
    """Return the uuids of records that contain `words`, each once; case is ignored."""
    wanted = words.casefold()
    if not wanted:
        return ()
    return tuple(dict.fromkeys(_iter_places(session, wanted)))


def _iter_places(session: Session, wanted: str) -> Iterator[str]:
    started: dict[str, list[Session]] = {}
    for child in session.subagents:
        if child.call is not None:
            started.setdefault(child.call.id, []).append(child.session)
    for message in session.messages:
        for uuid, block in _iter_blocks(message):
            place = _place_of(session, uuid, block)
            if place and _holds(block, wanted):
                yield place
            elif place and isinstance(block, ToolUse):
                inside = started.get(block.id, ())
                if any(next(_iter_places(each, wanted), None) for each in inside):
                    yield place


def _iter_blocks(message: Message) -> Iterator[tuple[str | None, AnyBlock]]:
    """Yield the blocks of a message, each with the uuid of its record."""
    for record in message.records:
        if isinstance(record, Assistant | User):
            for block in list_blocks(record.message.content if record.message else None):
                yield record.uuid, block
        else:
            yield from ((record.uuid, block) for block in message.content)


def _place_of(session: Session, uuid: str | None, block: AnyBlock) -> str | None:
    if not isinstance(block, ToolResult):
        return uuid
    call = session.find_tool_call(block.tool_use_id)
    return call.call_uuid if call else uuid


def _holds(block: AnyBlock, wanted: str) -> bool:
    match block:
        case Text():
            return wanted in block.words.casefold()
        case Thinking():
            return wanted in block.thinking.casefold()
        case ToolUse() | ServerToolUseBlock() | McpToolUse():
            return wanted in block.name.casefold() or _is_in(block.input, wanted)
        case ToolResult():
            return wanted in result_text(block).casefold()
    return False


def _is_in(value: Raw, wanted: str) -> bool:
    """Return whether a string in a JSON value contains the text."""
    waiting: list[object] = [decode_value(value, object)]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str) and wanted in each.casefold():
            return True
        if isinstance(each, dict):
            waiting += each.values()
        elif isinstance(each, list | tuple):
            waiting += each
    return False
