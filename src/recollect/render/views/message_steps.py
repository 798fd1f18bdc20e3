"""Steps from the records of a turn: text, thinking, tool calls, failures, and contexts.

Tool results are shown with their calls, never as something the user said; this module only shows
other content of the same record. Each line of a reply is shown at its position in the file, because
results and hooks may be between two lines of one message. Attachments with files, selections and
folders become the same contexts that prompts have.
"""

from collections.abc import Callable, Mapping, Sequence

from msgspec.structs import replace

from recollect.documents import turn_documents
from recollect.documents.kinds import Context, ContextKind, InputKind, SubagentOutcome
from recollect.records import attachment_kinds, attachments, blocks, conversation_records
from recollect.render.views import notices, part_builders, task_reports
from recollect.render.views.timeline import Timeline
from recollect.render.views.tools import describe_call
from recollect.session import messages, prompt_contexts, prompts, record_texts, tool_calls
from recollect.session.session import Session
from recollect.session.subagents import Subagent


def read_context(record: attachments.Attachment) -> Context | None:
    """Return the context in an attachment; None for other attachments."""
    match record.attachment:
        case attachment_kinds.Directory() as folder:
            return _make_context(ContextKind.FOLDER, folder)
        case attachment_kinds.FileKind() as file:
            return _make_context(ContextKind.FILE, file)
        case attachment_kinds.OpenedFileInIde(filename=path):
            return Context(ContextKind.IDE_OPENED_FILE, path or "", path)
        case attachment_kinds.SelectedLines() as lines:
            return Context(
                ContextKind.IDE_SELECTION,
                lines.content or "",
                lines.filename or lines.display_path,
                lines.line_start,
                lines.line_end,
            )
    return None


def _make_context(kind: ContextKind, file: attachment_kinds.FileKind) -> Context:
    shown = file.display_path or file.filename or ""
    return Context(kind, shown, file.filename or file.display_path)


ORPHAN_TITLE = "Result of a call that is not in this file"
_OUTPUTS = frozenset({InputKind.COMMAND_OUTPUT, InputKind.SHELL_OUTPUT})


def show_input(
    message: messages.Message, orphans: frozenset[str]
) -> tuple[turn_documents.Step, ...]:
    """Return the steps of a user record that did not open a turn.

    `orphans` are calls that have a result here but were made elsewhere.
    """
    prompt = message.prompt or prompts.Prompt(InputKind.TYPED, message.text)
    if prompt.kind is InputKind.TOOL_RESULT:
        return (*_show_orphans(message, orphans), *_show_beside(message))
    if prompt.kind in _OUTPUTS:
        return (notices.make_output_notice(_uuid_of(message), message.text, message.timestamp),)
    if prompt.kind is InputKind.INTERRUPTION:
        return (
            _make_input_notice(
                message, turn_documents.NoticeKind.INTERRUPTION, message.text.strip().strip("[]")
            ),
        )
    if prompt.kind is InputKind.UNSENT:
        parts = (*show_words(prompt), *show_media(message.content))
        return (
            _make_input_notice(
                message, turn_documents.NoticeKind.INFORMATION, "Queued prompt, not sent", parts
            ),
        )
    if prompt.kind in notices.HIDDEN_INPUTS:
        media = show_media(message.content)
        noted = _make_input_notice(
            message,
            turn_documents.NoticeKind.INFORMATION,
            "For the model",
            (*show_words(prompt), *media),
        )
        return (replace(noted, is_routine=not media),) if noted.parts else ()
    parts = (*show_words(prompt), *show_media(message.content))
    return (make_text_step(message, parts),) if parts else ()


def show_words(prompt: prompts.Prompt) -> tuple[turn_documents.Part, ...]:
    """Return the parts of a prompt's text, by its kind."""
    match prompt.kind:
        case InputKind.COMMAND:
            return part_builders.show_plain(name_command(prompt))
        case InputKind.SHELL:
            return (turn_documents.Code(prompt.words, language="bash"),) if prompt.words else ()
        case InputKind.TASK_NOTIFICATION:
            return task_reports.show_notification(prompt.words)
    return part_builders.show_prose(prompt.words)


def name_command(prompt: prompts.Prompt) -> str:
    """Return the command line of a command."""
    command = prompt.command
    return f"{command.name} {command.arguments}".rstrip() if command else prompt.words


def show_media(content: tuple[blocks.ContentBlock, ...]) -> tuple[turn_documents.Part, ...]:
    """Return the images, documents and unknown blocks in `content`."""
    return part_builders.show_blocks(
        block for block in content if not isinstance(block, blocks.Text | blocks.ToolResult)
    )


def _show_beside(message: messages.Message) -> tuple[turn_documents.Step, ...]:
    """Return what else a record with results contains: text, an interruption, images."""
    steps: list[turn_documents.Step] = []
    for block in message.content:
        words = (
            prompt_contexts.separate_words(block.words)[0] if isinstance(block, blocks.Text) else ""
        )
        if words.startswith(prompts.INTERRUPTION_MARKS):
            steps.append(
                _make_input_notice(
                    message, turn_documents.NoticeKind.INTERRUPTION, words.strip("[]")
                )
            )
        elif words:
            steps.append(make_text_step(message, part_builders.show_prose(words)))
    media = show_media(message.content)
    return (*steps, make_text_step(message, media)) if media else tuple(steps)


