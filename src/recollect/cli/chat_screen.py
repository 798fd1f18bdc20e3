"""The screen of `recollect chat`: input below, the conversation above, with completion of files and
folders after `@` and of commands after `/`.

Keys are read by prompt_toolkit while events are printed. A question takes over the input: the draft
is set aside, and keys count as an answer only after the question has been on the screen for a
moment, so that nobody approves something by accident while typing. A line answers the question that
was open when Enter was pressed, even if another is open by the time it is read.
"""

import asyncio
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Final, TextIO

from prompt_toolkit import PromptSession
from prompt_toolkit.application import run_in_terminal
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition, completion_is_selected
from prompt_toolkit.formatted_text import ANSI
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.patch_stdout import patch_stdout

from recollect.cli.dialogs import Dialog
from recollect.cli.follow_text import render_notice
from recollect.cli.interactive_run import ChatOutput
from recollect.cli.terminal_output import count_columns
from recollect.errors import RecollectError, UsageError
from recollect.launch.context_references import ProjectPath, list_paths, match_paths
from recollect.launch.control_messages import SlashCommand
from recollect.launch.conversation import Conversation
from recollect.launch.conversation_events import ConversationStatus, RequestAsked, RequestSettled
from recollect.quantities import format_count
from recollect.render.terminal import clip, safe_line
from recollect.render.terminal.canvas import Canvas

LISTING_SECONDS: Final = 10.0
"""How long a listing of the project is cached; short, so that new files appear soon."""

MAX_DESCRIPTION: Final = 60


class PromptCompleter(Completer):
    """Completes the word before the cursor."""

    def __init__(
        self, directory: str, commands: Callable[[], Iterable[SlashCommand]], limit: int = 12
    ) -> None:
        self._directory = Path(directory)
        self._commands = commands
        self._limit = limit
        self._paths: tuple[ProjectPath, ...] = ()
        self._listed = float("-inf")

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterator[Completion]:
        """Yield the completions of the word before the cursor."""
        before = document.text_before_cursor
        word = before.split()[-1] if before and not before[-1].isspace() else ""
        if word.startswith("@"):
            yield from self._complete_path(word[1:])
        elif before.startswith("/") and before == word:
            yield from self._complete_command(word[1:])

    def _complete_path(self, typed: str) -> Iterator[Completion]:
        for found in match_paths(self._list_paths(), typed, self._limit):
            path = f"{found.path}/" if found.is_folder else found.path
            shown = safe_line(path)
            if shown == path and " " not in path:
                # For the client, a path ends at the next blank.
                yield Completion(path, -len(typed), display=shown)

    def _complete_command(self, typed: str) -> Iterator[Completion]:
        for command in self._commands():
            if command.name.startswith(typed):
                about = safe_line(command.description)
                shown = safe_line(f"/{command.name} {command.argument_hint}")
                yield Completion(
                    command.name,
                    -len(typed),
                    display=shown.rstrip(),
                    display_meta=clip(about, MAX_DESCRIPTION),
                )

    def _list_paths(self) -> tuple[ProjectPath, ...]:
        now = time.monotonic()
        if now - self._listed > LISTING_SECONDS:
            self._paths = list_paths(self._directory)
            self._listed = now
        return self._paths


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


def open_keyboard(terminal: TextIO) -> Input | None:
    """Return the input of a terminal; None for the default one."""
    if sys.platform == "win32":
        return None
    from prompt_toolkit.input.vt100 import Vt100Input  # does not exist on Windows

    class RawInput(Vt100Input):
        """Stays in raw mode while lines are printed: in cooked mode, Enter becomes Ctrl+J."""

        def cooked_mode(self) -> AbstractContextManager[None]:
            return nullcontext()

    return RawInput(terminal)


