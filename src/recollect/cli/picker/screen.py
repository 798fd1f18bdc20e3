"""The picker on a terminal: draws the state, turns keys into changes of it.

The only module that knows prompt_toolkit, which takes a tenth of a second to load. Everything slow
runs in threads, and an answer that comes too late is dropped: a key always acts at once.
"""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from datetime import datetime

from msgspec.structs import replace
from prompt_toolkit.application import Application, get_app
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.filters import Condition, FilterOrBool
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
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
from prompt_toolkit.styles import Style

from recollect.cli.picker.drawing import HINTS, draw_preview, draw_rows, draw_status
from recollect.cli.picker.sources import Preview, Sources
from recollect.cli.picker.state import (
    Deed,
    Pick,
    State,
    add_found,
    move,
    switch_scope,
    type_query,
)
from recollect.render.terminal import clip
from recollect.store.listings import Listing

TYPING_PAUSE = 0.12
"""Seconds without a key before the texts are searched."""
PREVIEW_PAUSE = 0.06
INDEXING_PAUSE = 0.3
"""Seconds before texts are indexed, so that loading what that takes delays no first screen."""
INDEXING_STEP = 1.0
ESCAPE_PAUSE = 0.1
LEAST_FOR_TWO_PANES = 100
LEAST_FOR_PREVIEW = 16
LIST_SHARE = 55
"""Percent of a wide screen that the list takes; the preview has the rest."""
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

CopyCommand = Callable[[Listing], str]
"""Puts the resume command of a session on the clipboard and says how that went."""