def _show_orphans(
    message: messages.Message, orphans: frozenset[str]
) -> tuple[turn_documents.Step, ...]:
    return tuple(
        _make_input_notice(
            message, turn_documents.NoticeKind.INFORMATION, ORPHAN_TITLE, _show_result(block)
        )
        for block in message.content
        if isinstance(block, blocks.ToolResult) and block.tool_use_id in orphans
    )


def _show_result(block: blocks.ToolResult) -> tuple[turn_documents.Part, ...]:
    if isinstance(block.content, tuple):
        return part_builders.show_blocks(block.content)
    text = record_texts.result_text(block)
    return (turn_documents.Output(text, is_error=bool(block.is_error)),) if text.strip() else ()


def make_text_step(
    message: messages.Message, parts: tuple[turn_documents.Part, ...], *, is_opener: bool = False
) -> turn_documents.TextStep:
    """Return the text of a user record; if it opened its turn, links to it point to the turn."""
    prompt = message.prompt
    return turn_documents.TextStep(
        uuid=None if is_opener else _uuid_of(message),
        message_id=message.id,
        role="user",
        parts=parts,
        timestamp=message.timestamp,
        contexts=prompt.contexts if prompt else (),
        # Text beside a result is not part of the result.
        kind=prompt.kind if prompt and prompt.kind is not InputKind.TOOL_RESULT else None,
    )


def _make_input_notice(
    message: messages.Message,
    kind: turn_documents.NoticeKind,
    title: str,
    parts: tuple[turn_documents.Part, ...] = (),
) -> turn_documents.NoticeStep:
    return turn_documents.NoticeStep(
        uuid=_uuid_of(message), kind=kind, title=title, parts=parts, timestamp=message.timestamp
    )


def _uuid_of(message: messages.Message) -> str | None:
    return message.records[0].uuid


_STOPS = {
    "max_tokens": "The reply was cut off at its length limit",
    "model_context_window_exceeded": "The context window was full",
    "refusal": "The model refused to continue",
}


