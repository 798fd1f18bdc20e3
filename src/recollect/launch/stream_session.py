"""Turn the messages of a stream into records of the conversation and of each subagent, and time a
replay.

Adds what a stream lacks: the prompt, the parent of each record, and the timestamp that older
clients omit. A message that transcripts do not contain becomes a notice or is ignored. The block
being written is shown until the complete block arrives as a message and replaces it.

The totals of a run are those reported by the client. It may report several results in one run, with
running totals that include subagents and, in newer versions, the earlier usage of a resumed
session. Those versions also report the usage since the last result, and then only that usage is
added up.

A replay merges a session with its subagents by timestamp and shortens long pauses; it neither waits
nor renders. Files are read while they are played, so memory does not grow with their length. Most
messages of a stream have no timestamp; pieces of a reply follow each other closely, as they did.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from heapq import merge
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, Generic, NamedTuple, TypeVar
from uuid import uuid4

from msgspec import Struct
from msgspec.structs import replace

from recollect.documents.command_reports import RunFigures
from recollect.library.opening import find_subagent_files
from recollect.library.processes import read_head
from recollect.locations import Transcript, TranscriptKind
from recollect.reader.stream_reader import StreamItem, read_stream
from recollect.reader.transcript_reader import read_transcript
from recollect.records import conversation_records
from recollect.records.blocks import ContentBlock, Text, Thinking, ToolUse
from recollect.records.conversation_records import SYNTHETIC_MODEL, Assistant, User
from recollect.records.decoding import decode_value
from recollect.records.envelope import Chain, Damaged, Oversized, Record, Torn, Unknown
from recollect.records.state import ModelUsage
from recollect.records.stream import partial_messages, stream_messages
from recollect.records.stream.conversion import to_record
from recollect.records.stream.message_decoding import looks_like_stream, looks_like_transcript
from recollect.records.stream.system_messages import ApiRetry, Status, TaskNotification
from recollect.records.token_usage import Tokens, make_tokens, split_usage, sum_tokens
from recollect.session.times import parse_time


def build_figures(
    results: Sequence[stream_messages.Result],
    replies: int,
    tool_calls: int,
    starts: Sequence[int] = (),
) -> RunFigures:
    """Return the totals of a run with these results; without results it counts as one turn.

    `starts` are the numbers of results that there were when each client was started.
    """
    durations = [each.duration_ms for each in results if each.duration_ms is not None]
    fresh = [use for each in results for use in each.model_usage_since_last_result.values()]
    return RunFigures(
        turns=max(len(results), 1),
        replies=replies,
        tool_calls=tool_calls,
        tokens=sum_tokens(map(_split, fresh)) if fresh else _read_totals(results, starts),
        cost_usd=_add_costs(fresh) if fresh else _read_cost(results, starts),
        duration_ms=sum(durations) if durations else None,
    )


def _iter_clients(
    results: Sequence[stream_messages.Result], starts: Sequence[int]
) -> Iterator[Sequence[stream_messages.Result]]:
    """Yield the results of each client, because each starts its totals from zero."""
    for start, end in pairwise((0, *starts, len(results))):
        yield results[start:end]


def _read_totals(results: Sequence[stream_messages.Result], starts: Sequence[int]) -> Tokens:
    lasts = [own[-1].model_usage for own in _iter_clients(results, starts) if own]
    if any(lasts):
        return sum_tokens(_split(use) for last in lasts for use in last.values())
    return sum_tokens(split_usage(each.usage) for each in results if each.usage)


def _read_cost(results: Sequence[stream_messages.Result], starts: Sequence[int]) -> float | None:
    totals = [
        [each.total_cost_usd for each in own if each.total_cost_usd is not None]
        for own in _iter_clients(results, starts)
    ]
    known = [own[-1] for own in totals if own]
    return sum(known) if known else None


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


class PartialKind(StrEnum):
    """The kind of a partial block."""

    TEXT = "text"
    THINKING = "thinking"
    TOOL = "tool"


class PartialBlock(Struct, frozen=True):
    """A block that is not complete yet; of a tool call only the name of the tool is shown."""

    kind: PartialKind
    text: str = ""
    tool: str = ""


def extend_partial(
    block: PartialBlock | None, event: partial_messages.AnyEvent | None
) -> PartialBlock | None:
    """Return `block` updated by `event`; None while no block is being written."""
    match event:
        case partial_messages.ContentBlockStart(content_block=begun):
            return _start_block(begun)
        case partial_messages.ContentBlockDelta(delta=delta) if block is not None:
            return replace(block, text=block.text + _read_delta(delta, block.kind))
        case (
            partial_messages.ContentBlockStop()
            | partial_messages.MessageStart()
            | partial_messages.MessageStop()
        ):
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


def _read_delta(delta: partial_messages.BlockDelta | None, kind: PartialKind) -> str:
    match delta:
        case partial_messages.TextDelta(text=text) if kind is PartialKind.TEXT:
            return text
        case partial_messages.ThinkingDelta(thinking=text) if kind is PartialKind.THINKING:
            return text
    return ""


_AGENT_TOOLS: Final = frozenset({"Agent", "Task"})
"""Tools that start a subagent."""

Clock = Callable[[], str | None]


class StreamRecord(Struct, frozen=True):
    """A record; `agent` is the call that started its subagent, None in the main conversation."""

    agent: str | None
    record: Record


class StreamNotice(Struct, frozen=True):
    """A message of the client, worded as a sentence."""

    text: str


class Agent(Struct, frozen=True):
    """A subagent as the stream describes it."""

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
        self.results: list[stream_messages.Result] = []
        self._starts: list[int] = []
        self.session_id: str | None = None

    @property
    def partial(self) -> tuple[str | None, PartialBlock] | None:
        """Return the block being written and its subagent; the latest if there are several."""
        return next(reversed(self._partials.items()), None)

    @property
    def figures(self) -> RunFigures:
        """Return the totals so far."""
        return build_figures(self.results, len(self._replies), len(self._calls), self._starts)

    def start_client(self) -> None:
        """Record that another client continues the conversation."""
        self._starts.append(len(self.results))

    def add_prompt(self, prompt: str) -> StreamRecord:
        """Add the prompt, which the stream does not repeat, and return its record."""
        message = conversation_records.UserMessage(role="user", content=prompt)
        return StreamRecord(None, self._link(None, User(uuid=str(uuid4()), message=message)))

    def feed(self, item: StreamItem) -> StreamRecord | StreamNotice | None:
        """Add `item` to the conversation, and return what it adds."""
        if isinstance(item, stream_messages.Message):
            self.session_id = item.session_id or self.session_id
        match item:
            case partial_messages.StreamEvent(parent_tool_use_id=agent, event=event):
                self._set_partial(agent, extend_partial(self._partials.get(agent), event))
            case stream_messages.Result():
                self.results.append(item)
            case stream_messages.ConversationMessage(parent_tool_use_id=agent):
                return self._record(agent, item)
            case stream_messages.UnknownMessage():
                return StreamRecord(
                    None, Unknown(span=item.span, record_type=item.kind, raw=item.raw)
                )
            case Damaged() | Oversized() | Torn():
                return StreamRecord(None, item)
            case stream_messages.Message():
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
                return StreamNotice(f"a task {status or 'ended'}: {summary or message.task_id}")
            case Status(status="compacting"):
                return StreamNotice("the conversation is being compacted")
        return None

    def _record(self, agent: str | None, message: Any) -> StreamRecord | None:
        if isinstance(message, stream_messages.AssistantMessage):
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

    def _update_agent(self, call: str, message: stream_messages.ConversationMessage) -> None:
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


MAX_PAUSE: Final = 5.0
"""Maximum pause in seconds, because sessions may be idle for hours and resumed after days."""

PIECE_SECONDS: Final = 0.02
MESSAGE_SECONDS: Final = 0.3
_HEAD: Final = 256 * 1024
_FIRST_LINES: Final = 20
_NO_TIME: Final = datetime.min.replace(tzinfo=UTC)

T = TypeVar("T")


class TimedItem(NamedTuple, Generic[T]):
    """An item with its time or, if that is unknown, the delay after the item before it."""

    moment: datetime | None
    gap: float
    item: T


class ReplayItem(NamedTuple):
    """A record and its transcript."""

    transcript: Transcript
    record: Record


def iter_paced(timed: Iterable[TimedItem[T]], speed: float) -> Iterator[tuple[float, T]]:
    """Yield each item with the seconds to wait before it, at `speed` times the original speed."""
    at: datetime | None = None
    spent = 0.0
    for moment, gap, item in timed:
        wait = gap
        if moment is None:
            spent += gap
        else:
            wait = max((moment - at).total_seconds() - spent, 0.0) if at else 0.0
            at, spent = max(at or moment, moment), 0.0
        yield min(wait, MAX_PAUSE) / speed, item


def is_stream_file(path: Path) -> bool:
    """Return whether the file at `path` is a saved stream rather than a transcript."""
    lines = (read_head(path, _HEAD) or b"").split(b"\n", _FIRST_LINES)
    first = lines[:_FIRST_LINES]
    return any(map(looks_like_stream, first)) and not any(map(looks_like_transcript, first))


def iter_session(transcript: Transcript) -> Iterator[TimedItem[ReplayItem]]:
    """Yield the records of a session and of its subagents in the order they happened."""
    children: Sequence[Transcript] = ()
    if transcript.kind is TranscriptKind.SESSION:
        children = find_subagent_files(transcript.project_dir, transcript.name)
    files = [_iter_file(each) for each in (transcript, *children)]
    # Only times are compared: at equal times, the session's own record comes first.
    for moment, played in merge(*files, key=lambda pair: pair[0]):
        yield TimedItem(None if moment == _NO_TIME else moment, 0.0, played)


def iter_stream(path: Path) -> Iterator[TimedItem[StreamItem]]:
    """Yield the messages of a saved stream."""
    for item in read_stream(path):
        match item:
            case stream_messages.ConversationMessage(timestamp=time):
                yield TimedItem(parse_time(time), MESSAGE_SECONDS, item)
            case partial_messages.StreamEvent(event=partial_messages.ContentBlockDelta()):
                yield TimedItem(None, PIECE_SECONDS, item)
            case _:
                yield TimedItem(None, 0.0, item)


def _iter_file(transcript: Transcript) -> Iterator[tuple[datetime, ReplayItem]]:
    """Yield records with times that never decrease, because a file is played in its own order."""
    at = _NO_TIME
    for record in read_transcript(transcript.path):
        moment = parse_time(record.timestamp) if isinstance(record, Chain) else None
        at = max(at, moment or at)
        yield at, ReplayItem(transcript, record)
