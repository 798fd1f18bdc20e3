"""The client of a conversation, started when needed, ended when idle, then started again; and the
log of its events for any number of readers.

A client that dies, hangs or prints garbage causes an event; exceptions are raised only for callers
who request something impossible. A reader that reconnects resumes after the last event it has seen.
The streamed parts of a block are dropped once its record has arrived, because a late reader needs
only the record. Must be used from one event loop only.
"""

import asyncio
import time
from bisect import bisect_right
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import suppress
from datetime import UTC, datetime
from operator import attrgetter
from typing import Final

from msgspec import Raw, structs
from msgspec.structs import replace

from recollect.errors import ClientFailure, UsageError
from recollect.launch import (
    client_process,
    control_messages,
    conversation_events,
    conversation_options,
    conversation_process,
    conversation_state,
)
from recollect.launch.conversation_events import ConversationEvent, ConversationStatus
from recollect.records.decoding import decode_value
from recollect.records.stream import control


class ConversationClient:
    """Connects the state of a conversation, its event log and the client process, if any."""

    def __init__(
        self,
        options: conversation_options.ConversationOptions,
        limit: conversation_process.ProcessLimit | None = None,
    ) -> None:
        conversation_options.check_options(options)
        self.options = options
        self._limit = limit
        self._client = conversation_options.find_conversation_client(options)
        self._launch = conversation_options.plan_first(options)
        self._state = conversation_state.ConversationState(
            lambda: datetime.now(UTC).isoformat(), options.stream_name
        )
        self._log = EventLog()
        self._process: conversation_process.ConversationProcess | None = None
        self._ended: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[object]] = set()
        self._starting = asyncio.Lock()
        self._replies = control_messages.PendingRequests()
        self._closing: asyncio.Task[None] | None = None
        self._info: asyncio.Future[control_messages.ClientInfo] = (
            asyncio.get_running_loop().create_future()
        )
        self._status = self._state.status
        self._reason = "died"
        self._is_closed = False
        self._is_outdated = False
        """Whether the client has a setting that only a restart can reset."""
        self._activity = conversation_process.Activity(options.timing)

    @property
    def session_id(self) -> str:
        """Return the session id, known from the start; `/clear` continues in another session."""
        return self._state.settings.session_id or self._launch.session_id

    @property
    def status(self) -> ConversationStatus:
        """Return the status of the conversation."""
        return ConversationStatus.ENDED if self._is_closed else self._state.status

    @property
    def permission_mode(self) -> str | None:
        """Return the permission mode in use; None if not known yet."""
        return self._state.settings.permission_mode or self._launch.permission_mode

    async def start(self) -> None:
        """Start the client.

        Raises UsageError if another client has the session open, or too many are running.
        """
        await self._ensure_client()
        self._spawn(self._watch_clock())

    async def end(self) -> None:
        """End the conversation and its client; the session can be resumed."""
        if self._closing is None:
            self._is_closed = True
            self._closing = asyncio.create_task(self._close())
        # The caller may be cancelled; the client is ended anyway.
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        async with self._starting:
            await self._end_client("ended")
        for task in list(self._tasks):
            task.cancel()
        self._publish([])
        self._log.close()

    @property
    def _is_free(self) -> bool:
        """Return whether ending the client would interrupt nothing."""
        return self._state.status is ConversationStatus.IDLE and not self._state.tasks

    def _check_open(self) -> None:
        if self._is_closed:
            raise UsageError("The conversation has ended.")

    async def _ensure_client(self) -> conversation_process.ConversationProcess:
        """Return the running client; starts one if necessary."""
        self._check_open()
        async with self._starting:
            if self._process is None:
                await self._start_client()
            if self._process is None:
                raise ClientFailure("claude could not be started.")
            return self._process

    async def _start_client(self) -> None:
        is_again = self._ended is not None
        if is_again and self._state.has_history:
            self._launch = structs.replace(
                self._launch,
                session_id=self.session_id,
                resume=self.session_id,
                at=None,
                permission_mode=self.permission_mode,
            )
        # Another client may have opened the session while ours was not running.
        patience = conversation_options.EXIT_SECONDS if is_again and self._reason == "died" else 0.0
        await asyncio.to_thread(
            conversation_options.check_not_running, self._launch, self.options, patience
        )
        if self._limit is not None:
            self._limit.take()
        words = (self._client, *conversation_options.list_arguments(self._launch, self.options))
        try:
            self._process, watch = await conversation_process.start_process(
                words,
                self.options,
                conversation_options.make_environment(self.options),
                self._on_output,
            )
        except OSError as error:
            self._release()
            raise ClientFailure(f"{self._client} cannot be started: {error}") from error
        self._reason, self._is_outdated = "died", False
        self._state.start_client()
        self._activity.record_output()
        self._publish([conversation_events.ClientStarted(pid=self._process.pid, resumed=is_again)])
        self._ended = asyncio.create_task(self._finish_client(self._process, watch))
        send = self._process.send
        asked = [
            self._replies.send(send, *each)
            for each in conversation_options.list_first_requests(self.options)
        ]
        for prompt in self._state.queue.values():
            send(prompt.line)
        self._spawn(self._greet(self._process, *asked))

    async def _greet(
        self,
        process: conversation_process.ConversationProcess,
        asked: control_messages.SentRequest,
        *settings: control_messages.SentRequest,
    ) -> None:
        """Wait until the client has reported its features and has applied the earlier settings."""
        try:
            reply = await self._replies.wait(asked, self.options.timing.start)
        except ClientFailure as error:
            if process.code is None:
                self._publish([conversation_events.NoticeReceived(text=str(error))])
                self._reason = "failed"
                await process.end(self.options.timing.end)
            return
        self._state.mark_ready()
        self._publish([])
        if not self._info.done():
            self._info.set_result(
                decode_value(reply, control_messages.ClientInfo) or control_messages.ClientInfo()
            )
        for question in settings:
            with suppress(ClientFailure):
                await self._replies.wait(question, self.options.timing.request)

    async def _request(self, subtype: str, **fields: object) -> Raw:
        process = await self._ensure_client()
        asked = self._replies.send(process.send, subtype, fields)
        return await self._replies.wait(asked, self.options.timing.request)

    def _on_output(self, output: client_process.StdoutMessage | client_process.StderrLine) -> None:
        self._activity.record_output()
        match output:
            case client_process.StdoutMessage(
                item=control.ControlResponse(response=control.Answer() as reply)
            ):
                self._replies.resolve(reply)
            case client_process.StdoutMessage(item=control.ControlRequest() as message):
                self._on_request(message)
            case client_process.StdoutMessage(
                item=control.ControlCancelRequest(request_id=str(request_id))
            ):
                if request_id in self._state.pending:
                    self._publish([self._state.close_request(request_id, "cancelled", "claude")])
            case _:
                self._publish(self._state.feed(output))

    def _on_request(self, message: control.ControlRequest) -> None:
        request = control_messages.read_request(message)
        if request is not None:
            self._publish([self._state.add_request(request)])
        elif self._process is not None and message.request_id:
            # Without a response the client would wait forever.
            self._process.send(control_messages.encode_refusal(message))
            self._publish(control_messages.describe_refusal(message))

    def _publish(self, found: Iterable[ConversationEvent]) -> None:
        """Publish events, and the status if it has changed."""
        for event in found:
            self._log.publish(event)
            if isinstance(event, conversation_events.StatusChanged):
                self._status = event.status
        if self.status is not self._status:
            self._status = self.status
            self._log.publish(conversation_events.StatusChanged(status=self._status))

    async def _finish_client(
        self, process: conversation_process.ConversationProcess, watch: "asyncio.Task[None]"
    ) -> None:
        """Wait for the client to exit and report it."""
        await watch
        self._process = None
        self._release()
        self._replies.fail_all()
        self._publish(self._state.end_client(is_idle=self._reason == "idle"))
        ended = conversation_events.ClientEnded(
            code=process.code, reason=self._reason, words=process.words
        )
        self._publish([ended])
        if self._reason == "idle" and self._state.queue and not self._is_closed:
            # Sent while the client was being ended.
            self._spawn(self._ensure_client())

    async def _end_client(self, reason: str) -> None:
        process, ended = self._process, self._ended
        if process is None or ended is None:
            return
        self._reason = reason
        if self._state.status in (ConversationStatus.WORKING, ConversationStatus.WAITING):
            # Otherwise the client would finish its turn first.
            with suppress(ClientFailure):
                asked = self._replies.send(process.send, "interrupt", {"cancel_queued": True})
                await self._replies.wait(asked, conversation_options.INTERRUPT_SECONDS)
        await process.end(self.options.timing.end)
        await ended

    async def _watch_clock(self) -> None:
        """End an idle client, and report one that has been silent for long."""
        activity = self._activity
        while True:
            await asyncio.sleep(activity.interval)
            if self._process is not None and self._is_free and activity.is_idle():
                await self._end_client("idle")
            elif self._state.status is ConversationStatus.WORKING and activity.is_silent():
                self._publish([conversation_events.ClientSilent(seconds=activity.seconds)])

    def _release(self) -> None:
        if self._limit is not None:
            self._limit.release()

    def _spawn(self, work: Coroutine[object, object, object]) -> None:
        task: asyncio.Task[object] = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


