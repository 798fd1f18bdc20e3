"""Turn the messages of a stream into records of the conversation and of each subagent.

Adds what a stream leaves out: the prompt, the parent of each record, and the timestamp that older
clients omit. A signal that no transcript contains becomes a notice or nothing. The block that the
model is writing is only shown until the complete block arrives as a message, which is what counts.

Totals of a run are the client's own. It may report several results in one run, with running totals
that include subagents and, in newer versions, the earlier usage of a resumed session. Those
versions also report the usage since the last result, and then only that is added up.
"""

from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from typing import Any, Final
from uuid import uuid4

from msgspec import Struct, structs
from msgspec.structs import replace

from recollect.documents.command_reports import RunFigures
from recollect.reader import StreamItem
from recollect.records import conversation
from recollect.records.blocks import ContentBlock, Text, Thinking, ToolUse
from recollect.records.conversation import SYNTHETIC_MODEL, Assistant, User
from recollect.records.decoding import decode_value
from recollect.records.envelope import Chain, Damaged, Oversized, Record, Torn, Unknown
from recollect.records.state import ModelUsage
from recollect.records.stream.conversion import to_record
from recollect.records.stream.messages import (
    AssistantMessage,
    ConversationMessage,
    Message,
    Result,
    UnknownMessage,
)
from recollect.records.stream.partial_messages import (
    AnyEvent,
    BlockDelta,
    ContentBlockDelta,
    ContentBlockStart,
    ContentBlockStop,
    MessageStart,
    MessageStop,
    StreamEvent,
    TextDelta,
    ThinkingDelta,
)
from recollect.records.stream.system_messages import ApiRetry, Status, TaskNotification
from recollect.records.usage import Tokens, make_tokens, split_usage


def build_figures(results: Sequence[Result], replies: int, tool_calls: int) -> RunFigures:
    """Return the totals of a run with these results; a run without any still counts as one turn."""
    durations = [each.duration_ms for each in results if each.duration_ms is not None]
    fresh = [use for each in results for use in each.model_usage_since_last_result.values()]
    return RunFigures(
        turns=max(len(results), 1),
        replies=replies,
        tool_calls=tool_calls,
        tokens=_add(map(_split, fresh)) if fresh else _read_totals(results),
        cost_usd=_add_costs(fresh) if fresh else _read_cost(results),
        duration_ms=sum(durations) if durations else None,
    )


def _read_totals(results: Sequence[Result]) -> Tokens:
    last = results[-1].model_usage if results else {}
    if last:
        return _add(map(_split, last.values()))
    return _add(split_usage(each.usage) for each in results if each.usage)


def _read_cost(results: Sequence[Result]) -> float | None:
    costs = [each.total_cost_usd for each in results if each.total_cost_usd is not None]
    return costs[-1] if costs else None


def _add_costs(used: Iterable[ModelUsage]) -> float | None:
    costs = [use.cost_usd for use in used if use.cost_usd is not None]
    return sum(costs) if costs else None


def _split(use: ModelUsage) -> Tokens:
    written = use.cache_creation_input_tokens
    hour = min(use.cache_creation_ephemeral_1h_input_tokens, written)
    return make_tokens(
        use.input_tokens,
        use.output_tokens,
        use.cache_read_input_tokens,
        written - hour,
        hour,
        use.web_search_requests,
    )


def _add(counts: Iterable[Tokens]) -> Tokens:
    rows = [structs.astuple(each) for each in counts]
    return Tokens(*map(sum, zip(*rows, strict=True)))


class PartialKind(StrEnum):
    """The kind of a partial block."""

    TEXT = "text"
    THINKING = "thinking"
    TOOL = "tool"


class PartialBlock(Struct, frozen=True):
    """A block that is not complete yet; for a tool call only the tool's name can be shown."""

    kind: PartialKind
    text: str = ""
    tool: str = ""


def extend_partial(block: PartialBlock | None, event: AnyEvent | None) -> PartialBlock | None:
    """Return `block` after `event`; None while nothing is being written."""
    match event:
        case ContentBlockStart(content_block=begun):
            return _start_block(begun)
        case ContentBlockDelta(delta=delta) if block is not None:
            return replace(block, text=block.text + _read_delta(delta, block.kind))
        case ContentBlockStop() | MessageStart() | MessageStop():
            return None
    return block


def _start_block(block: ContentBlock | None) -> PartialBlock | None:
    match block:
        case Text():
            return PartialBlock(PartialKind.TEXT, block.words)
        case Thinking(thinking=text):
            return PartialBlock(PartialKind.THINKING, text or "")
        case ToolUse(name=name):
            return PartialBlock(PartialKind.TOOL, tool=name or "")
    return None


def _read_delta(delta: BlockDelta | None, kind: PartialKind) -> str:
    match delta:
        case TextDelta(text=text) if kind is PartialKind.TEXT:
            return text
        case ThinkingDelta(thinking=text) if kind is PartialKind.THINKING:
            return text
    return ""


