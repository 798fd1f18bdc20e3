"""`recollect run --ask`: run a prompt, and answer the client's requests in the terminal; and the
events of a conversation as lines, rendered like the turns of `show`.

Complete records become permanent lines; the block being written is returned separately, because it
changes until its record arrives.
"""

import asyncio
import signal
import sys
import time
from collections.abc import Iterator
from typing import Final

from prompt_toolkit import PromptSession

from recollect.cli.dialogs import Dialog
from recollect.cli.follow_text import render_notice
from recollect.cli.run_text import DRAW_SECONDS, Screen, StreamRenderer, describe_figures
from recollect.cli.stream_masks import mask_words
from recollect.cli.terminal_output import is_terminal
from recollect.errors import RecollectError
from recollect.launch import conversation_events
from recollect.launch.conversation import Conversation, converse
from recollect.launch.conversation_options import ConversationOptions
from recollect.launch.stream_session import StreamRecord
from recollect.quantities import format_dollars
from recollect.records.stream.stream_messages import Result
from recollect.render.terminal.canvas import Canvas
from recollect.render.views.part_builders import join_facts

_SUCCESS = "success"
_SETTLED_ELSEWHERE = {
    "cancelled": "the question was withdrawn",
    "lost": "claude exited before the question was answered",
    "edited": "claude runs your edited version; the transcript keeps the original",
}


class ChatOutput:
    """Renders events."""

    def __init__(self, conversation: Conversation, canvas: Canvas) -> None:
        self._conversation = conversation
        self._canvas = canvas
        self._renderer = StreamRenderer(canvas, conversation.stream)

    def render(self, event: conversation_events.ConversationEvent) -> Iterator[str]:
        """Yield the permanent lines of an event."""
        if isinstance(event, conversation_events.RecordReceived):
            yield from self._renderer.feed(StreamRecord(event.agent, event.record))
            yield from self._renderer.flush()
            return
        text = describe_event(event)
        if text:
            yield from self._renderer.flush()
            yield from render_notice(mask_words(text), self._canvas)

    def render_partial(self) -> list[str]:
        """Return the lines of the block that is being written."""
        return self._renderer.render_partial()

    def render_end(self) -> Iterator[str]:
        """Yield the totals, and how to resume later."""
        yield from self._renderer.flush()
        if self._conversation.stream.results:
            figures = describe_figures(self._conversation.stream.figures)
            yield from render_notice(figures, self._canvas)
            name = self._conversation.session_id
            yield from render_notice(f"continue with: recollect chat {name}", self._canvas)

    @property
    def status(self) -> str:
        """The status of the conversation, in one line."""
        conversation = self._conversation
        queued, tasks = len(conversation.queue), len(conversation.tasks)
        cost = conversation.cost
        return join_facts(
            str(conversation.status),
            conversation.model,
            conversation.permission_mode,
            f"{queued} queued" if queued else None,
            f"{tasks} in the background" if tasks else None,
            None if cost is None else format_dollars(cost, 4),
        )


def describe_event(event: conversation_events.ConversationEvent) -> str | None:
    """Return a sentence about an event that is not part of the conversation itself."""
    text: str | None = None
    match event:
        case conversation_events.NoticeReceived(text=said):
            text = said
        case (
            conversation_events.StderrPrinted(text=said)
            | conversation_events.LineUnparsed(text=said)
        ):
            text = f"claude: {said}" if said.strip() else None
        case conversation_events.TurnFinished(result=result):
            text = _describe_end(result)
        case conversation_events.RequestSettled(how=how):
            text = _SETTLED_ELSEWHERE.get(how)
        case conversation_events.PromptWithdrawn():
            text = "the queued prompt was withdrawn"
        case conversation_events.ClientSilent(seconds=seconds):
            text = f"claude has printed nothing for {seconds:.0f} s"
        case conversation_events.ClientEnded(reason="died" | "failed", code=code):
            text = f"claude exited with code {code}; the next prompt restarts it"
    return text


def _describe_end(result: Result) -> str | None:
    reason = result.terminal_reason or result.subtype or _SUCCESS
    # An interruption has its own notice.
    if reason.startswith("aborted") or (result.subtype in (None, _SUCCESS) and not result.is_error):
        return None
    return join_facts(f"the turn ended: {reason.replace('_', ' ')}", "; ".join(result.errors))