MAX_EVENTS: Final = 5000


class EventLog:
    """The events of one conversation."""

    def __init__(
        self, max_events: int = MAX_EVENTS, clock: Callable[[], float] = time.time
    ) -> None:
        self._clock = clock
        self._max_events = max_events
        self._events: list[conversation_events.ConversationEvent] = []
        self._number = 0
        self._dropped = 0
        self._is_closed = False
        self._grown = asyncio.Event()

    @property
    def last_number(self) -> int:
        """Return the number of the latest event; 0 before the first."""
        return self._number

    def publish(
        self, event: conversation_events.ConversationEvent
    ) -> conversation_events.ConversationEvent:
        """Number an event and pass it to all readers."""
        self._number += 1
        numbered = replace(event, number=self._number, time=self._clock())
        if isinstance(numbered, conversation_events.RecordReceived) and numbered.index is not None:
            self._forget_streamed(numbered.agent, numbered.message_id, numbered.index)
        self._events.append(numbered)
        if len(self._events) > self._max_events:
            self._dropped = self._events.pop(0).number
        self._wake()
        return numbered

    def close(self) -> None:
        """End all readers after the last event."""
        self._is_closed = True
        self._wake()

    def list_events(self, after: int = 0) -> list[conversation_events.ConversationEvent]:
        """Return the kept events after this number, preceded by a notice if some were dropped."""
        kept = self._events[bisect_right(self._events, after, key=attrgetter("number")) :]
        if after < self._dropped:
            return [
                conversation_events.EventsDropped(number=self._dropped, time=self._clock()),
                *kept,
            ]
        return kept

    async def iter_events(
        self, after: int = 0
    ) -> AsyncIterator[conversation_events.ConversationEvent]:
        """Yield the events after this number, then new ones until the log is closed."""
        while True:
            grown = self._grown
            for event in self.list_events(after):
                after = event.number
                yield event
            if self._number > after:
                continue
            if self._is_closed:
                return
            if grown is self._grown:
                await grown.wait()

    def _forget_streamed(self, agent: str | None, message_id: str | None, index: int) -> None:
        wanted = (agent, message_id, index)
        self._events = [
            event
            for event in self._events
            if not isinstance(event, conversation_events.BlockEvent)
            or (event.agent, event.message_id, event.index) != wanted
        ]

    def _wake(self) -> None:
        # Wakes all waiting readers; later ones wait for a new event.
        grown, self._grown = self._grown, asyncio.Event()
        grown.set()