_AGENT_TOOLS: Final = frozenset({"Agent", "Task"})
"""Tools whose call starts a subagent."""

Clock = Callable[[], str | None]


class StreamRecord(Struct, frozen=True):
    """A record; `agent` is the call that started its subagent, None in the main conversation."""

    agent: str | None
    record: Record


class StreamNotice(Struct, frozen=True):
    """Something that the client signalled, as a sentence."""

    text: str


class Agent(Struct, frozen=True):
    """What the stream says about a subagent."""

    kind: str | None = None
    description: str | None = None


class _AgentInput(Struct, frozen=True):
    subagent_type: str | None = None
    description: str | None = None


class StreamSession:
    """The state of a stream: records so far, subagents, results and the partial block."""

    def __init__(self, clock: Clock = lambda: None) -> None:
        self._clock = clock
        self._last: dict[str | None, str | None] = {}
        self._partials: dict[str | None, PartialBlock] = {}
        self._replies: set[str] = set()
        self._calls: set[str] = set()
        self.agents: dict[str, Agent] = {}
        self.results: list[Result] = []
        self.session_id: str | None = None

    @property
    def partial(self) -> tuple[str | None, PartialBlock] | None:
        """The block being written and whose it is; the latest if there are several."""
        return next(reversed(self._partials.items()), None)

    @property
    def figures(self) -> RunFigures:
        """The totals so far."""
        return build_figures(self.results, len(self._replies), len(self._calls))

    def add_prompt(self, prompt: str) -> StreamRecord:
        """Return a record of the prompt, which the stream does not repeat."""
        message = conversation.UserMessage(role="user", content=prompt)
        return StreamRecord(None, self._link(None, User(uuid=str(uuid4()), message=message)))

    def feed(self, item: StreamItem) -> StreamRecord | StreamNotice | None:
        """Return what `item` adds to the conversation."""
        if isinstance(item, Message):
            self.session_id = item.session_id or self.session_id
        match item:
            case StreamEvent(parent_tool_use_id=agent, event=event):
                self._set_partial(agent, extend_partial(self._partials.get(agent), event))
            case Result():
                self.results.append(item)
            case ConversationMessage(parent_tool_use_id=agent):
                return self._record(agent, item)
            case UnknownMessage():
                return StreamRecord(
                    None, Unknown(span=item.span, record_type=item.kind, raw=item.raw)
                )
            case Damaged() | Oversized() | Torn():
                return StreamRecord(None, item)
            case Message():
                return self._read_signal(item)
        return None

    def _read_signal(self, message: Any) -> StreamRecord | StreamNotice | None:
        record = to_record(message)
        if record is not None:
            return StreamRecord(None, self._link(None, record))
        match message:
            case ApiRetry():
                return StreamNotice(_describe_retry(message))
            case TaskNotification(status=status, summary=summary):
                return StreamNotice(f"a task is {status or 'over'}: {summary or message.task_id}")
            case Status(status="compacting"):
                return StreamNotice("the conversation is being compacted")
        return None

    def _record(self, agent: str | None, message: Any) -> StreamRecord | None:
        if isinstance(message, AssistantMessage):
            self._partials.pop(agent, None)
        if agent is not None:
            self._update_agent(agent, message)
        record = to_record(message)
        if record is None:
            return None
        if isinstance(record, Assistant):
            self._count(record)
        return StreamRecord(agent, self._link(agent, record))

    def _set_partial(self, agent: str | None, block: PartialBlock | None) -> None:
        # Removed first, so that the block that grew last comes last.
        self._partials.pop(agent, None)
        if block is not None:
            self._partials[agent] = block

    def _update_agent(self, call: str, message: ConversationMessage) -> None:
        known = self.agents.get(call, Agent())
        self.agents[call] = Agent(
            message.subagent_type or known.kind, message.task_description or known.description
        )

    def _count(self, record: Assistant) -> None:
        message = record.message
        if message is None or message.model == SYNTHETIC_MODEL:
            return
        if message.id:
            self._replies.add(message.id)
        blocks = message.content if isinstance(message.content, tuple) else ()
        for block in blocks:
            if isinstance(block, ToolUse):
                self._calls.add(block.id)
                if block.name in _AGENT_TOOLS:
                    options = decode_value(block.input, _AgentInput) or _AgentInput()
                    self.agents[block.id] = Agent(options.subagent_type, options.description)

    def _link(self, agent: str | None, record: Record) -> Record:
        """Return `record` with the last one of its conversation as parent, and with a timestamp."""
        if not isinstance(record, Chain) or not record.uuid:
            return record
        parent, self._last[agent] = self._last.get(agent), record.uuid
        time = record.timestamp or self._clock()
        return replace(record, parent_uuid=parent, timestamp=time)


def _describe_retry(message: ApiRetry) -> str:
    status = f" with status {message.error_status}" if message.error_status is not None else ""
    attempt = f"attempt {message.attempt} of {message.max_retries}"
    return f"the request failed{status}, {attempt}: {message.error or 'no reason given'}"
