"""A conversation with the user's own Claude Code: prompts in, events out, requests answered.

Joins the state, the event log and a client process, which may be another one later: an idle client
is ended and the session resumed with the next prompt. A client that dies, hangs or prints garbage
is an event; exceptions are for callers who ask for something that cannot be done. A request to a
person stays open until somebody answers it or the client withdraws it. Used from one event loop.
"""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from typing import Final
from uuid import uuid4

from msgspec import Raw
from msgspec.structs import replace

from recollect.errors import ClientFailure, RecollectError, UsageError
from recollect.launch import control_messages, conversation_events
from recollect.launch.client_process import StderrLine, StdoutMessage
from recollect.launch.client_replies import ClientInfo, ContextUsage, ReplyTable, SentQuestion
from recollect.launch.control_messages import encode_prompt, make_response
from recollect.launch.conversation_events import (
    ConversationEvent,
    ConversationRequest,
    ConversationStatus,
    PromptImage,
    RequestAnswer,
)
from recollect.launch.conversation_options import (
    EXIT_SECONDS,
    ConversationOptions,
    check_mode,
    check_not_running,
    check_options,
    check_word,
    find_conversation_client,
    list_arguments,
    list_first_requests,
    make_environment,
    plan_first,
)
from recollect.launch.conversation_process import (
    Activity,
    ConversationProcess,
    ProcessLimit,
    start_process,
)
from recollect.launch.conversation_state import ConversationState, QueuedPrompt
from recollect.launch.event_log import EventLog
from recollect.launch.stream_session import StreamSession
from recollect.records.decoding import decode_value
from recollect.records.stream.control import (
    Answer,
    ControlCancelRequest,
    ControlRequest,
    ControlResponse,
)

INTERRUPT_SECONDS: Final = 2.0
"""How long an ending conversation waits for its interrupt to arrive."""