class ChatScreen:
    """One conversation in a terminal."""

    def __init__(
        self, conversation: Conversation, canvas: Canvas, keyboard: Input | None = None
    ) -> None:
        self._conversation = conversation
        self._canvas = canvas
        self._output = ChatOutput(conversation, canvas)
        self._commands: tuple[SlashCommand, ...] = _OWN_COMMANDS
        self._dialog: Dialog | None = None
        self._addressee: Dialog | None = None
        self._is_armed = False
        self._draft = ""
        self._set_aside = ""
        self._unwritten: list[str] = []
        self._has_unwritten = asyncio.Event()
        self._input: PromptSession[str] = PromptSession(
            self._render_prompt,
            multiline=True,
            completer=PromptCompleter(conversation.options.directory, self._list_commands),
            complete_in_thread=True,
            key_bindings=self._bind_keys(),
            bottom_toolbar=lambda: f" {safe_line(self._output.status)}",
            prompt_continuation="  ",
            input=keyboard,
        )
        self._input.app.erase_when_done = True
        self._input.app.min_redraw_interval = _REDRAW_SECONDS

    async def run(self) -> None:
        """Run the conversation until the user leaves."""
        with patch_stdout(raw=True):
            work = (self._read_events(), self._write_lines(), self._greet())
            tasks = [asyncio.create_task(each) for each in work]
            try:
                # Keys pressed between two prompts would be echoed, and Enter would become Ctrl+J.
                with self._input.app.input.raw_mode():
                    await self._read_input()
            finally:
                for task in tasks:
                    task.cancel()
                self._print(self._output.render_end())
                self._flush()

    async def _greet(self) -> None:
        try:
            info = await self._conversation.client_info()
        except RecollectError as error:
            self._print_message(str(error))
            return
        own = {command.name for command in _OWN_COMMANDS}
        client_commands = (command for command in info.commands if command.name not in own)
        self._commands = (*_OWN_COMMANDS, *client_commands)

    async def _read_events(self) -> None:
        async for event in self._conversation.events():
            self._print(self._output.render(event))
            if isinstance(event, RequestAsked | RequestSettled):
                self._follow_requests()
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
                self._print_message(str(error))

    async def _take(self, text: str) -> None:
        if self._addressee is not None:
            await self._answer(self._addressee, text)
        elif text.strip():
            await self._run_command(text)

    async def _answer(self, dialog: Dialog, text: str) -> None:
        draft = dialog.draft(text)
        if draft is not None:
            self._draft = draft
            return
        answer = dialog.answer(text)
        if answer is None:
            self._print(dialog.render(self._canvas))
        else:
            await self._conversation.answer(dialog.request.id, answer, by="terminal")
            # Before the next prompt reads keys: they are no longer meant for the question.
            self._follow_requests()

    async def _run_command(self, text: str) -> None:
        word, _, rest = text.strip().partition(" ")
        value = rest.strip()
        match word:
            case "/model":
                await self._conversation.set_model(value or None)
            case "/mode" if value:
                await self._conversation.set_permission_mode(value)
            case "/mode":
                raise UsageError("Specify a mode: /mode default, acceptEdits, plan, …")
            case "/effort" if value:
                await self._conversation.set_effort(None if value == "default" else value)
                self._print_message(f"Effort: {value}")
            case "/effort":
                raise UsageError("Specify a level: /effort low, medium, high, …")
            case "/tasks" if value:
                await self._conversation.stop_task(value)
            case "/tasks":
                tasks = [f"{name} {about}" for name, about in self._conversation.tasks.items()]
                self._print_message("; ".join(tasks) or "No background tasks.")
            case "/context":
                await self._show_context()
            case _:
                await self._conversation.send(text)

    async def _show_context(self) -> None:
        usage = await self._conversation.context_usage()
        total = format_count(usage.total_tokens, "token")
        self._print_message(f"{total} of {usage.max_tokens:,}" if usage.max_tokens else total)

    def _follow_requests(self) -> None:
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
        if dialog is not None:
            buffer.set_document(Document(""))
            self._print(dialog.render(self._canvas))
            return
        # The draft that the question interrupted is restored, now or with the next prompt.
        text, self._set_aside = self._set_aside, ""
        if self._input.app.is_running and not self._input.app.is_done:
            buffer.set_document(Document(text))
        else:
            self._draft = text

    def _arm(self, dialog: Dialog) -> None:
        if dialog is self._dialog and not self._is_armed:
            self._input.default_buffer.set_document(Document(""))
            self._is_armed = True
            self._input.app.invalidate()

    def _render_prompt(self) -> ANSI:
        columns, rows = shutil.get_terminal_size()
        # Also called after the window was resized.
        self._canvas.resize(count_columns())
        room = max(rows - _RESERVED_LINES, 1)
        lines = self._output.render_partial()[-room:]
        if self._dialog is not None:
            lines = [self._dialog.choices[: columns - 1] if self._is_armed else "…"]
        return ANSI("\n".join([*lines, PROMPT]))

    def _list_commands(self) -> Iterable[SlashCommand]:
        return () if self._dialog else self._commands

    def _print_message(self, text: str) -> None:
        self._print(render_notice(text, self._canvas))

    def _print(self, lines: Iterable[str]) -> None:
        self._unwritten.extend(f"{line}\n" for line in lines)
        if self._unwritten:
            self._has_unwritten.set()

    async def _write_lines(self) -> None:
        """Write the pending output above the input, and enable answers to a question in it."""
        while True:
            await self._has_unwritten.wait()
            self._has_unwritten.clear()
            dialog = self._dialog
            await run_in_terminal(self._flush)
            if dialog is not None:
                asyncio.get_running_loop().call_later(ARMING_SECONDS, self._arm, dialog)
            await asyncio.sleep(_REDRAW_SECONDS)

    def _flush(self) -> None:
        text = "".join(self._unwritten)
        self._unwritten.clear()
        output = self._input.app.output
        output.enable_autowrap()
        output.write_raw(text)
        output.flush()

    def _bind_keys(self) -> KeyBindings:
        keys = KeyBindings()
        is_locked = Condition(lambda: self._dialog is not None and not self._is_armed)
        keys.add("enter", filter=~completion_is_selected & ~is_locked)(self._submit)
        keys.add("enter", filter=is_locked)(_ignore)
        keys.add("enter", filter=completion_is_selected)(_take_completion)
        keys.add("escape", "enter")(_break_line)
        keys.add("c-j")(_break_line)
        keys.add("c-c")(self._make_interrupt())
        return keys

    def _submit(self, event: KeyPressEvent) -> None:
        self._addressee = self._dialog
        event.current_buffer.validate_and_handle()
        # `print` would keep the text until the next prompt, which a question could set aside.
        event.current_buffer.reset()

    def _make_interrupt(self) -> Callable[[KeyPressEvent], None]:
        def interrupt(event: KeyPressEvent) -> None:
            if self._conversation.status in _BUSY:
                event.app.create_background_task(self._interrupt())
            elif event.current_buffer.text:
                event.current_buffer.reset()
            else:
                self._print_message("Ctrl+D or /exit ends the conversation.")

        return interrupt

    async def _interrupt(self) -> None:
        try:
            await self._conversation.interrupt()
        except RecollectError as error:
            self._print_message(str(error))


def _ignore(event: KeyPressEvent) -> None:
    """The question has not been on the screen long enough."""


def _take_completion(event: KeyPressEvent) -> None:
    event.current_buffer.complete_state = None


def _break_line(event: KeyPressEvent) -> None:
    event.current_buffer.insert_text("\n")