FAILED: Final = 1


async def run_interactively(options: ConversationOptions, prompt: str, canvas: Canvas) -> int:
    """Run a prompt and return the exit code: 0, or 1 if the turn failed or the client ended."""
    async with converse(options) as conversation:
        session = _InteractiveRun(conversation, canvas)
        with _Interrupts(session):
            await conversation.send(prompt)
            return await session.follow()


class _InteractiveRun:
    """A run in which the user answers requests."""

    def __init__(self, conversation: Conversation, canvas: Canvas) -> None:
        self.conversation = conversation
        self._canvas = canvas
        self._output = ChatOutput(conversation, canvas)
        self._screen = Screen()
        self._is_live = is_terminal()
        self._due = 0.0

    async def follow(self) -> int:
        """Show events until the work is done."""
        code = FAILED
        async for event in self.conversation.events():
            self._show(event)
            if (
                isinstance(
                    event, conversation_events.RequestAsked | conversation_events.RequestSettled
                )
                and self.conversation.pending
            ):
                await self._ask(self.conversation.pending[0])
            if isinstance(event, conversation_events.ClientEnded):
                break
            if isinstance(event, conversation_events.TurnFinished):
                code = FAILED if event.result.is_error else 0
                if not (self.conversation.queue or self.conversation.tasks):
                    break
        self._screen.show(())
        self._screen.print(list(self._output.render_end()))
        return code

    async def interrupt(self) -> None:
        """Interrupt the turn."""
        try:
            await self.conversation.interrupt()
        except RecollectError as error:
            self._print_message(str(error))

    def _show(self, event: conversation_events.ConversationEvent) -> None:
        lines = list(self._output.render(event))
        if lines:
            self._screen.show(())
            self._screen.print(lines)
        if self._is_live and time.monotonic() >= self._due:
            self._screen.show(self._output.render_partial())
            self._due = time.monotonic() + DRAW_SECONDS

    async def _ask(self, request: conversation_events.ConversationRequest) -> None:
        dialog = Dialog(request)
        draft = ""
        self._screen.show(())
        self._screen.print(list(dialog.render(self._canvas)))
        _discard_typed_input()
        while request in self.conversation.pending:
            text = await _read_line(dialog.choices, draft)
            draft = (dialog.draft(text) if text is not None else None) or ""
            if draft:
                continue
            try:
                answer = (
                    conversation_events.Deny(interrupt=True)
                    if text is None
                    else dialog.answer(text)
                )
                if answer is not None:
                    await self.conversation.answer(request.id, answer, by="terminal")
                else:
                    self._screen.print(list(dialog.render(self._canvas)))
            except RecollectError as error:
                self._print_message(str(error))

    def _print_message(self, text: str) -> None:
        self._screen.print(list(render_notice(text, self._canvas)))


async def _read_line(choices: str, draft: str) -> str | None:
    """Return a line; None if the user interrupts or ends the input."""
    try:
        return await PromptSession[str](f"{choices}\n> ").prompt_async(default=draft)
    except (EOFError, KeyboardInterrupt):
        return None


def _discard_typed_input() -> None:
    """Drop keys typed before the question was shown: they were not meant for it."""
    if sys.platform != "win32":
        import termios  # does not exist on Windows

        termios.tcflush(sys.stdin, termios.TCIFLUSH)


class _Interrupts:
    """Turns Ctrl+C into an interrupt of the turn while no question is open."""

    def __init__(self, run: _InteractiveRun) -> None:
        self._run = run
        self._tasks: set[asyncio.Task[None]] = set()

    def __enter__(self) -> None:
        if sys.platform != "win32":
            asyncio.get_running_loop().add_signal_handler(signal.SIGINT, self._interrupt)

    def __exit__(self, *error: object) -> None:
        if sys.platform != "win32":
            asyncio.get_running_loop().remove_signal_handler(signal.SIGINT)

    def _interrupt(self) -> None:
        task = asyncio.ensure_future(self._run.interrupt())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
