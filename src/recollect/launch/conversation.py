"""Hold a conversation with the user's own Claude Code: prompts in, events out, requests answered.

The client process may change: an idle client is ended, and the next prompt resumes the session with
a new one. A request to the user stays open until it is answered or the client withdraws it.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from uuid import uuid4

from msgspec.structs import replace

from recollect.errors import ClientFailure, RecollectError, UsageError
from recollect.launch import (
    control_messages,
    conversation_client,
    conversation_events,
    conversation_options,
    conversation_process,
)
from recollect.launch.conversation_state import QueuedPrompt
from recollect.launch.stream_session import StreamSession
from recollect.records.decoding import decode_value


class Conversation(conversation_client.ConversationClient):
    """A conversation; use `converse` to start and end it."""

    @property
    def pending(self) -> tuple[conversation_events.ConversationRequest, ...]:
        """Return the requests that wait for the user, oldest first."""
        return tuple(self._state.pending.values())

    @property
    def queue(self) -> tuple[QueuedPrompt, ...]:
        """Return the prompts that the client has not picked up yet."""
        return tuple(self._state.queue.values())

    @property
    def tasks(self) -> dict[str, str]:
        """Return the running background tasks by id, with their descriptions."""
        return dict(self._state.tasks)

    @property
    def model(self) -> str | None:
        """Return the model in use; None if not known yet."""
        return self._state.settings.model or self._launch.model

    @property
    def cost(self) -> float | None:
        """Return the cost so far in dollars, as the client reports it; None if not reported yet."""
        return self._state.stream.figures.cost_usd

    @property
    def stream(self) -> StreamSession:
        """Return records, subagents and the block being written; read only."""
        return self._state.stream

    @property
    def pid(self) -> int | None:
        """Return the process id of the client; None while there is none."""
        return self._process.pid if self._process else None

    @property
    def last_event(self) -> int:
        """Return the number of the latest event."""
        return self._log.last_number

    def events(self, after: int = 0) -> AsyncIterator[conversation_events.ConversationEvent]:
        """Yield the events after this number, then new ones until the conversation ends."""
        return self._log.iter_events(after)

    def list_events(self, after: int = 0) -> list[conversation_events.ConversationEvent]:
        """Return the events after this number that are still kept."""
        return self._log.list_events(after)

    async def send(self, text: str, images: Sequence[conversation_events.PromptImage] = ()) -> str:
        """Send a prompt, even while the client is working, and return the uuid of its record.

        Starts the client again if it has exited.
        """
        self._check_open()
        if not text.strip() and not images:
            raise UsageError("The prompt is empty.")
        if self._is_outdated and self._is_free:
            await self._end_client("idle")
        uuid = str(uuid4())
        prompt = QueuedPrompt(uuid, text, control_messages.encode_prompt(uuid, text, images))
        is_running = self._process is not None
        self._publish([self._state.add_prompt(prompt, len(images))])
        if is_running and self._process is not None:
            self._process.send(prompt.line)
        else:
            await self._start_for(uuid)
        return uuid

    async def _start_for(self, uuid: str) -> None:
        """Start a client, which is sent the queued prompts; remove this one if that fails."""
        try:
            await self._ensure_client()
        except RecollectError:
            self._publish(self._state.reject_prompt(uuid))
            raise

    async def cancel_prompt(self, uuid: str) -> bool:
        """Cancel a queued prompt; return whether the client had not picked it up yet."""
        self._check_open()
        if self._process is None and not self._starting.locked():
            # Otherwise it would be sent to the next client.
            withdrawn = list(self._state.withdraw(uuid))
            self._publish(withdrawn)
            return bool(withdrawn)
        reply = await self._request("cancel_async_message", message_uuid=uuid)
        is_cancelled = control_messages.read_cancelled(reply)
        if is_cancelled:
            self._publish(self._state.withdraw(uuid))
        return is_cancelled

    async def answer(
        self, request_id: str, answer: conversation_events.RequestAnswer, by: str = ""
    ) -> None:
        """Answer an open request, once.

        Raises NothingFound if there is no such request, and UsageError if it is already settled or
        needs another kind of answer.
        """
        how, response = control_messages.make_response(self._state.find_request(request_id), answer)
        if self._process is not None:
            self._process.send(control_messages.encode_success(request_id, response))
        self._publish([self._state.close_request(request_id, how, by)])

    async def interrupt(self, *, cancel_queued: bool = False) -> None:
        """Interrupt the turn; queued prompts start the next one, unless they are cancelled too."""
        if self._process is not None:
            options = {"cancel_queued": True} if cancel_queued else {}
            await self._request("interrupt", **options)

    async def set_model(self, model: str | None) -> None:
        """Switch to another model; None for the default."""
        conversation_options.check_word(model)
        self._launch = replace(self._launch, model=model)
        if self._process is not None:
            await self._request("set_model", model=model)
        self._publish(self._state.change_settings(model=model))

    async def set_permission_mode(self, mode: str) -> None:
        """Switch to another permission mode."""
        conversation_options.check_word(mode)
        conversation_options.check_mode(self.options, mode)
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
        """Set the effort of models with adaptive thinking; None for their default.

        Clients up to 2.1.112 cannot change it while they run: the next prompt starts another one.
        """
        conversation_options.check_word(level)
        before, self.options = self.options.effort, replace(self.options, effort=level)
        if self._process is not None:
            await self._request("apply_flag_settings", settings={"effortLevel": level})
            if level is None and before is not None:
                reply = await self._request("get_settings")
                self._is_outdated = control_messages.read_effort(reply) == before
        self._publish(self._state.change_settings(effort=level or ""))

    async def context_usage(self) -> control_messages.ContextUsage:
        """Return how full the context is."""
        reply = await self._request("get_context_usage")
        return decode_value(reply, control_messages.ContextUsage) or control_messages.ContextUsage()

    async def compact(self, instructions: str = "") -> str:
        """Replace the conversation so far with a summary; returns the uuid of the prompt."""
        return await self.send(f"/compact {instructions}".rstrip())

    async def stop_task(self, task_id: str) -> None:
        """Stop a background task."""
        await self._request("stop_task", task_id=task_id)

    async def client_info(self) -> control_messages.ClientInfo:
        """Return the commands, models and version of the client."""
        await self._ensure_client()
        try:
            return await asyncio.wait_for(asyncio.shield(self._info), self.options.timing.start)
        except TimeoutError:
            raise ClientFailure("claude did not report its commands and models in time.") from None


@asynccontextmanager
async def converse(
    options: conversation_options.ConversationOptions,
    limit: conversation_process.ProcessLimit | None = None,
) -> AsyncIterator[Conversation]:
    """Start a conversation; it and its client are ended when the block ends."""
    conversation = Conversation(options, limit)
    try:
        await conversation.start()
        yield conversation
    finally:
        await conversation.end()
