"""Lines of the model's answers → steps: words, thoughts, calls of tools, failures.

Each line is shown where it stands in the file: results and hooks may lie between two lines of one
message.
"""

from collections.abc import Iterator

from recollect.records.blocks import (
    ContentBlock,
    McpToolUse,
    RedactedThinking,
    ServerToolResult,
    ServerToolUseBlock,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
)
from recollect.records.conversation import Assistant
from recollect.records.tools import split_mcp_name
from recollect.render.views.blocks import show_blocks
from recollect.render.views.conversation import Called, Noted, NoticeKind, Said, Step, Thought
from recollect.render.views.inputs import ORPHAN_TITLE
from recollect.render.views.parts import Part
from recollect.render.views.tools import describe_call
from recollect.render.views.values import show_fields, show_plain, show_value
from recollect.render.views.words import take_line
from recollect.session.content import list_blocks
from recollect.session.messages import Message
from recollect.session.session import Session, Subagent
from recollect.session.tool_calls import ToolCall

_STOPS = {
    "max_tokens": "The answer was cut at its length limit",
    "model_context_window_exceeded": "The context window was full",
    "refusal": "The model refused to go on",
}


class Replies:
    """Shows the answers of one session."""

    def __init__(
        self, session: Session, subagents: dict[str, tuple[Subagent, ...]], orphans: frozenset[str]
    ) -> None:
        self._session = session
        self._subagents = subagents
        self._orphans = orphans
        self._kept: dict[int, set[int]] = {}

    def show(self, line: Assistant, message: Message) -> Iterator[Step]:
        """The steps of one line of `message`."""
        if message.failure is not None:
            if line is message.records[0]:
                yield _note_failure(line, message)
            return
        if message.is_visible or not message.is_synthetic:
            for block in self._own_blocks(line, message):
                yield from self._show_block(block, line, message)
        if line is message.records[-1] and message.stop_reason in _STOPS:
            yield _note(line, NoticeKind.INFORMATION, _STOPS[message.stop_reason], ())

    def _own_blocks(self, line: Assistant, message: Message) -> Iterator[ContentBlock]:
        """The blocks of `line` that its message took over: a line written again adds nothing."""
        kept = self._kept.get(id(message))
        if kept is None:
            kept = self._kept[id(message)] = {id(block) for block in message.content}
        for block in list_blocks(line.message.content if line.message else None):
            # Bare strings become blocks anew each time they are listed, and are never copies.
            if id(block) in kept or isinstance(block, Text):
                yield block

    def _show_block(self, block: ContentBlock, line: Assistant, message: Message) -> Iterator[Step]:
        match block:
            case Thinking(thinking=text):
                yield _make_thought(line, message, text)
            case RedactedThinking():
                yield _make_thought(line, message, "")
            case ToolUse() | ServerToolUseBlock() | McpToolUse():
                call = self._session.find_tool_call(block.id)
                if call is not None:
                    yield self._make_called(call, line, message, block)
            case ServerToolResult():
                if block.tool_use_id in self._orphans:
                    answer = show_value(block.content)
                    yield _note(line, NoticeKind.INFORMATION, ORPHAN_TITLE, answer)
            case _:
                parts = _show_said(block)
                if parts:
                    yield _make_said(line, message, parts)

    def _make_called(
        self,
        call: ToolCall,
        line: Assistant,
        message: Message,
        block: ToolUse | ServerToolUseBlock | McpToolUse,
    ) -> Called:
        view = describe_call(call)
        mcp_name = split_mcp_name(call.recorded_name)
        server = block.server_name if isinstance(block, McpToolUse) else None
        return Called(
            uuid=line.uuid,
            message_id=message.id,
            call_id=call.id,
            tool=mcp_name[1] if mcp_name else call.name,
            mcp_server=mcp_name[0] if mcp_name else server,
            title=view.title,
            summary=view.summary,
            status=call.status,
            rejected_by=call.rejected_by,
            is_lost=call.is_lost,
            duration_ms=call.duration_ms,
            timestamp=line.timestamp,
            input=view.input,
            output=view.output,
            subagents=self._subagents.get(call.id, ()),
            result_uuid=call.result_uuid,
        )


def _show_said(block: ContentBlock) -> tuple[Part, ...]:
    """What a block says; a result that somebody put into an answer is shown as it is."""
    if isinstance(block, ToolResult):
        return () if block.content is None else show_blocks(_list_result(block))
    return show_blocks((block,), as_prose=True)


def _list_result(block: ToolResult) -> tuple[str | ContentBlock, ...]:
    return (block.content,) if isinstance(block.content, str) else block.content or ()


def _make_said(line: Assistant, message: Message, parts: tuple[Part, ...]) -> Said:
    return Said(
        uuid=line.uuid,
        message_id=message.id,
        role=message.role,
        parts=parts,
        model=message.model,
        timestamp=line.timestamp,
    )


def _make_thought(line: Assistant, message: Message, text: str) -> Thought:
    return Thought(uuid=line.uuid, message_id=message.id, text=text, timestamp=line.timestamp)


def _note_failure(line: Assistant, message: Message) -> Noted:
    failure = message.failure
    text = failure.text if failure else ""
    title = take_line(text)
    facts = show_fields(
        ("error", failure.error if failure else None),
        ("status", failure.status if failure else None),
    )
    more = () if title == text.strip() else show_plain(text)
    return _note(line, NoticeKind.API_ERROR, title or "The request failed", (*more, *facts))


def _note(line: Assistant, kind: NoticeKind, title: str, parts: tuple[Part, ...]) -> Noted:
    return Noted(uuid=line.uuid, kind=kind, title=title, parts=parts, timestamp=line.timestamp)