class Conversation:
    """A conversation that was started; `converse` starts one and ends it."""

    def __init__(self, options: ConversationOptions, limit: ProcessLimit | None = None) -> None:
        check_options(options)
        self.options = options
        self._limit = limit
        self._client = find_conversation_client(options)
        self._launch = plan_first(options)
        self._state = ConversationState(lambda: datetime.now(UTC).isoformat())
        self._log = EventLog()
        self._process: ConversationProcess | None = None
        self._ended: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._starting = asyncio.Lock()
        self._replies = ReplyTable()
        self._closing: asyncio.Task[None] | None = None
        self._info: asyncio.Future[ClientInfo] = asyncio.get_running_loop().create_future()
        self._status = self._state.status
        self._reason = "died"
        self._is_closed = False
        self._activity = Activity(options.timing)

    @property
    def session_id(self) -> str:
        """The session, known from the start; `/clear` continues in another one."""
        return self._state.settings.session_id or self._launch.session_id

    @property
    def status(self) -> ConversationStatus:
        """What the conversation is doing."""
        return ConversationStatus.ENDED if self._is_closed else self._state.status

    @property
    def pending(self) -> tuple[ConversationRequest, ...]:
        """The requests that wait for a person, oldest first."""
        return tuple(self._state.pending.values())

    @property
    def queue(self) -> tuple[QueuedPrompt, ...]:
        """The prompts that the client has not taken yet."""
        return tuple(self._state.queue.values())

    @property
    def tasks(self) -> dict[str, str]:
        """The background tasks that are running, by id, with their descriptions."""
        return dict(self._state.tasks)

    @property
    def model(self) -> str | None:
        """The model in use; None if not known yet."""
        return self._state.settings.model or self._launch.model

    @property
    def permission_mode(self) -> str | None:
        """The permission mode in use; None if not known yet."""
        return self._state.settings.permission_mode or self._launch.permission_mode

    @property
    def cost(self) -> float | None:
        """The cost so far in dollars, as the client says; None if it has not said."""
        return self._state.stream.figures.cost_usd

    @property
    def stream(self) -> StreamSession:
        """Records, subagents and the block being written, to be read only."""
        return self._state.stream

    @property
    def pid(self) -> int | None:
        """The process id of the client; None while there is none."""
        return self._process.pid if self._process else None

    @property
    def last_event(self) -> int:
        """The number of the latest event."""
        return self._log.last_number

    async def start(self) -> None:
        """Start the client.

        Raises UsageError if another client has the session open, or too many are running.
        """
        await self._ensure_client()
        self._spawn(self._watch_clock())

    def events(self, after: int = 0) -> AsyncIterator[ConversationEvent]:
        """Yield the events after this number, then new ones until the conversation is ended."""
        return self._log.iter_events(after)

    def list_events(self, after: int = 0) -> list[ConversationEvent]:
        """Return the events after this number that are kept."""
        return self._log.list_events(after)

    async def send(self, text: str, images: Sequence[PromptImage] = ()) -> str:
        """Send a prompt, also while the client works, and return the uuid of its record.

        Starts the client again if it has exited.
        """
        self._check_open()
        if not text.strip() and not images:
            raise UsageError("The prompt is empty.")
        uuid = str(uuid4())
        prompt = QueuedPrompt(uuid, text, encode_prompt(uuid, text, images))
        is_running = self._process is not None
        self._publish([self._state.add_prompt(prompt, len(images))])
        if is_running and self._process is not None:
            self._process.send(prompt.line)
        else:
            await self._start_for(uuid)
        return uuid

    async def _start_for(self, uuid: str) -> None:
        """Start a client, which is sent the queued prompts; forgets this one if that fails."""
        try:
            await self._ensure_client()
        except RecollectError:
            self._publish(self._state.reject_prompt(uuid))
            raise

    async def cancel_prompt(self, uuid: str) -> bool:
        """Take back a queued prompt; return whether the client had not taken it yet."""
        reply = await self._request("cancel_async_message", message_uuid=uuid)
        found = decode_value(reply, dict[str, Raw]) or {}
        is_cancelled = bytes(found.get("cancelled", Raw())) == b"true"
        if is_cancelled:
            self._publish(self._state.withdraw(uuid))
        return is_cancelled

    async def answer(self, request_id: str, answer: RequestAnswer, by: str = "") -> None:
        """Answer an open request, once.

        Raises NothingFound if there is no such request, and UsageError if it is settled already, or
        if the answer is not one to it.
        """
        how, response = make_response(self._state.find_request(request_id), answer)
        if self._process is not None:
            self._process.send(control_messages.encode_success(request_id, response))
        self._publish([self._state.settle(request_id, how, by)])

    async def interrupt(self, *, cancel_queued: bool = False) -> None:
        """Interrupt the turn; queued prompts start the next one, unless they are cancelled too."""
        if self._process is not None:
            options = {"cancel_queued": True} if cancel_queued else {}
            await self._request("interrupt", **options)

    async def set_model(self, model: str | None) -> None:
        """Use another model; None for the default."""
        check_word(model)
        self._launch = replace(self._launch, model=model)
        if self._process is not None:
            await self._request("set_model", model=model)
        self._publish(self._state.change_settings(model=model))

    async def set_permission_mode(self, mode: str) -> None:
        """Use another permission mode."""
        check_word(mode)
        check_mode(self.options, mode)
        if self._process is not None:
            await self._request("set_permission_mode", mode=mode)
        self._launch = replace(self._launch, permission_mode=mode)
        self._publish(self._state.change_settings(permission_mode=mode))

    async def set_thinking(self, tokens: int | None) -> None:
        """Set the thinking budget of models that have one; 0 for none, None for the default."""
        self.options = replace(self.options, thinking_tokens=tokens)
        if self._process is not None:
            await self._request("set_max_thinking_tokens", max_thinking_tokens=tokens)

    async def set_effort(self, level: str | None) -> None:
        """Set how much models with adaptive thinking think; None for their default."""
        if level is not None:
            check_word(level)
        self.options = replace(self.options, effort=level)
        if self._process is not None:
            await self._request("apply_flag_settings", settings={"effortLevel": level})
        self._publish(self._state.change_settings(effort=level or ""))

    async def context_usage(self) -> ContextUsage:
        """Return how full the context is."""
        reply = await self._request("get_context_usage")
        return decode_value(reply, ContextUsage) or ContextUsage()

    async def compact(self, instructions: str = "") -> str:
        """Replace the conversation so far by a summary; returns the uuid of the prompt."""
        return await self.send(f"/compact {instructions}".rstrip())

    async def stop_task(self, task_id: str) -> None:
        """Stop a background task."""
        await self._request("stop_task", task_id=task_id)

    async def client_info(self) -> ClientInfo:
        """Return what the client offers: its commands, models and version."""
        await self._ensure_client()
        try:
            return await asyncio.wait_for(asyncio.shield(self._info), self.options.timing.start)
        except TimeoutError:
            raise ClientFailure("claude did not say what it offers.") from None

    async def end(self) -> None:
        """End the conversation and its client; the session can be resumed."""
        if self._closing is None:
            self._is_closed = True
            self._closing = asyncio.create_task(self._close())
        # Who waits may be cancelled; the client is ended all the same.
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        async with self._starting:
            await self._end_client("ended")
        for task in list(self._tasks):
            task.cancel()
        self._publish([])
        self._log.close()

    def _check_open(self) -> None:
        if self._is_closed:
            raise UsageError("The conversation has ended.")

    async def _ensure_client(self) -> ConversationProcess:
        """Return the running client; starts one if there is none."""
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
            self._launch = replace(
                self._launch,
                session_id=self.session_id,
                resume=self.session_id,
                at=None,
                permission_mode=self.permission_mode,
            )
        # Another client may have opened the session while ours was away.
        patience = EXIT_SECONDS if is_again and self._reason == "died" else 0.0
        await asyncio.to_thread(check_not_running, self._launch, self.options, patience)
        if self._limit is not None:
            self._limit.take()
        words = (self._client, *list_arguments(self._launch, self.options))
        try:
            self._process, watch = await start_process(
                words, self.options.directory, make_environment(self.options), self._on_output
            )
        except OSError as error:
            self._release()
            raise ClientFailure(f"{self._client} cannot be started: {error}") from error
        self._reason = "died"
        self._state.start_client()
        self._activity.note()
        self._publish([conversation_events.ClientStarted(pid=self._process.pid, resumed=is_again)])
        self._ended = asyncio.create_task(self._finish_client(self._process, watch))
        send = self._process.send
        asked = [self._replies.ask(send, *each) for each in list_first_requests(self.options)]
        for prompt in self._state.queue.values():
            send(prompt.line)
        self._spawn(self._greet(self._process, *asked))

    async def _greet(
        self, process: ConversationProcess, asked: SentQuestion, *settings: SentQuestion
    ) -> None:
        """Wait until the client says what it offers, and has taken the settings from before."""
        try:
            reply = await self._replies.wait(asked, self.options.timing.start)
        except ClientFailure as error:
            if process.code is None:
                self._publish([conversation_events.NoticeReceived(text=str(error))])
                self._reason = "failed"
                await process.end(self.options.timing.end)
            return
        self._state.greet()
        self._publish([])
        if not self._info.done():
            self._info.set_result(decode_value(reply, ClientInfo) or ClientInfo())
        for question in settings:
            with suppress(ClientFailure):
                await self._replies.wait(question, self.options.timing.request)

    async def _request(self, subtype: str, **fields: object) -> Raw:
        process = await self._ensure_client()
        asked = self._replies.ask(process.send, subtype, fields)
        return await self._replies.wait(asked, self.options.timing.request)

    def _on_output(self, output: StdoutMessage | StderrLine) -> None:
        self._activity.note()
        match output:
            case StdoutMessage(item=ControlResponse(response=Answer() as reply)):
                self._replies.resolve(reply)
            case StdoutMessage(item=ControlRequest() as message):
                self._on_request(message)
            case StdoutMessage(item=ControlCancelRequest(request_id=str(request_id))):
                if request_id in self._state.pending:
                    self._publish([self._state.settle(request_id, "cancelled", "claude")])
            case _:
                self._publish(self._state.feed(output))

    def _on_request(self, message: ControlRequest) -> None:
        request = control_messages.read_request(message)
        if request is not None:
            self._publish([self._state.ask(request)])
        elif self._process is not None and message.request_id:
            # Unanswered, it would keep the client waiting.
            self._process.send(control_messages.encode_refusal(message))
            self._publish(control_messages.describe_refusal(message))

    def _publish(self, found: Iterable[ConversationEvent]) -> None:
        """Publish events, and the status if they changed it."""
        for event in found:
            self._log.publish(event)
            if isinstance(event, conversation_events.StatusChanged):
                self._status = event.status
        if self.status is not self._status:
            self._status = self.status
            self._log.publish(conversation_events.StatusChanged(status=self._status))

    async def _finish_client(
        self, process: ConversationProcess, watch: "asyncio.Task[None]"
    ) -> None:
        """Wait for the client's end and report it."""
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
            self._spawn(self._restart())

    async def _restart(self) -> None:
        await self._ensure_client()

    async def _end_client(self, reason: str) -> None:
        process, ended = self._process, self._ended
        if process is None or ended is None:
            return
        self._reason = reason
        if self._state.status in (ConversationStatus.WORKING, ConversationStatus.WAITING):
            # Otherwise the client would finish its turn first.
            with suppress(ClientFailure):
                asked = self._replies.ask(process.send, "interrupt", {"cancel_queued": True})
                await self._replies.wait(asked, INTERRUPT_SECONDS)
        await process.end(self.options.timing.end)
        await ended

    async def _watch_clock(self) -> None:
        """End an idle client, and report one that is silent for long."""
        activity = self._activity
        while True:
            await asyncio.sleep(activity.step)
            status = self._state.status
            is_free = status is ConversationStatus.IDLE and not self._state.tasks
            if self._process is not None and is_free and activity.is_idle():
                await self._end_client("idle")
            elif status is ConversationStatus.WORKING and activity.is_silent():
                self._publish([conversation_events.ClientSilent(seconds=activity.seconds)])

    def _release(self) -> None:
        if self._limit is not None:
            self._limit.release()

    def _spawn(self, work: Coroutine[object, object, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


@asynccontextmanager
async def converse(
    options: ConversationOptions, limit: ProcessLimit | None = None
) -> AsyncIterator[Conversation]:
    """Start a conversation, and end it with its client when the context is left."""
    conversation = Conversation(options, limit)
    try:
        await conversation.start()
        yield conversation
    finally:
        await conversation.end()
