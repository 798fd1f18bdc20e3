"""Measure how much a turn added to the context, and what that consisted of.

Each reply records exactly how many tokens the model read and wrote; the difference between two
requests is divided among the texts in between by their size. What is left over is labelled as not
in the transcript, or as no longer sent. The parts always add up to the growth.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec
from msgspec import Struct, field, structs

from recollect.documents.kinds import ContextPartKind, InputKind
from recollect.documents.turn_documents import ContextGrowth, ContextPart
from recollect.records import attachment_kinds, blocks
from recollect.records.attachments import Attachment
from recollect.records.system_records import CompactBoundary, MicrocompactBoundary
from recollect.records.token_usage import Tokens, split_usage
from recollect.records.tools import read_tool_name
from recollect.session.messages import Message
from recollect.session.record_texts import AnyBlock, list_blocks
from recollect.session.subagents import STARTERS

Metered = Message | Attachment | CompactBoundary | MicrocompactBoundary
"""An entry that can change the context."""

Source = tuple[ContextPartKind, str]
"""The kind of a part, and its tool."""

_SIZE_PER_TOKEN: Final = 4
"""Bytes per token of English text, assumed where it cannot be derived from the growth."""
_MIN_SIZE_PER_TOKEN: Final = 1.5
"""The minimum, for dense text such as hashes. Any growth beyond that is not in the transcript."""
_MAX_SIZE_PER_TOKEN: Final = 8
"""The maximum.

