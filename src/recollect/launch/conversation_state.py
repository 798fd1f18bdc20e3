"""The state of a conversation: takes the client's messages and returns events.

Interprets each message for status, queue, open requests and records, and does no input or output. A
prompt becomes a record when the client picks it up; several messages can show that, depending on
the version, and the first one counts. Records are published once, although the client repeats some.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from msgspec import Struct

from recollect.errors import NothingFound, UsageError
from recollect.launch import conversation_events
from recollect.launch import conversation_events as events
from recollect.launch.client_process import StderrLine, StdoutMessage
from recollect.launch.stream_session import StreamNotice, StreamRecord, StreamSession
from recollect.reader.line_blocks import NOWHERE, mask_line
from recollect.reader.stream_reader import StreamItem
from recollect.records.blocks import ContentBlock, Text, Thinking, ToolUse
from recollect.records.conversation_records import Assistant
from recollect.records.envelope import Blank, Chain, Damaged, Oversized, Torn
from recollect.records.stream import partial_messages as partial
from recollect.records.stream import stream_messages, system_messages
from recollect.records.stream.message_decoding import decode_message

MAX_TEXT: Final = 10_000
"""Maximum number of characters to keep of a line that is not a message."""

MAX_SETTLED: Final = 1000
"""Maximum number of settled requests to remember, to explain why they are closed."""

_TAKEN: Final = frozenset({"started", "completed"})


class Settings(Struct, frozen=True):
    """Session, model and permission mode as the client reports them; None if not known.

    The effort is the one that was set; None for the default.
    """

    session_id: str | None = None
    model: str | None = None
    permission_mode: str | None = None
    effort: str | None = None


class QueuedPrompt(Struct, frozen=True):
    """A prompt that the client has not picked up yet."""

    uuid: str
    text: str
    line: bytes
    """The line to send."""


class _OpenBlock(Struct):
    """The message that is being written, and its open block."""

    message_id: str = ""
    index: int | None = None


class ConversationState:
    """The state of one conversation, across all its clients."""

    def __init__(
        self, clock: Callable[[], str | None] = lambda: None, stream_name: str = ""
    ) -> None:
        self.stream = StreamSession(clock)
        self._stream_name = stream_name
        self.settings = Settings()
        self.queue: dict[str, QueuedPrompt] = {}
        self.pending: dict[str, conversation_events.ConversationRequest] = {}
        self.tasks: dict[str, str] = {}
        self.has_history = False
        """Whether the client has started to write the session."""
        self._base = conversation_events.ConversationStatus.STARTING
        self._is_working = False
        self._has_taken = False
        self._settled: dict[str, str] = {}
        self._seen: set[str] = set()
        self._blocks: dict[str | None, _OpenBlock] = {}

    @property
    def status(self) -> conversation_events.ConversationStatus:
        """Return the status of the conversation."""
        if self._base is conversation_events.ConversationStatus.ENDED:
            return self._base
        if self.pending:
            return conversation_events.ConversationStatus.WAITING
        return conversation_events.ConversationStatus.WORKING if self._is_working else self._base

    def start_client(self) -> None:
        """Record that another client was started; it is sent the prompts not picked up yet."""
        self._base = conversation_events.ConversationStatus.STARTING
        self._is_working = bool(self.queue)
        self._has_taken = False
        self._blocks.clear()
        self.stream.start_client()

    def mark_ready(self) -> None:
        """Record that the client has responded for the first time."""
        self._base = conversation_events.ConversationStatus.IDLE

    def end_client(self, *, is_idle: bool) -> Iterator[conversation_events.ConversationEvent]:
        """Record that the client has exited; an idle one is started again by the next prompt."""
        for request_id in list(self.pending):
            yield self.close_request(request_id, "lost")
        if self.tasks:
            self.tasks = {}
            yield events.TasksChanged(tasks={})
        self._is_working = False
        self._base = (
            conversation_events.ConversationStatus.IDLE
            if is_idle
            else conversation_events.ConversationStatus.ENDED
        )

    def add_prompt(
        self, prompt: QueuedPrompt, images: int
    ) -> conversation_events.ConversationEvent:
        """Record that a prompt was sent."""
        self.queue[prompt.uuid] = prompt
        self._is_working = True
        return events.PromptQueued(uuid=prompt.uuid, text=prompt.text, images=images)

    def add_request(
        self, request: conversation_events.ConversationRequest
    ) -> conversation_events.ConversationEvent:
        """Record a request of the client to the user."""
        self.pending[request.id] = request
        return events.RequestAsked(request=request)

    def find_request(self, request_id: str) -> conversation_events.ConversationRequest:
        """Return an open request; raises an error that explains why there is none."""
        if request_id in self.pending:
            return self.pending[request_id]
        if request_id in self._settled:
            how = self._settled[request_id]
            raise UsageError(f"Request {request_id} is no longer open: {how}.")
        raise NothingFound(f"There is no request {request_id}.")

    def close_request(
        self, request_id: str, how: str, by: str = ""
    ) -> conversation_events.ConversationEvent:
        """Record that a request is no longer open."""
        self.pending.pop(request_id, None)
        self._settled[request_id] = how
        if len(self._settled) > MAX_SETTLED:
            del self._settled[next(iter(self._settled))]
        return events.RequestSettled(id=request_id, how=how, by=by)

    def feed(
        self, output: StdoutMessage | StderrLine
    ) -> Iterator[conversation_events.ConversationEvent]:
        """Yield the events of some output of the client."""
        match output:
            case StderrLine(text=text):
                yield events.StderrPrinted(text=text)
            case StdoutMessage(item=Blank()):
                return
            case StdoutMessage(item=Damaged() | Torn() | Oversized(), raw=raw):
                text = raw[:MAX_TEXT].decode(errors="replace").strip()
                yield events.LineUnparsed(text=text or "(a line that is too long to read)")
            case StdoutMessage(item=item):
                yield from self._feed_message(item)

    def _feed_message(self, item: StreamItem) -> Iterator[conversation_events.ConversationEvent]:
        yield from self._note_prompts(item)
        match item:
            case partial.StreamEvent():
                self._is_working = True
                yield from self._read_partial(item)
            case system_messages.Init():
                yield from self._start_turn(item)
            case system_messages.Status():
                yield from self._read_status(item)
            case (
                system_messages.BackgroundTasksChanged()
                | system_messages.TaskStarted()
                | system_messages.TaskNotification()
            ):
                yield from self._read_task(item)
            case stream_messages.Result():
                yield from self._finish_turn(item)
            case stream_messages.ConversationReset():
                yield events.NoticeReceived(
                    text="The conversation was cleared and continues in another session."
                )
        yield from self._read_record(item)

    def _note_prompts(self, item: StreamItem) -> Iterator[conversation_events.ConversationEvent]:
        match item:
            case stream_messages.CommandLifecycle(command_uuid=uuid, state=state) if (
                state in _TAKEN
            ):
                yield from self._take(uuid)
            case stream_messages.CommandLifecycle(command_uuid=uuid, state="cancelled"):
                yield from self.withdraw(uuid)
            case stream_messages.UserMessage(is_replay=True, uuid=uuid):
                yield from self._take(uuid)
            case stream_messages.Result(user_message_uuids=uuids):
                for uuid in uuids:
                    yield from self._take(uuid)

    def _take(self, uuid: str | None) -> Iterator[conversation_events.ConversationEvent]:
        prompt = self.queue.pop(uuid, None) if uuid else None
        if prompt is not None:
            self._has_taken = True
            yield events.PromptTaken(uuid=prompt.uuid)
            shown = mask_line(self._stream_name, NOWHERE, prompt.line)
            yield from self._read_record(decode_message(shown))

    def withdraw(self, uuid: str | None) -> Iterator[conversation_events.ConversationEvent]:
        """Remove a prompt from the queue."""
        if uuid and self.queue.pop(uuid, None):
            yield events.PromptWithdrawn(uuid=uuid)

    def reject_prompt(self, uuid: str) -> Iterator[conversation_events.ConversationEvent]:
        """Remove a prompt for which no client could be started."""
        yield from self.withdraw(uuid)
        self._is_working = bool(self.queue)

    def _start_turn(
        self, message: system_messages.Init
    ) -> Iterator[conversation_events.ConversationEvent]:
        self.has_history = self._is_working = True
        if not self._has_taken:
            # Older clients report which prompt they picked up only when the reply is well under
            # way.
            yield from self._take(next(iter(self.queue), None))
        yield from self.change_settings(
            session_id=message.session_id,
            model=message.model,
            permission_mode=message.permission_mode,
        )

    def change_settings(
        self,
        session_id: str | None = None,
        model: str | None = None,
        permission_mode: str | None = None,
        effort: str | None = None,
    ) -> Iterator[conversation_events.ConversationEvent]:
        """Record changed settings of the client; None for those that it did not mention.

        An empty effort stands for the default.
        """
        known = self.settings
        self.settings = Settings(
            session_id or known.session_id,
            model or known.model,
            permission_mode or known.permission_mode,
            known.effort if effort is None else effort or None,
        )
        if self.settings != known:
            changed = self.settings
            yield events.SettingsChanged(
                session_id=changed.session_id,
                model=changed.model,
                permission_mode=changed.permission_mode,
                effort=changed.effort,
            )

    def _read_status(
        self, message: system_messages.Status
    ) -> Iterator[conversation_events.ConversationEvent]:
        if message.status is not None:
            self._is_working = True
        yield from self.change_settings(permission_mode=message.permission_mode)
        if message.status is not None:
            yield events.StatusChanged(status=self.status, detail=message.status)

    def _read_task(
        self,
        message: system_messages.BackgroundTasksChanged
        | system_messages.TaskStarted
        | system_messages.TaskNotification,
    ) -> Iterator[conversation_events.ConversationEvent]:
        before = dict(self.tasks)
        match message:
            case system_messages.BackgroundTasksChanged(tasks=tasks):
                self.tasks = {each.task_id or "": each.description or "" for each in tasks}
            case system_messages.TaskStarted(
                task_id=str(task), is_backgrounded=kind, description=description
            ):
                if kind is False:
                    return
                # Older clients do not report this, and report others only when they are over.
                self.tasks[task] = description or ""
            case system_messages.TaskNotification(task_id=str(task)):
                self.tasks.pop(task, None)
        if self.tasks != before:
            yield events.TasksChanged(tasks=dict(self.tasks))

    def _finish_turn(
        self, message: stream_messages.Result
    ) -> Iterator[conversation_events.ConversationEvent]:
        self._is_working = bool(self.queue)
        self._has_taken = False
        self._blocks.clear()
        self.stream.feed(message)
        yield events.TurnFinished(result=message)

    def _read_partial(
        self, message: partial.StreamEvent
    ) -> Iterator[conversation_events.ConversationEvent]:
        self.stream.feed(message)
        agent = message.parent_tool_use_id
        block = self._blocks.setdefault(agent, _OpenBlock())
        match message.event:
            case partial.MessageStart(message=begun):
                block.message_id = message.api_message_id or (begun.id if begun else None) or ""
                block.index = None
            case partial.ContentBlockStart(index=index, content_block=content):
                block.index = index
                yield _start_block(block, agent, content)
            case partial.ContentBlockDelta(delta=delta) if block.index is not None:
                yield from _read_delta(block, agent, delta)
            case partial.ContentBlockStop():
                block.index = None

    def _read_record(
        self, item: StreamItem | None
    ) -> Iterator[conversation_events.ConversationEvent]:
        if item is None or isinstance(
            item, stream_messages.UnknownMessage | partial.StreamEvent | stream_messages.Result
        ):
            # Newer clients send messages of unknown types, which are not in a transcript.
            return
        if isinstance(item, stream_messages.Message) and item.uuid in self._seen:
            # Not fed either: a repeated record would become the parent of the next one.
            return
        match self.stream.feed(item):
            case StreamNotice(text=text):
                yield events.NoticeReceived(text=text)
            case StreamRecord(record=record) as found:
                if isinstance(record, Chain) and record.uuid:
                    self._seen.add(record.uuid)
                yield self._make_record(found)

    def _make_record(self, found: StreamRecord) -> conversation_events.ConversationEvent:
        block = self._blocks.get(found.agent)
        message = found.record.message if isinstance(found.record, Assistant) else None
        if block is None or message is None or message.id != block.message_id:
            return events.RecordReceived(record=found.record, agent=found.agent)
        return events.RecordReceived(
            record=found.record,
            agent=found.agent,
            message_id=block.message_id,
            index=block.index,
        )


def _start_block(
    block: _OpenBlock, agent: str | None, content: ContentBlock | None
) -> conversation_events.ConversationEvent:
    kinds: Mapping[type[ContentBlock], str] = {Text: "text", Thinking: "thinking", ToolUse: "tool"}
    call = content if isinstance(content, ToolUse) else None
    return events.BlockStarted(
        message_id=block.message_id,
        index=block.index or 0,
        agent=agent,
        kind=kinds.get(type(content), "other") if content is not None else "other",
        tool=call.name if call else None,
        call_id=call.id if call else None,
    )


def _read_delta(
    block: _OpenBlock, agent: str | None, delta: partial.BlockDelta | None
) -> Iterator[conversation_events.ConversationEvent]:
    name, index = block.message_id, block.index or 0
    match delta:
        case partial.TextDelta(text=text) if text:
            yield events.TextStreamed(message_id=name, index=index, agent=agent, text=text)
        case partial.ThinkingDelta(thinking=text) if text:
            yield events.ThinkingStreamed(message_id=name, index=index, agent=agent, text=text)
        case partial.InputJsonDelta(partial_json=text) if text:
            yield events.ToolInputStreamed(message_id=name, index=index, agent=agent, text=text)
