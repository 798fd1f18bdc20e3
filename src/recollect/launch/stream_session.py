"""The messages of a stream → records of the main conversation and of each subagent, as they come.

Knows what a stream leaves out and puts it in: the prompt, the order of what was said (each record
follows the one before it), and the time where older clients tell none. What a client only signals,
and no transcript holds, becomes a note in words or nothing at all.
"""

from collections.abc import Callable
from typing import Any, Final
from uuid import uuid4

from msgspec import Struct
from msgspec.structs import replace

from recollect.launch.figures import RunFigures, build_figures
from recollect.launch.growing import Growing, grow
from recollect.reader import StreamItem
from recollect.records import conversation
from recollect.records.blocks import ToolUse
from recollect.records.conversation import SYNTHETIC_MODEL, Assistant, User
from recollect.records.decoding import decode_value
from recollect.records.envelope import Chain, Record
from recollect.records.irregular import Damaged, Oversized, Torn, Unknown
from recollect.records.stream.conversation import AssistantMessage, ConversationMessage
from recollect.records.stream.conversion import to_record
from recollect.records.stream.envelope import Message, UnknownMessage
from recollect.records.stream.events import StreamEvent
from recollect.records.stream.result import Result
from recollect.records.stream.system import ApiRetry, Status
from recollect.records.stream.tasks import TaskNotification

_STARTING: Final = frozenset({"Agent", "Task"})
"""Tools whose call starts a subagent."""

Clock = Callable[[], str | None]


class Recorded(Struct, frozen=True):
    """A record; `agent` is the call that started the subagent it belongs to, None for nobody's."""

    agent: str | None
    record: Record


class Noticed(Struct, frozen=True):
    """Something that the client signalled, in words."""

    text: str


class Agent(Struct, frozen=True):
    """What the stream tells of a subagent."""

    kind: str | None = None
    description: str | None = None


class _AgentInput(Struct, frozen=True):
    subagent_type: str | None = None
    description: str | None = None


class StreamSession:
    """What a client has told so far."""

    def __init__(self, clock: Clock = lambda: None) -> None:
        self._clock = clock
        self._last: dict[str | None, str | None] = {}
        self._growing: dict[str | None, Growing] = {}
        self._replies: set[str] = set()
        self._calls: set[str] = set()
        self.agents: dict[str, Agent] = {}
        self.results: list[Result] = []
        self.session_id: str | None = None

    @property
    def growing(self) -> tuple[str | None, Growing] | None:
        """Whose block is being written, and the block; the latest if there are several."""
        return next(reversed(self._growing.items()), None)

    @property
    def figures(self) -> RunFigures:
        """What it took so far."""
        return build_figures(self.results, len(self._replies), len(self._calls))

    def open(self, prompt: str) -> Recorded:
        """The record of the prompt, which the stream does not repeat."""
        said = conversation.UserMessage(role="user", content=prompt)
        return Recorded(None, self._link(None, User(uuid=str(uuid4()), message=said)))

    def hear(self, item: StreamItem) -> Recorded | Noticed | None:
        """What `item` adds to the conversation."""
        if isinstance(item, Message):
            self.session_id = item.session_id or self.session_id
        match item:
            case StreamEvent(parent_tool_use_id=agent, event=event):
                self._grow(agent, grow(self._growing.get(agent), event))
            case Result():
                self.results.append(item)
            case ConversationMessage(parent_tool_use_id=agent):
                return self._record(agent, item)
            case UnknownMessage():
                return Recorded(None, Unknown(span=item.span, record_type=item.kind, raw=item.raw))
            case Damaged() | Oversized() | Torn():
                return Recorded(None, item)
            case Message():
                return self._hear_signal(item)
        return None

    def _hear_signal(self, message: Any) -> Recorded | Noticed | None:  # noqa: ANN401 - any message
        record = to_record(message)
        if record is not None:
            return Recorded(None, self._link(None, record))
        match message:
            case ApiRetry():
                return Noticed(_describe_retry(message))
            case TaskNotification(status=status, summary=summary):
                return Noticed(f"a task is {status or 'over'}: {summary or message.task_id}")
            case Status(status="compacting"):
                return Noticed("the conversation is being compacted")
        return None

    def _record(self, agent: str | None, message: Any) -> Recorded | None:  # noqa: ANN401
        if isinstance(message, AssistantMessage):
            self._growing.pop(agent, None)
        if agent is not None:
            self._note_agent(agent, message)
        record = to_record(message)
        if record is None:
            return None
        if isinstance(record, Assistant):
            self._count(record)
        return Recorded(agent, self._link(agent, record))

    def _grow(self, agent: str | None, block: Growing | None) -> None:
        # Taken out first, so that what grew last stands last.
        self._growing.pop(agent, None)
        if block is not None:
            self._growing[agent] = block

    def _note_agent(self, call: str, message: ConversationMessage) -> None:
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
                if block.name in _STARTING:
                    asked = decode_value(block.input, _AgentInput) or _AgentInput()
                    self.agents[block.id] = Agent(asked.subagent_type, asked.description)

    def _link(self, agent: str | None, record: Record) -> Record:
        """`record` behind the last one of the same conversation, at its time or else now."""
        if not isinstance(record, Chain) or not record.uuid:
            return record
        above, self._last[agent] = self._last.get(agent), record.uuid
        time = record.timestamp or self._clock()
        return replace(record, parent_uuid=above, timestamp=time)


def _describe_retry(message: ApiRetry) -> str:
    status = f" with status {message.error_status}" if message.error_status is not None else ""
    attempt = f"attempt {message.attempt} of {message.max_retries}"
    return f"the request failed{status}, {attempt}: {message.error or 'no reason given'}"
