"""`recollect run --ask`: one prompt, with the client's questions answered in the terminal."""

import asyncio
import signal
import sys
import time
from typing import Final

from prompt_toolkit import PromptSession

from recollect.cli.chat.chat_output import ChatOutput
from recollect.cli.chat.dialogs import Dialog
from recollect.cli.follow_text import render_notice
from recollect.cli.run_text import DRAW_SECONDS, Screen, is_live
from recollect.errors import RecollectError
from recollect.launch.conversation import Conversation, converse
from recollect.launch.conversation_events import (
    ClientEnded,
    ConversationEvent,
    ConversationRequest,
    Deny,
    RequestAsked,
    RequestSettled,
    TurnFinished,
)
from recollect.launch.conversation_options import ConversationOptions
from recollect.render.terminal.canvas import Canvas

FAILED: Final = 1


async def run_and_ask(options: ConversationOptions, prompt: str, canvas: Canvas) -> int:
    """Run a prompt and return the exit code: 0, or 1 if the turn failed or the client ended."""
    async with converse(options) as conversation:
        session = _AskingRun(conversation, canvas)
        with _Interrupts(session):
            await conversation.send(prompt)
            return await session.follow()


class _AskingRun:
    """A run whose questions are answered."""

    def __init__(self, conversation: Conversation, canvas: Canvas) -> None:
        self.conversation = conversation
        self._canvas = canvas
        self._output = ChatOutput(conversation, canvas)
        self._screen = Screen()
        self._is_live = is_live()
        self._due = 0.0

    async def follow(self) -> int:
        """Show events until the work is done."""
        code = FAILED
        async for event in self.conversation.events():
            self._show(event)
            if isinstance(event, RequestAsked | RequestSettled) and self.conversation.pending:
                await self._ask(self.conversation.pending[0])
            if isinstance(event, ClientEnded):
                break
            if isinstance(event, TurnFinished):
                code = FAILED if event.result.is_error else 0
                if not (self.conversation.queue or self.conversation.tasks):
                    break
        self._screen.show(())
        self._screen.print(list(self._output.draw_end()))
        return code

    async def interrupt(self) -> None:
        """Interrupt the turn."""
        try:
            await self.conversation.interrupt()
        except RecollectError as error:
            self._say(str(error))

    def _show(self, event: ConversationEvent) -> None:
        lines = list(self._output.draw(event))
        if lines:
            self._screen.show(())
            self._screen.print(lines)
        if self._is_live and time.monotonic() >= self._due:
            self._screen.show(self._output.draw_partial())
            self._due = time.monotonic() + DRAW_SECONDS

    async def _ask(self, request: ConversationRequest) -> None:
        dialog = Dialog(request)
        draft = ""
        self._screen.show(())
        self._screen.print(list(dialog.draw(self._canvas)))
        _forget_typed()
        while request in self.conversation.pending:
            text = await _read_line(dialog.choices, draft)
            draft = (dialog.draft(text) if text is not None else None) or ""
            if draft:
                continue
            try:
                answer = Deny(interrupt=True) if text is None else dialog.answer(text)
                if answer is not None:
                    await self.conversation.answer(request.id, answer, by="terminal")
                else:
                    self._screen.print(list(dialog.draw(self._canvas)))
            except RecollectError as error:
                self._say(str(error))

    def _say(self, text: str) -> None:
        self._screen.print(list(render_notice(text, self._canvas)))


async def _read_line(choices: str, draft: str) -> str | None:
    """Return a line; None if the user interrupts or ends the input."""
    try:
        return await PromptSession[str](f"{choices}\n> ").prompt_async(default=draft)
    except (EOFError, KeyboardInterrupt):
        return None


def _forget_typed() -> None:
    """Drop keys from before the question was shown: they were not meant for it."""
    if sys.platform != "win32":
        import termios  # does not exist on Windows

        termios.tcflush(sys.stdin, termios.TCIFLUSH)


class _Interrupts:
    """Turns Ctrl+C into an interrupt of the turn while no question is open."""

    def __init__(self, run: _AskingRun) -> None:
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
