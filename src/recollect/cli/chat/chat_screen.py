"""The screen of `recollect chat`: input below, the conversation above.

Keys are read by prompt_toolkit while events are printed. A question takes over the input: what was
being typed is set aside, and keys count as an answer only after the question has been on the screen
for a moment, so that a sentence in full flow cannot say yes.
"""

import asyncio
import shutil
import sys
from collections.abc import Callable, Iterable
from typing import Final

from prompt_toolkit import PromptSession
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition, completion_is_selected
from prompt_toolkit.formatted_text import ANSI
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.patch_stdout import patch_stdout

from recollect.cli.chat.chat_output import ChatOutput
from recollect.cli.chat.completion import PromptCompleter
from recollect.cli.chat.dialogs import Dialog
from recollect.cli.follow_text import render_notice
from recollect.errors import RecollectError, UsageError
from recollect.launch.client_replies import SlashCommand
from recollect.launch.conversation import Conversation
from recollect.launch.conversation_events import (
    ConversationEvent,
    ConversationStatus,
    RequestAsked,
    RequestSettled,
)
from recollect.quantities import format_count
from recollect.render.terminal import safe_text
from recollect.render.terminal.canvas import Canvas

PROMPT: Final = "> "
ARMING_SECONDS: Final = 0.6
"""How long a question is shown before keys can answer it."""

_RESERVED_LINES: Final = 6
_REDRAW_SECONDS: Final = 0.1
_BUSY: Final = (ConversationStatus.WORKING, ConversationStatus.WAITING)
_OWN_COMMANDS: Final = (
    SlashCommand(name="exit", description="End the conversation"),
    SlashCommand(name="mode", description="Set the permission mode", argument_hint="MODE"),
    SlashCommand(name="model", description="Set the model", argument_hint="NAME"),
    SlashCommand(name="effort", description="Set how much the model thinks", argument_hint="LEVEL"),
    SlashCommand(name="context", description="Show how full the context is"),
    SlashCommand(name="tasks", description="List background tasks; with an id, stop one"),
)