class Picker:
    """One run of the picker."""

    def __init__(
        self,
        state: State,
        sources: Sources,
        copy_command: CopyCommand,
        read_clock: Callable[[], datetime],
        *,
        has_colour: bool = True,
    ) -> None:
        self._state = state
        self._sources = sources
        self._copy_command = copy_command
        self._read_clock = read_clock
        self._preview: Preview | None = None
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._query = Buffer(multiline=False, on_text_changed=lambda _: self._type())
        self._application: Application[Pick | None] = Application(
            layout=self._lay_out(),
            key_bindings=self._bind_keys(),
            style=_STYLE,
            full_screen=True,
            color_depth=ColorDepth.DEPTH_4_BIT if has_colour else ColorDepth.DEPTH_1_BIT,
        )

        # How long Esc may still become Alt-something; the default of a second feels stuck.
        self._application.timeoutlen = self._application.ttimeoutlen = ESCAPE_PAUSE

    def run(self) -> Pick | None:
        """What was picked; None when the picker was left without."""
        return self._application.run(pre_run=self._start)

    def _start(self) -> None:
        self._load_preview()
        self._begin("index", self._index())

    def _lay_out(self) -> Layout:
        query = Window(
            BufferControl(self._query, input_processors=[BeforeInput("> ", "class:key")]), height=1
        )
        rows = Window(
            FormattedTextControl(self._draw_rows),
            width=lambda: self._pane[0],
            always_hide_cursor=True,
        )
        wide = Condition(lambda: get_app().output.get_size().columns >= LEAST_FOR_TWO_PANES)
        tall = Condition(lambda: get_app().output.get_size().rows >= LEAST_FOR_PREVIEW)
        beside = ConditionalContainer(
            VSplit([Window(width=1, char="│", style="class:line"), self._preview_pane()]), wide
        )
        below = ConditionalContainer(
            HSplit(
                [
                    Window(height=1, char="─", style="class:line"),
                    self._preview_pane(height=PREVIEW_LINES),
                ]
            ),
            ~wide & tall,
        )
        bottom = Window(FormattedTextControl(self._draw_bottom), height=2)
        return Layout(HSplit([query, VSplit([rows, beside]), below, bottom]), query)

    def _preview_pane(self, height: int | None = None) -> Window:
        return Window(FormattedTextControl(self._draw_preview), height=height)

    @property
    def _size(self) -> tuple[int, int]:
        size = get_app().output.get_size()
        return size.columns, size.rows

    @property
    def _pane(self) -> tuple[int, int]:
        """Columns and lines of the list."""
        columns, rows = self._size
        if columns >= LEAST_FOR_TWO_PANES:
            return columns * LIST_SHARE // 100, rows - 3
        return columns, rows - 3 - (PREVIEW_LINES + 1 if rows >= LEAST_FOR_PREVIEW else 0)

    def _draw_rows(self) -> StyleAndTextTuples:
        columns, lines = self._pane
        return [*draw_rows(self._state, columns, max(lines, 1), self._read_clock())]

    def _draw_preview(self) -> StyleAndTextTuples:
        (columns, _), (taken, lines) = self._size, self._pane
        if columns >= LEAST_FOR_TWO_PANES:
            return [*draw_preview(self._state, self._preview, columns - taken - 2, lines)]
        return [*draw_preview(self._state, self._preview, columns, PREVIEW_LINES)]

    def _draw_bottom(self) -> StyleAndTextTuples:
        columns, _ = self._size
        return [
            *draw_status(self._state, columns),
            ("", "\n"),
            ("class:faint", clip(HINTS, columns)),
        ]

    def _bind_keys(self) -> KeyBindings:
        keys = KeyBindings()
        choosing = Condition(lambda: self._state.is_choosing)
        askable = choosing | Condition(lambda: not self._state.query)
        deeds: tuple[tuple[tuple[str, ...], FilterOrBool, Callable[[], None]], ...] = (
            (("down",), True, lambda: self._move(1)),
            (("c-n",), True, lambda: self._move(1)),
            (("up",), True, lambda: self._move(-1)),
            (("c-p",), True, lambda: self._move(-1)),
            (("pagedown",), True, lambda: self._move(self._pane[1])),
            (("pageup",), True, lambda: self._move(-self._pane[1])),
            (("end",), True, lambda: self._move(len(self._state.listings))),
            (("home",), True, lambda: self._move(-len(self._state.listings))),
            (("enter",), True, lambda: self._leave(Deed.SHOW)),
            (("r",), choosing, lambda: self._leave(Deed.RESUME)),
            (("escape", "r"), True, lambda: self._leave(Deed.RESUME)),
            (("c",), choosing, self._copy),
            (("escape", "c"), True, self._copy),
            (("c-r",), True, lambda: self._change(switch_scope(self._state))),
            (("/",), choosing, lambda: self._set(is_choosing=False)),
            (("?",), askable, self._switch_help),
            (("escape",), True, self._give_up),
            (("c-c",), True, self._give_up),
            (("c-d",), True, self._give_up),
        )
        for names, condition, deed in deeds:
            keys.add(*names, filter=condition)(_ignore_event(deed))
        return keys

    def _move(self, steps: int) -> None:
        self._change(move(self._state, steps))

    def _switch_help(self) -> None:
        self._set(is_help_shown=not self._state.is_help_shown)

    def _give_up(self) -> None:
        self._application.exit(result=None)

    def _leave(self, deed: Deed) -> None:
        row = self._state.current
        if row is not None:
            self._application.exit(result=Pick(deed, row.listing))

    def _copy(self) -> None:
        row = self._state.current
        if row is not None:
            self._set(message=self._copy_command(row.listing))

    def _type(self) -> None:
        self._change(type_query(self._state, self._query.text))
        if self._state.query.strip():
            self._begin("find", self._find(self._state.query))

    def _set(self, **values: object) -> None:
        self._state = replace(self._state, **values)

    def _change(self, state: State) -> None:
        before, self._state = self._state.current, state
        if state.current != before:
            self._load_preview()

    def _begin(self, name: str, work: Coroutine[None, None, None]) -> None:
        """Do `work` instead of what was begun under that name before."""
        if name in self._tasks:
            self._tasks[name].cancel()
        self._tasks[name] = self._application.create_background_task(work)

    def _load_preview(self) -> None:
        self._preview = None
        row = self._state.current
        if row is not None:
            self._begin("preview", self._fetch_preview(row.listing))

    async def _fetch_preview(self, listing: Listing) -> None:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(PREVIEW_PAUSE)
            self._preview = await asyncio.to_thread(self._sources.preview, listing)
            self._application.invalidate()

    async def _find(self, query: str) -> None:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(TYPING_PAUSE)
            found = await asyncio.to_thread(self._sources.find, query)
            self._change(add_found(self._state, query, found))
            self._application.invalidate()

    async def _index(self) -> None:
        """Bring the texts level in steps, so that leaving never waits long."""
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(INDEXING_PAUSE)
            while not await asyncio.to_thread(self._sources.index_some, INDEXING_STEP):
                if self._state.query.strip():
                    self._begin("find", self._find(self._state.query))


def _ignore_event(deed: Callable[[], None]) -> Callable[[KeyPressEvent], None]:
    return lambda _: deed()
