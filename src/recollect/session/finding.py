"""Find text in a session, in file order.

Searches everything that a reader can open: messages, thinking, tool inputs and results, and
notices, including those of subagents. A match is reported at the record that has an anchor in a
page: a tool result at its call, a state such as a title at its line.
"""

from collections.abc import Iterator, Sequence

from msgspec import Raw

from recollect.locations.place_names import LINE_PREFIX
from recollect.records import blocks, conversation_records, decoding, envelope
from recollect.session.messages import Message
from recollect.session.record_texts import AnyBlock, list_blocks, list_texts, result_text
from recollect.session.session import Session


def find_text(session: Session, words: str) -> tuple[str, ...]:
    """Return the uuids of the records that contain `words`, each once, ignoring case."""
    wanted = words.casefold()
    if not wanted:
        return ()
    return tuple(dict.fromkeys(_iter_places(session, wanted)))


def _iter_places(session: Session, wanted: str) -> Iterator[str]:
    started = _list_started(session)
    messages = {id(line): said for said in session.messages for line in said.records}
    for uuid, link in session.tree.links.items():
        message = messages.get(id(link))
        for block in _list_own(link, message):
            place = _place_of(session, uuid, block)
            if place and _contains_text(block, wanted):
                yield place
            if isinstance(block, blocks.ToolUse):
                for inside in started.get(block.id, ()):
                    yield from _iter_places(inside, wanted)
        if any(wanted in text.casefold() for _, text in list_texts(link)):
            yield uuid
    for state in session.states:
        if state.span and any(wanted in text.casefold() for _, text in list_texts(state)):
            yield f"{LINE_PREFIX}{state.span.offset}"


def _list_started(session: Session) -> dict[str, list[Session]]:
    """Return the subagents of a session by the id of the call that started them."""
    started: dict[str, list[Session]] = {}
    for child in session.subagents:
        if child.call is not None:
            started.setdefault(child.call.id, []).append(child.session)
    return started


def _list_own(link: envelope.Chain, message: Message | None) -> Sequence[AnyBlock]:
    """Return the blocks of a record; for a queued prompt, those of its message."""
    if isinstance(link, conversation_records.Assistant | conversation_records.User):
        return list_blocks(link.message.content if link.message else None)
    return message.content if message else ()


def _place_of(session: Session, uuid: str | None, block: AnyBlock) -> str | None:
    if not isinstance(block, blocks.ToolResult):
        return uuid
    call = session.find_tool_call(block.tool_use_id)
    return call.call_uuid if call else uuid


def _contains_text(block: AnyBlock, wanted: str) -> bool:
    match block:
        case blocks.Text():
            return wanted in block.words.casefold()
        case blocks.Thinking():
            return wanted in block.thinking.casefold()
        case blocks.ToolUse() | blocks.ServerToolUseBlock() | blocks.McpToolUse():
            return wanted in block.name.casefold() or _is_in(block.input, wanted)
        case blocks.ToolResult():
            return wanted in result_text(block).casefold()
    return False


def _is_in(value: Raw, wanted: str) -> bool:
    """Return whether a string in a JSON value contains the text."""
    waiting: list[object] = [decoding.decode_value(value, object)]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str) and wanted in each.casefold():
            return True
        if isinstance(each, dict):
            waiting += each.values()
        elif isinstance(each, list | tuple):
            waiting += each
    return False