class ChatScreen:
    """One conversation in a terminal."""

    def __init__(self, conversation: Conversation, canvas: Canvas) -> None:
        self._conversation = conversation
        self._canvas = canvas
        self._output = ChatOutput(conversation, canvas)
        self._commands: tuple[SlashCommand, ...] = _OWN_COMMANDS
        self._dialog: Dialog | None = None
        self._is_armed = False
        self._draft = ""
        self._set_aside = ""
        self._input: PromptSession[str] = PromptSession(
            self._draw_prompt,
            multiline=True,
            completer=PromptCompleter(conversation.options.directory, self._list_commands),
            complete_in_thread=True,
            key_bindings=self._bind_keys(),
            bottom_toolbar=lambda: f" {safe_text(self._output.status, single_line=True)}",
            prompt_continuation="  ",
        )
        self._input.app.erase_when_done = True
        self._input.app.min_redraw_interval = _REDRAW_SECONDS

    async def run(self) -> None:
        """Talk until the user leaves."""
        with patch_stdout(raw=True):
            tasks = [asyncio.create_task(each) for each in (self._read_events(), self._greet())]
            try:
                # Keys that come between two prompts would be echoed, and Enter become Ctrl+J.
                with self._input.app.input.raw_mode():
                    await self._read_input()
            finally:
                for task in tasks:
                    task.cancel()
                self._print(self._output.draw_end())

    async def _greet(self) -> None:
        try:
            info = await self._conversation.client_info()
        except RecollectError as error:
            self._say(str(error))
            return
        own = {command.name for command in _OWN_COMMANDS}
        theirs = (command for command in info.commands if command.name not in own)
        self._commands = (*_OWN_COMMANDS, *theirs)

    async def _read_events(self) -> None:
        async for event in self._conversation.events():
            self._print(self._output.draw(event))
            self._follow_requests(event)
            self._input.app.invalidate()

    async def _read_input(self) -> None:
        while True:
            draft, self._draft = self._draft, ""
            try:
                text = await self._input.prompt_async(default=draft)
            except (EOFError, KeyboardInterrupt):
                return
            if text.strip() in ("/exit", "/quit"):
                return
            try:
                await self._take(text)
            except RecollectError as error:
                self._say(str(error))

    async def _take(self, text: str) -> None:
        if self._dialog is not None:
            await self._answer(self._dialog, text)
        elif text.strip():
            await self._run_command(text)

    async def _answer(self, dialog: Dialog, text: str) -> None:
        draft = dialog.draft(text)
        if draft is not None:
            self._draft = draft
            return
        answer = dialog.answer(text)
        if answer is None:
            self._print(dialog.draw(self._canvas))
        else:
            await self._conversation.answer(dialog.request.id, answer, by="terminal")

    async def _run_command(self, text: str) -> None:
        word, _, rest = text.strip().partition(" ")
        value = rest.strip()
        match word:
            case "/model":
                await self._conversation.set_model(value or None)
            case "/mode" if value:
                await self._conversation.set_permission_mode(value)
            case "/mode":
                raise UsageError("Which mode? /mode default, acceptEdits, plan, …")
            case "/effort" if value:
                await self._conversation.set_effort(None if value == "default" else value)
                self._say(f"Effort: {value}")
            case "/effort":
                raise UsageError("Which level? /effort low, medium, high, …")
            case "/tasks" if value:
                await self._conversation.stop_task(value)
            case "/tasks":
                tasks = [f"{name} {about}" for name, about in self._conversation.tasks.items()]
                self._say("; ".join(tasks) or "No background tasks.")
            case "/context":
                await self._show_context()
            case _:
                await self._conversation.send(text)

    async def _show_context(self) -> None:
        usage = await self._conversation.context_usage()
        total = format_count(usage.total_tokens, "token")
        self._say(f"{total} of {usage.max_tokens:,}" if usage.max_tokens else total)

    def _follow_requests(self, event: ConversationEvent) -> None:
        if isinstance(event, RequestAsked | RequestSettled):
            pending = self._conversation.pending
            wanted = pending[0] if pending else None
            current = self._dialog.request if self._dialog else None
            if wanted != current:
                self._open(Dialog(wanted) if wanted else None)

    def _open(self, dialog: Dialog | None) -> None:
        buffer = self._input.default_buffer
        if self._dialog is None:
            self._set_aside = buffer.text
        self._dialog = dialog
        self._is_armed = False
        if dialog is None:
            # Typing goes on where the question interrupted it.
            buffer.set_document(Document(self._set_aside))
            self._draft, self._set_aside = self._set_aside, ""
        else:
            buffer.set_document(Document(""))
            self._print(dialog.draw(self._canvas))
            asyncio.get_running_loop().call_later(ARMING_SECONDS, self._arm, dialog)

    def _arm(self, dialog: Dialog) -> None:
        if dialog is self._dialog:
            self._input.default_buffer.set_document(Document(""))
            self._is_armed = True
            self._input.app.invalidate()

    def _draw_prompt(self) -> ANSI:
        columns, rows = shutil.get_terminal_size()
        room = max(rows - _RESERVED_LINES, 1)
        lines = self._output.draw_partial()[-room:]
        if self._dialog is not None:
            lines = [self._dialog.choices[: columns - 1] if self._is_armed else "…"]
        return ANSI("\n".join([*lines, PROMPT]))

    def _list_commands(self) -> Iterable[SlashCommand]:
        return () if self._dialog else self._commands

    def _say(self, text: str) -> None:
        self._print(render_notice(text, self._canvas))

    def _print(self, lines: Iterable[str]) -> None:
        text = "".join(f"{line}\n" for line in lines)
        if text:
            sys.stdout.write(text)
            sys.stdout.flush()

    def _bind_keys(self) -> KeyBindings:
        keys = KeyBindings()
        is_locked = Condition(lambda: self._dialog is not None and not self._is_armed)
        keys.add("enter", filter=~completion_is_selected & ~is_locked)(_submit)
        keys.add("enter", filter=is_locked)(_ignore)
        keys.add("enter", filter=completion_is_selected)(_take_completion)
        keys.add("escape", "enter")(_break_line)
        keys.add("c-j")(_break_line)
        keys.add("c-c")(self._make_interrupt())
        return keys

    def _make_interrupt(self) -> Callable[[KeyPressEvent], None]:
        def interrupt(event: KeyPressEvent) -> None:
            if self._conversation.status in _BUSY:
                event.app.create_background_task(self._interrupt())
            elif event.current_buffer.text:
                event.current_buffer.reset()
            else:
                self._say("Ctrl+D or /exit ends the conversation.")

        return interrupt

    async def _interrupt(self) -> None:
        try:
            await self._conversation.interrupt()
        except RecollectError as error:
            self._say(str(error))


def _submit(event: KeyPressEvent) -> None:
    event.current_buffer.validate_and_handle()


def _ignore(event: KeyPressEvent) -> None:
    """The question has not been on the screen long enough."""


def _take_completion(event: KeyPressEvent) -> None:
    event.current_buffer.complete_state = None


def _break_line(event: KeyPressEvent) -> None:
    event.current_buffer.insert_text("\n")
