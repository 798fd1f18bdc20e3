"""The picker in a terminal: key bindings, layout, clipboard, and what follows a pick.

Imports prompt_toolkit, which takes a tenth of a second. Slow work runs in threads, and outdated
results are dropped, so that keys always respond immediately. Only our own commands with quoted
arguments are copied to the clipboard, never text of a session.
"""

import asyncio
import base64
import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Coroutine
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import click
from msgspec.structs import replace
from prompt_toolkit.application import Application, get_app
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.filters import Condition, FilterOrBool
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import (
    BufferControl,
    ConditionalContainer,
    FormattedTextControl,
    HSplit,
    Layout,
    VSplit,
    Window,
)
from prompt_toolkit.layout.processors import BeforeInput
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.shortcuts import PromptSession
from prompt_toolkit.styles import Style

from recollect.cli import picker_state, picker_text
from recollect.cli.clock import read_clock
from recollect.cli.program import load_command
from recollect.cli.terminal_output import force_pager, wants_colour
from recollect.documents.search_results import Hit
from recollect.documents.session_listing import SessionListing
from recollect.errors import RecollectError
from recollect.launch.client_commands import check_resume, format_command
from recollect.workspace.workspace import Workspace

_PROGRAMS: tuple[tuple[str | None, tuple[str, ...]], ...] = (
    (None, ("pbcopy",)),
    ("WAYLAND_DISPLAY", ("wl-copy",)),
    ("DISPLAY", ("xclip", "-selection", "clipboard")),
    ("DISPLAY", ("xsel", "--clipboard", "--input")),
    (None, ("clip.exe",)),
)
"""Clipboard programs, and the variable that must be set for each."""
_SECONDS = 2.0


def copy_text(text: str, write: Callable[[str], object]) -> None:
    """Copy `text` to the clipboard with a program, or else through the terminal with `write`."""
    for variable, command in _PROGRAMS:
        is_possible = variable is None or os.environ.get(variable)
        if is_possible and shutil.which(command[0]) and _run(command, text):
            return
    # OSC 52: supported by most terminals, also through SSH.
    write(f"\x1b]52;c;{base64.b64encode(text.encode()).decode()}\x07")