class CallSteps:
    """Cached steps of tool calls, for sessions that grow while they are shown."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[object, turn_documents.ToolStep]] = {}

    def make(
        self, call_id: str, made_of: object, make: Callable[[], turn_documents.ToolStep]
    ) -> turn_documents.ToolStep:
        """Return the cached step of a call if its data is unchanged, or else make a new one."""
        known = self._known.get(call_id)
        if known is None or known[0] != made_of:
            known = self._known[call_id] = (made_of, make())
        return known[1]


class Replies:
    """Renders the replies of one session as steps."""

    def __init__(
        self,
        timeline: Timeline,
        hooks: Callable[[str], tuple[turn_documents.NoticeStep, ...]],
        calls: CallSteps | None = None,
    ) -> None:
        self._timeline = timeline
        self._hooks = hooks
        self._calls = calls
        self._kept: dict[int, set[int]] = {}

    def show(
        self, line: conversation_records.Assistant, message: messages.Message
    ) -> list[turn_documents.Step]:
        """Return the steps of one line of `message`."""
        if message.failure is not None:
            return [_make_failure_notice(line, message)] if line is message.records[0] else []
        steps: list[turn_documents.Step] = []
        if message.is_visible or not message.is_synthetic:
            for block in self._own_blocks(line, message):
                step = self._show_block(block, line, message)
                if step is not None:
                    steps.append(step)
        if line is message.records[-1] and message.stop_reason in _STOPS:
            title = _STOPS[message.stop_reason]
            steps.append(_make_reply_notice(line, turn_documents.NoticeKind.INFORMATION, title, ()))
        return steps

    def _own_blocks(
        self, line: conversation_records.Assistant, message: messages.Message
    ) -> Sequence[blocks.ContentBlock]:
        """Return the blocks of `line` that its message uses: a repeated line adds nothing."""
        own = record_texts.list_blocks(line.message.content if line.message else None)
        if len(message.records) == 1 and len(own) == len(message.content):
            return own
        kept = self._kept.get(id(message))
        if kept is None:
            kept = self._kept[id(message)] = {id(block) for block in message.content}
        # A bare string becomes a new block each time it is listed, and is never a copy.
        return [block for block in own if id(block) in kept or isinstance(block, blocks.Text)]

    def _show_block(
        self,
        block: blocks.ContentBlock,
        line: conversation_records.Assistant,
        message: messages.Message,
    ) -> turn_documents.Step | None:
        match block:
            case blocks.Thinking(thinking=text):
                return _make_thinking_step(line, message, text)
            case blocks.RedactedThinking():
                return _make_thinking_step(line, message, "")
            case blocks.ToolUse() | blocks.ServerToolUseBlock() | blocks.McpToolUse():
                call = self._timeline.contents.calls.get(block.id)
                return None if call is None else self._make_called(call, line, message, block)
            case blocks.ServerToolResult():
                if block.tool_use_id not in self._timeline.orphans:
                    return None
                answer = part_builders.show_value(block.content)
                return _make_reply_notice(
                    line, turn_documents.NoticeKind.INFORMATION, ORPHAN_TITLE, answer
                )
        parts = _show_text(block)
        return _make_text_step(line, message, parts) if parts else None

    def _make_called(
        self,
        call: tool_calls.ToolCall,
        line: conversation_records.Assistant,
        message: messages.Message,
        block: blocks.ToolUse | blocks.ServerToolUseBlock | blocks.McpToolUse,
    ) -> turn_documents.ToolStep:
        children = self._timeline.subagents.get(call.id, ())
        subagents = tuple(refer_to(child, self._timeline.outcomes) for child in children)
        server = block.server_name if isinstance(block, blocks.McpToolUse) else None
        hooks = self._hooks(call.id)
        if self._calls is None:
            return _make_tool_step(call, line, message.id, server, subagents, hooks)
        return self._calls.make(
            call.id,
            (call, line.uuid, line.timestamp, message.id, server, subagents, hooks),
            lambda: _make_tool_step(call, line, message.id, server, subagents, hooks),
        )


def _make_tool_step(
    call: tool_calls.ToolCall,
    line: conversation_records.Assistant,
    message_id: str,
    server: str | None,
    subagents: tuple[turn_documents.SubagentReference, ...],
    hooks: tuple[turn_documents.NoticeStep, ...],
) -> turn_documents.ToolStep:
    view = describe_call(call)
    return turn_documents.ToolStep(
        uuid=line.uuid,
        message_id=message_id,
        call_id=call.id,
        tool=call.mcp_tool or call.name,
        mcp_server=call.mcp_server or server,
        title=view.title,
        summary=view.summary,
        status=call.status,
        rejected_by=call.rejected_by,
        is_lost=call.is_lost,
        duration_ms=call.duration_ms,
        timestamp=line.timestamp,
        input=view.input,
        output=view.output,
        subagents=subagents,
        result_uuid=call.result_uuid,
        description=view.description,
        hooks=hooks,
    )


def refer_to(
    subagent: Subagent, outcomes: Mapping[str, SubagentOutcome]
) -> turn_documents.SubagentReference:
    """Return the reference to a subagent; `outcomes` are the reported ones."""
    return turn_documents.SubagentReference(
        agent_id=subagent.agent_id,
        kind=subagent.kind,
        agent_type=subagent.agent_type,
        description=subagent.description,
        turn_count=len(subagent.session.turns),
        tool_calls=len(subagent.session.tool_calls),
        tokens=subagent.session.metrics.tokens.total,
        duration_ms=subagent.session.metrics.duration_ms,
        model=_find_model(subagent.session),
        outcome=task_reports.find_outcome(subagent, outcomes),
    )


def _find_model(session: Session) -> str | None:
    replies = (said for said in reversed(session.messages) if not said.is_synthetic)
    return next((said.model for said in replies if said.model), None)


def _show_text(block: blocks.ContentBlock) -> tuple[turn_documents.Part, ...]:
    """Return the text of a block; a result inside a reply is shown as it is."""
    if isinstance(block, blocks.ToolResult):
        return () if block.content is None else part_builders.show_blocks(_list_result(block))
    return part_builders.show_blocks((block,), as_prose=True)


def _list_result(block: blocks.ToolResult) -> tuple[str | blocks.ContentBlock, ...]:
    return (block.content,) if isinstance(block.content, str) else block.content or ()


def _make_text_step(
    line: conversation_records.Assistant,
    message: messages.Message,
    parts: tuple[turn_documents.Part, ...],
) -> turn_documents.TextStep:
    return turn_documents.TextStep(
        uuid=line.uuid,
        message_id=message.id,
        role=message.role,
        parts=parts,
        model=message.model,
        timestamp=line.timestamp,
    )


def _make_thinking_step(
    line: conversation_records.Assistant, message: messages.Message, text: str
) -> turn_documents.ThinkingStep:
    return turn_documents.ThinkingStep(
        uuid=line.uuid, message_id=message.id, text=text, timestamp=line.timestamp
    )


def _make_failure_notice(
    line: conversation_records.Assistant, message: messages.Message
) -> turn_documents.NoticeStep:
    failure = message.failure
    text = failure.text if failure else ""
    title = part_builders.take_line(text)
    facts = part_builders.show_fields(
        ("error", failure.error if failure else None),
        ("status", failure.status if failure else None),
    )
    more = () if title == text.strip() else part_builders.show_plain(text)
    return _make_reply_notice(
        line, turn_documents.NoticeKind.API_ERROR, title or "The request failed", (*more, *facts)
    )


def _make_reply_notice(
    line: conversation_records.Assistant,
    kind: turn_documents.NoticeKind,
    title: str,
    parts: tuple[turn_documents.Part, ...],
) -> turn_documents.NoticeStep:
    return turn_documents.NoticeStep(
        uuid=line.uuid, kind=kind, title=title, parts=parts, timestamp=line.timestamp
    )