A reply that exceeds it has placeholder usage: some clients recorded only the tokens of the first
chunk.
"""
_WRAPPING: Final = 40
"""Bytes for the role, the ids and the tags around a text."""
_PICTURE_SIZE: Final = 6_000
"""The tokens of an image do not depend on its bytes: nearly all images have about 1,500."""

_ATTACHMENTS: Final[Mapping[type[attachment_kinds.AttachmentKind], ContextPartKind]] = {
    attachment_kinds.Instructions: ContextPartKind.MEMORY_FILES,
    attachment_kinds.SkillListing: ContextPartKind.SKILLS,
    attachment_kinds.InvokedSkills: ContextPartKind.SKILLS,
    attachment_kinds.AgentListingDelta: ContextPartKind.CUSTOM_AGENTS,
    attachment_kinds.DeferredToolsDelta: ContextPartKind.MCP_TOOLS,
    attachment_kinds.DeferredToolsRecord: ContextPartKind.MCP_TOOLS,
    attachment_kinds.McpInstructionsDelta: ContextPartKind.MCP_TOOLS,
    attachment_kinds.EditedTextFile: ContextPartKind.FILES,
    attachment_kinds.EditedImageFile: ContextPartKind.FILES,
    attachment_kinds.OpenedFileInIde: ContextPartKind.FILES,
    attachment_kinds.PromptSnapshot: ContextPartKind.SYSTEM_PROMPT,
}
_READ_EVENTS: Final = frozenset({"SessionStart", "UserPromptSubmit"})
"""Hook events whose output the model reads."""


def measure_context(replies: Sequence[Message]) -> int:
    """Return the tokens that the model read for the last reply that recorded them, or 0."""
    requests = map(_measure_request, reversed(replies))
    return next((request.prompt for request in requests if request), 0)


def measure_turn(before: Iterable[Metered], own: Iterable[Metered]) -> "ContextMeter":
    """Return a meter at the end of a turn with its `own` entries, after those `before` it."""
    meter = ContextMeter()
    meter.add_all(before)
    meter.begin_turn()
    meter.add_all(own)
    return meter


def _measure_request(message: Message) -> Tokens | None:
    """Return the tokens of the request that `message` answers; None if they are not recorded."""
    if message.role != "assistant" or message.is_synthetic or message.usage is None:
        return None
    tokens = split_usage(message.usage)
    return tokens if tokens.prompt else None


class ContextMeter(Struct):
    """Measures what a turn adds to the context, from messages and attachments in order."""

    context: int | None = None
    """Tokens that the model read for the last request."""
    before: int | None = None
    """Tokens that the model had read at the start of the turn."""
    has_grown: bool = False
    """Whether the tokens of any request of the turn are known."""
    parts: dict[Source, ContextPart] = field(default_factory=dict)
    """Tokens that the turn added up to the last request."""
    written: list[tuple[Source, int]] = field(default_factory=list)
    """Tokens that the model wrote since then."""
    sizes: dict[Source, int] = field(default_factory=dict)
    """Sizes of the texts that were added since then."""
    is_compacted: bool = False
    tools: dict[str, str] = field(default_factory=dict)
    """The tools of calls, by id."""

    def copy(self) -> "ContextMeter":
        """Return a meter that continues from the same place."""
        return structs.replace(
            self,
            parts=dict(self.parts),
            written=list(self.written),
            sizes=dict(self.sizes),
            tools=dict(self.tools),
        )

    def begin_turn(self) -> None:
        """Reset the figures, so that they cover only the next requests."""
        self.before, self.has_grown = self.context, False
        self.parts.clear()

    def add_all(self, entries: Iterable[Metered]) -> None:
        """Add messages, attachments and compactions, in order."""
        for entry in entries:
            match entry:
                case Message(role="assistant"):
                    self._add_reply(entry)
                case Message():
                    self._add_input(entry)
                case Attachment():
                    self._add_attachment(entry)
                case _:
                    self.is_compacted = True

    @property
    def growth(self) -> ContextGrowth | None:
        """What the turn added; None if the tokens of its requests are not known."""
        if not self.has_grown or self.context is None:
            return None
        parts = [part for part in self.parts.values() if part.tokens]
        return ContextGrowth(
            tokens=self.context - (self.before or 0),
            before=self.before,
            parts=tuple(sorted(parts, key=lambda part: -abs(part.tokens))),
        )

    def _add_reply(self, message: Message) -> None:
        if message.is_synthetic:
            return
        request = _measure_request(message)
        if request is not None:
            self._divide(request.prompt)
        size = 0
        for block in message.content:
            if isinstance(block, blocks.ToolUse | blocks.ServerToolUseBlock | blocks.McpToolUse):
                self.tools[block.id] = read_tool_name(block.name).current
            if isinstance(block, blocks.ServerToolResult):
                self._add_size(self._find_tool(block.tool_use_id), len(bytes(block.content)))
            else:
                size += _measure(block)
        written = _split_output(message)
        if size <= _MAX_SIZE_PER_TOKEN * sum(tokens for _, tokens in written):
            self.written += written
        elif message.failure is None:
            self._add_size((ContextPartKind.REPLY, ""), size)

    def _add_input(self, message: Message) -> None:
        for block in message.content:
            if isinstance(block, blocks.ToolResult):
                self._add_size(self._find_tool(block.tool_use_id), _measure(block))
            else:
                self._add_size((_classify_input(message), ""), _measure(block))

    def _add_attachment(self, added: Attachment) -> None:
        kind = _classify_attachment(added.attachment)
        if kind is ContextPartKind.SYSTEM_PROMPT and self.context is not None:
            # Clients repeat this attachment, but the model does not get another copy of it.
            return
        if kind is not None:
            self._add_size((kind, ""), _measure_attachment(added))

    def _find_tool(self, call_id: str) -> Source:
        tool = self.tools.get(call_id, "")
        return (ContextPartKind.SUBAGENTS, "") if tool in STARTERS else (ContextPartKind.TOOL, tool)

    def _add_size(self, source: Source, size: int) -> None:
        self.sizes[source] = self.sizes.get(source, 0) + size + _WRAPPING

    def _divide(self, context: int) -> None:
        """Divide the growth since the last request among the texts that were added."""
        for source, tokens in self.written:
            self._add_part(source, tokens, is_estimate=False)
        rest = context - (self.context or 0) - sum(tokens for _, tokens in self.written)
        size = sum(self.sizes.values())
        is_explained = (
            self.context is not None
            and not self.is_compacted
            and 0 <= rest * _MIN_SIZE_PER_TOKEN <= size
        )
        shared = rest if is_explained else size // _SIZE_PER_TOKEN
        if self.context is None:
            shared = min(shared, max(rest, 0))
        is_estimate = not is_explained or len(self.sizes) > 1
        passed = 0
        for source, own in self.sizes.items():
            tokens = shared * (passed + own) // size - shared * passed // size
            self._add_part(source, tokens, is_estimate=is_estimate)
            passed += own
        self._add_part((self._name_rest(rest - shared), ""), rest - shared, is_estimate=shared > 0)
        self.context, self.has_grown, self.is_compacted = context, True, False
        self.written.clear()
        self.sizes.clear()

    def _name_rest(self, tokens: int) -> ContextPartKind:
        if tokens >= 0:
            return ContextPartKind.UNRECORDED
        return ContextPartKind.COMPACTION if self.is_compacted else ContextPartKind.REMOVED

    def _add_part(self, source: Source, tokens: int, *, is_estimate: bool) -> None:
        if not tokens:
            return
        known = self.parts.get(source)
        self.parts[source] = ContextPart(
            kind=source[0],
            name=source[1],
            tokens=tokens + (known.tokens if known else 0),
            is_estimate=is_estimate or (known is not None and known.is_estimate),
        )


def _split_output(message: Message) -> list[tuple[Source, int]]:
    """Return the tokens that the model wrote, with thinking separate if it was recorded."""
    if message.usage is None:
        return []
    details, written = message.usage.output_tokens_details, split_usage(message.usage).output
    thought = min(max(details.thinking_tokens, 0), written) if details else 0
    return [
        ((ContextPartKind.REPLY, ""), written - thought),
        ((ContextPartKind.THINKING, ""), thought),
    ]


def _classify_input(message: Message) -> ContextPartKind:
    match message.prompt.kind if message.prompt else None:
        case InputKind.COMPACTION_SUMMARY:
            return ContextPartKind.SUMMARY
        case InputKind.INJECTED | InputKind.WARMUP:
            return ContextPartKind.REMINDERS
        case InputKind.TASK_NOTIFICATION | InputKind.TEAMMATE:
            return ContextPartKind.SUBAGENTS
    return ContextPartKind.PROMPT


def _classify_attachment(
    body: attachment_kinds.AttachmentKind | None,
) -> ContextPartKind | None:
    """Return how an attachment counts in the context; None if the model does not read it."""
    match body:
        case None:
            return None
        case attachment_kinds.HookAdditionalContext():
            return ContextPartKind.REMINDERS
        case attachment_kinds.HookKind():
            is_read = isinstance(body, attachment_kinds.HookSuccess)
            is_read = is_read and body.hook_event in _READ_EVENTS
            return ContextPartKind.REMINDERS if is_read else None
        case attachment_kinds.FileKind() | attachment_kinds.SelectedLines():
            return ContextPartKind.FILES
    return _ATTACHMENTS.get(type(body), ContextPartKind.REMINDERS)


def _measure_attachment(added: Attachment) -> int:
    """Return the size of an attachment as the model saw it, or else as it was recorded."""
    if added.rendered:
        return sum(
            _measure(block) for each in added.rendered for block in list_blocks(each.content)
        )
    match added.attachment:
        case attachment_kinds.HookKind(content=content):
            return len(bytes(content))
        case body:
            recorded = msgspec.json.encode(body)
            return _PICTURE_SIZE if b'"base64"' in recorded else len(recorded)


def _measure(block: AnyBlock) -> int:
    """Return the size of a block in bytes, which is closer to tokens than characters are."""
    match block:
        case blocks.ToolResult():
            return sum(_measure_part(part) for part in _list_parts(block))
        case blocks.Image() | blocks.Document():
            source = block.source
            is_text = source is not None and source.type == "text"
            return _measure_text(source.data or "") if source and is_text else _PICTURE_SIZE
        case blocks.ToolUse() | blocks.ServerToolUseBlock() | blocks.McpToolUse():
            return len(bytes(block.input))
        case blocks.UnknownBlock():
            return len(bytes(block.raw))
        case blocks.Thinking():
            return _measure_text(block.thinking)
    return _measure_text(block.words) if isinstance(block, blocks.Text) else 0


def _list_parts(result: blocks.ToolResult) -> tuple[str | AnyBlock, ...]:
    content = result.content
    return (content,) if isinstance(content, str) else content or ()


def _measure_part(part: str | AnyBlock) -> int:
    return _measure_text(part) if isinstance(part, str) else _measure(part)


def _measure_text(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode(errors="surrogatepass"))