def _run(command: tuple[str, ...], text: str) -> bool:
    try:
        done = subprocess.run(
            command, input=text.encode(), capture_output=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


TYPING_PAUSE = 0.12
"""Seconds without a key press before the full text is searched."""
PREVIEW_PAUSE = 0.06
INDEXING_PAUSE = 0.3
"""Seconds before indexing starts, so that its imports do not delay the first screen."""
INDEXING_STEP = 1.0
ESCAPE_PAUSE = 0.1
MIN_COLUMNS_FOR_TWO_PANES = 100
MIN_ROWS_FOR_PREVIEW = 16
LIST_SHARE = 55
"""Percentage of a wide screen for the list; the rest is the preview."""
PREVIEW_LINES = 8

_STYLE = Style.from_dict(
    {
        "selected": "reverse",
        "faint": "ansibrightblack",
        "found": "italic",
        "title": "bold",
        "key": "bold",
        "message": "bold",
        "line": "ansibrightblack",
    }
)


class Actions(NamedTuple):
    """Actions on a session; each returns a message."""

    copy_command: Callable[[SessionListing], str]
    """Copy the command that resumes it."""
    check_resume: Callable[[SessionListing], str]
    """Return why it cannot be resumed; empty if it can."""


class Picker:
    """One run of the picker."""

    def __init__(
        self,
        state: picker_state.PickerState,
        sources: picker_state.Sources,
        actions: Actions,
        read_clock: Callable[[], datetime],
        *,
        has_colour: bool = True,
    ) -> None:
        self._state = state
        self._sources = sources
        self._actions = actions
        self._read_clock = read_clock
        self._preview: picker_state.Preview | None = None
        self._is_indexed = False
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._query = Buffer(multiline=False, on_text_changed=lambda _: self._type())
        self._application: Application[picker_state.Pick | None] = Application(
            layout=self._lay_out(),
            key_bindings=self._bind_keys(),
            style=_STYLE,
            full_screen=True,
            color_depth=ColorDepth.DEPTH_4_BIT if has_colour else ColorDepth.DEPTH_1_BIT,
        )

        # How long Esc may still be the start of Alt-…; the default of a second feels slow.
        self._application.timeoutlen = self._application.ttimeoutlen = ESCAPE_PAUSE

    def run(self, typed: str = "") -> picker_state.Pick | None:
        """Run the picker, or continue it; return None if the user quits without a pick.

        `typed` is used as if it had just been typed.
        """
        return self._application.run(pre_run=lambda: self._start(typed))

    def _start(self, typed: str) -> None:
        self._load_preview()
        self._query.insert_text(typed)
        self._begin("index", self._index())

    def _lay_out(self) -> Layout:
        query = Window(
            BufferControl(self._query, input_processors=[BeforeInput("> ", "class:key")]), height=1
        )
        rows = Window(
            FormattedTextControl(self._render_rows),
            width=lambda: self._pane[0],
            always_hide_cursor=True,
        )
        wide = Condition(lambda: get_app().output.get_size().columns >= MIN_COLUMNS_FOR_TWO_PANES)
        has_room = Condition(lambda: self._lines_below > 0)
        beside = ConditionalContainer(
            VSplit([Window(width=1, char="│", style="class:line"), self._preview_pane()]), wide
        )
        below = ConditionalContainer(
            HSplit(
                [
                    Window(height=1, char="─", style="class:line"),
                    self._preview_pane(height=lambda: self._lines_below),
                ]
            ),
            ~wide & has_room,
        )
        bottom = Window(FormattedTextControl(self._render_bottom), height=2)
        return Layout(HSplit([query, VSplit([rows, beside]), below, bottom]), query)

    def _preview_pane(self, height: Callable[[], int] | None = None) -> Window:
        return Window(FormattedTextControl(self._render_preview), height=height)

    @property
    def _size(self) -> tuple[int, int]:
        size = get_app().output.get_size()
        return size.columns, size.rows

    @property
    def _pane(self) -> tuple[int, int]:
        """Width and height of the list."""
        columns, rows = self._size
        if columns >= MIN_COLUMNS_FOR_TWO_PANES:
            return columns * LIST_SHARE // 100, rows - 3
        below = self._lines_below
        return columns, rows - 3 - (below + 1 if below else 0)

    @property
    def _lines_below(self) -> int:
        """Height of the preview on a narrow screen; the help may take all but a row of the list."""
        columns, rows = self._size
        if self._state.is_help_shown:
            return min(picker_text.count_help_lines(columns), rows - 5)
        return PREVIEW_LINES if rows >= MIN_ROWS_FOR_PREVIEW else 0

    def _render_rows(self) -> StyleAndTextTuples:
        columns, lines = self._pane
        return [*picker_text.render_rows(self._state, columns, max(lines, 1), self._read_clock())]

    def _render_preview(self) -> StyleAndTextTuples:
        (columns, _), (taken, lines) = self._size, self._pane
        if columns >= MIN_COLUMNS_FOR_TWO_PANES:
            return [
                *picker_text.render_preview(self._state, self._preview, columns - taken - 2, lines)
            ]
        return [*picker_text.render_preview(self._state, self._preview, columns, self._lines_below)]

    def _render_bottom(self) -> StyleAndTextTuples:
        columns, _ = self._size
        return [
            *picker_text.render_status(self._state, columns),
            ("", "\n"),
            ("class:faint", picker_text.render_hints(columns)),
        ]

    def _bind_keys(self) -> KeyBindings:
        keys = KeyBindings()
        has_no_query = Condition(lambda: not self._state.query)
        bindings: tuple[tuple[tuple[str, ...], FilterOrBool, Callable[[], None]], ...] = (
            (("down",), True, lambda: self._move(1)),
            (("c-n",), True, lambda: self._move(1)),
            (("up",), True, lambda: self._move(-1)),
            (("c-p",), True, lambda: self._move(-1)),
            (("pagedown",), True, lambda: self._move(self._pane[1])),
            (("pageup",), True, lambda: self._move(-self._pane[1])),
            (("end",), True, lambda: self._move(len(self._state.listings))),
            (("home",), True, lambda: self._move(-len(self._state.listings))),
            (("enter",), True, lambda: self._pick(picker_state.PickAction.SHOW)),
            (("escape", "r"), True, self._resume),
            (("escape", "c"), True, self._copy),
            (("escape", "p"), True, lambda: self._filter(picker_state.switch_scope(self._state))),
            (("c-r",), True, lambda: self._filter(picker_state.switch_scope(self._state))),
            (("escape", "b"), True, lambda: self._filter(picker_state.switch_branch(self._state))),
            (("escape", "e"), True, lambda: self._filter(picker_state.switch_errors(self._state))),
            (("escape", "d"), True, self._switch_dates),
            (("f1",), True, self._switch_help),
            (("?",), has_no_query, self._switch_help),
            (("escape",), True, self._leave),
            # An unbound Alt key must not quit the picker, but Ctrl+C right after Esc must.
            (("escape", Keys.Any), True, lambda: None),
            (("escape", "c-c"), True, self._quit),
            (("escape", "c-d"), True, self._quit),
            (("c-c",), True, self._quit),
            (("c-d",), True, self._quit),
        )
        for names, condition, action in bindings:
            keys.add(*names, filter=condition)(_ignore_event(action))
        return keys

    def _move(self, steps: int) -> None:
        self._change(picker_state.move(self._state, steps))

    def _switch_help(self) -> None:
        self._set(is_help_shown=not self._state.is_help_shown)

    def _leave(self) -> None:
        """Close the help, or the picker if it is not shown."""
        if self._state.is_help_shown:
            self._switch_help()
        else:
            self._quit()

    def _quit(self) -> None:
        self._application.exit(result=None)

    def _pick(self, action: picker_state.PickAction) -> None:
        row = self._state.current
        if row is not None:
            self._application.exit(result=picker_state.Pick(action, row.listing, row.hit))

    def _resume(self) -> None:
        row = self._state.current
        problem = self._actions.check_resume(row.listing) if row else "No session is selected."
        if problem:
            self._set(message=problem)
        else:
            self._pick(picker_state.PickAction.RESUME)

    def _copy(self) -> None:
        row = self._state.current
        if row is not None:
            self._set(message=self._actions.copy_command(row.listing))

    def _switch_dates(self) -> None:
        self._filter(picker_state.switch_dates(self._state, self._read_clock()))

    def _filter(self, state: picker_state.PickerState) -> None:
        self._change(state)
        self._search()
        if picker_state.list_unread(state):
            self._begin("failures", self._count_failures())

    def _type(self) -> None:
        self._change(picker_state.type_query(self._state, self._query.text))
        self._search()

    def _search(self) -> None:
        if self._state.query.strip():
            self._begin("find", self._find(self._state.query))

    def _set(self, **values: object) -> None:
        self._state = replace(self._state, **values)

    def _change(self, state: picker_state.PickerState) -> None:
        before, self._state = self._state.current, state
        if state.current != before:
            self._load_preview()

    def _begin(self, name: str, work: Coroutine[None, None, None]) -> None:
        """Start `work` and cancel the previous task of that name."""
        if name in self._tasks:
            self._tasks[name].cancel()
        self._tasks[name] = self._application.create_background_task(work)

    def _load_preview(self) -> None:
        self._preview = None
        row = self._state.current
        if row is not None:
            self._begin("preview", self._fetch_preview(row.listing))

    async def _fetch_preview(self, listing: SessionListing) -> None:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(PREVIEW_PAUSE)
            self._preview = await asyncio.to_thread(self._sources.preview, listing)
            self._application.invalidate()

    async def _find(self, query: str) -> None:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(TYPING_PAUSE)
            width = picker_text.measure_title(self._state, self._pane[0])
            found = await asyncio.to_thread(self._sources.find, query, width)
            if not self._is_indexed:
                # A word that has no match yet may be in a text that is still to be indexed.
                found = replace(found, note="")
            self._change(picker_state.add_found(self._state, query, found))
            self._application.invalidate()

    async def _count_failures(self) -> None:
        """Count failures in small steps, as many sessions have not been read completely."""
        with contextlib.suppress(asyncio.CancelledError):
            while unread := picker_state.list_unread(self._state):
                counts = await asyncio.to_thread(
                    self._sources.count_failures, unread, INDEXING_STEP
                )
                self._change(picker_state.add_failures(self._state, counts))
                self._search()
                self._application.invalidate()

    async def _index(self) -> None:
        """Index texts in small steps, so that quitting never has to wait."""
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(INDEXING_PAUSE)
            is_indexed = False
            while not is_indexed:
                is_indexed = await asyncio.to_thread(self._sources.update_text_index, INDEXING_STEP)
                self._is_indexed = is_indexed
                self._set(is_indexing=not is_indexed)
                # After the last step too: what was typed before it has not seen its texts.
                self._search()
                self._application.invalidate()


def _ignore_event(action: Callable[[], None]) -> Callable[[KeyPressEvent], None]:
    return lambda _: action()


def wait_for_enter() -> str:
    """Wait until the user presses Enter; return the input typed before it."""
    # Unlike waiting for one key, a prompt keeps what was typed before it could be shown.
    return PromptSession[str]("Press Enter to continue, or type to search: ").prompt().strip()


def make_picker(workspace: Workspace) -> Picker:
    """Return a picker for the sessions of a workspace; it keeps its query and row between runs."""
    transcripts = workspace.require_sessions()
    actions = Actions(
        lambda listing: _copy_command(workspace, listing),
        lambda listing: _check_resume(workspace, listing),
    )
    return Picker(
        picker_state.open_state(workspace.sessions().sessions, str(Path.cwd())),
        picker_state.Sources(workspace, transcripts),
        actions,
        read_clock,
        has_colour=wants_colour(),
    )


def do_pick(ctx: click.Context, pick: picker_state.Pick) -> int:
    """Run `show` or `resume` on the picked session; output stays until the user quits the pager."""
    command = load_command(pick.action.value)
    arguments = [pick.listing.path]
    if pick.action is picker_state.PickAction.SHOW and pick.hit is not None:
        arguments += _point_at(pick.hit)
    with command.make_context(pick.action.value, arguments, parent=ctx) as inner, force_pager():
        code = command.invoke(inner)
    return code if isinstance(code, int) else 0


def _point_at(hit: Hit) -> list[str]:
    """Return the arguments of `show` that open a session at a hit."""
    _, _, record = hit.link.partition("#")
    words = (hit.snippet.text[start:end] for start, end in hit.snippet.marks)
    marks = [f"--highlight={word}" for word in dict.fromkeys(words)]
    is_inside = bool(record) and hit.part != picker_state.TITLE
    return [*([f"--at=#{record}", "--context=3"] if is_inside else []), *marks]


def _check_resume(workspace: Workspace, listing: SessionListing) -> str:
    try:
        check_resume(workspace.plan_resume(listing.path))
    except RecollectError as error:
        return str(error)
    return ""


def _copy_command(workspace: Workspace, listing: SessionListing) -> str:
    try:
        command = format_command(workspace.plan_resume(listing.path))
    except RecollectError as error:
        return str(error)
    copy_text(command, _write_to_terminal)
    return f"Copied: {command}"


def _write_to_terminal(sequence: str) -> None:
    sys.stdout.write(sequence)
    sys.stdout.flush()
