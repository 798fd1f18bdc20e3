"""Events → the lines that `recollect follow` prints, drawn as `show` draws them.

Lines that were printed stay: a call is drawn when it is made and once more when it is answered.
Of each file only the last turns are held, so that a session of any length costs the same. What is
told before following is level with the files is drawn only as far as it was asked for.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from msgspec.structs import replace
from rich.text import Text

from recollect.library.small_files import read_small
from recollect.live.events import (
    AnyEvent,
    Appended,
    Continued,
    Level,
    Reset,
    Source,
    StatusChanged,
    Watching,
)
from recollect.live.status import StatusKind
from recollect.locations import TranscriptKind
from recollect.records.decoding import decode_value
from recollect.records.envelope import Record
from recollect.render.terminal import safe_text
from recollect.render.terminal.canvas import LEAST_COLUMNS, Canvas, indent
from recollect.render.terminal.prompts import draw_prompt, draw_turn_rule
from recollect.render.terminal.turns import draw_step
from recollect.render.views.conversation import Called, Said, Step, Thought, TurnView
from recollect.render.views.turns import build_turn_views
from recollect.render.views.words import join_facts
from recollect.session.session import Session
from recollect.session.subagents import SubagentMeta

SPARE_TURNS: Final = 4
"""Turns by which a file may grow before the oldest are let go."""

MOST_KEYS: Final = 20_000

_NESTED: Final = "  ┃ "
_ID_LENGTH: Final = 8
_SPOKEN_OF: Final = frozenset(
    {
        StatusKind.WAITING_FOR_PERMISSION,
        StatusKind.WAITING_FOR_INPUT,
        StatusKind.IDLE,
        StatusKind.ENDED,
    }
)

Key = tuple[object, ...]


class Drawer:
    """Hears events and gives lines; `flush` draws what was heard since."""

    def __init__(self, canvas: Canvas, turns: int) -> None:
        self._canvas = canvas
        self._turns = turns
        self._windows: dict[str, Window] = {}
        self._waiting: dict[str, None] = {}
        self._current: str | None = None
        self._is_level = False

    def hear(self, event: AnyEvent) -> Iterator[str]:
        """Yield the lines that cannot wait."""
        match event:
            case Appended():
                if self._waiting and event.source.path not in self._waiting:
                    # What another file said before comes before.
                    yield from self.flush()
                self._find_window(event.source).add(event.record)
                self._waiting[event.source.path] = None
            case Reset():
                self._is_level = False
                self._find_window(event.source).forget()
            case Level():
                yield from self._become_level()
            case StatusChanged() if event.status.kind in _SPOKEN_OF and self._is_level:
                yield from self.flush()
                kind = str(event.status.kind).replace("_", " ")
                yield from draw_note(f"{kind}: {event.status.reason}", self._canvas)
            case Continued():
                yield from self.flush()
                yield from draw_note(
                    f"the session goes on as {event.next_id}: {event.reason}", self._canvas
                )
            case Watching(is_polling=True):
                yield from draw_note(
                    f"looking for changes by polling: {event.reason}", self._canvas
                )

    def flush(self) -> Iterator[str]:
        """Yield the lines of what came since the last time."""
        if self._is_level:
            waiting, self._waiting = self._waiting, {}
            for path in waiting:
                yield from self._draw(path, self._windows[path])

    def _become_level(self) -> Iterator[str]:
        for window in self._windows.values():
            if window.is_fresh:
                is_session = window.source.kind is TranscriptKind.SESSION
                window.pass_over(self._turns if is_session else 0)
                window.is_fresh = False
        self._is_level = True
        yield from self.flush()

    def _find_window(self, source: Source) -> "Window":
        if source.path not in self._windows:
            window = Window(source, max(self._turns, 1))
            window.is_fresh = not self._is_level
            self._windows[source.path] = window
        return self._windows[source.path]

    def _draw(self, path: str, window: "Window") -> Iterator[str]:
        is_nested = window.source.kind is not TranscriptKind.SESSION
        room = self._canvas.look.columns - (len(_NESTED) if is_nested else 0)
        lines = list(window.draw(self._canvas, max(room, LEAST_COLUMNS)))
        if not lines:
            return
        if path != self._current:
            yield from self._announce(window.source)
            self._current = path
        margin = self._canvas.styled(_NESTED, "magenta") if is_nested else ""
        yield from (line.rstrip() for line in indent(lines, margin))

    def _announce(self, source: Source) -> Iterator[str]:
        """Whose words follow, where that is not plain."""
        if source.kind is not TranscriptKind.SESSION:
            name = safe_text(_name_subagent(source), single_line=True)
            line = Text.assemble(("  ↳ ", "magenta"), (name, "bold magenta"))
            yield ""
            yield from self._canvas.fold(line, self._canvas.look.columns)
        elif len(self._windows) > 1:
            name = safe_text(source.session_id[:_ID_LENGTH], single_line=True)
            project = safe_text(source.project, single_line=True)
            yield ""
            yield self._canvas.line(Text.assemble((name, "bold cyan"), (f"  {project}", "dim")))


class Window:
    """The last turns of one file, and which of their steps were drawn."""

    def __init__(self, source: Source, turns: int) -> None:
        self.source = source
        self.is_fresh = False
        self._turns = turns
        self._drawn: dict[Key, None] = {}
        self._last_kind: type[Step] | None = None
        self.forget()

    def forget(self) -> None:
        """The file is told anew; what was drawn of it is not drawn again."""
        self._records: list[Record] = []
        self._session = Session()
        self._fresh: list[Record] = []
        self._base = 0

    def add(self, record: Record) -> None:
        """Take in a record."""
        self._records.append(record)
        self._fresh.append(record)
        if len(self._fresh) >= 1000:  # noqa: PLR2004 - a history is read in pieces
            self._take_in()

    def pass_over(self, turns: int) -> None:
        """Count everything as drawn but for the last so many turns."""
        new = list(self._iter_new())
        first = self._base + len(self._session.turns) - turns
        self._drawn |= {key: None for view, _, key in new if view.index < first}

    def draw(self, canvas: Canvas, columns: int) -> Iterator[str]:
        """Yield the lines of what was not drawn yet."""
        for view, step, key in self._iter_new():
            self._drawn[key] = None
            if step is None:
                self._last_kind = None
                yield ""
                yield from draw_turn_rule(view, canvas, columns)
                yield from draw_prompt(view, canvas, columns)
                continue
            lines = list(draw_step(step, canvas, columns))
            if lines and (self._last_kind is not type(step) or isinstance(step, Said)):
                yield ""
            self._last_kind = type(step)
            yield from lines

    def _iter_new(self) -> Iterator[tuple[TurnView, Step | None, Key]]:
        """Yield turns to be headed, without a step, and steps to be drawn, with their keys."""
        self._take_in()
        for key in list(self._drawn)[:-MOST_KEYS]:
            del self._drawn[key]
        for shown in build_turn_views(self._session):
            # Where the path of the conversation leads is not known before its end.
            view = replace(shown, index=self._base + shown.index, is_on_main_path=True)
            head: Key = ("turn", view.uuid or view.index)
            if head not in self._drawn and _says_anything(view):
                yield view, None, head
            for step, key in _iter_keys(view.steps):
                if key not in self._drawn:
                    yield view, step, key

    def _take_in(self) -> None:
        self._session.extend(self._fresh)
        self._fresh = []
        turns = self._session.turns
        if len(turns) > self._turns + SPARE_TURNS:
            first = turns[-self._turns]
            cut = _find_place(self._records, first.messages[0].records[0])
            self._records = self._records[cut:]
            self._session = Session(self._records)
            self._base += len(turns) - self._turns


def draw_note(text: str, canvas: Canvas) -> Iterator[str]:
    """Yield the lines of a sentence of our own between what is said in a session."""
    words = Text(safe_text(text, single_line=True), "dim")
    lines = canvas.wrap(words, canvas.look.columns - 2)
    margin = canvas.styled("· ", "dim")
    return (line.rstrip() for line in indent(lines, margin, "  "))


def _says_anything(view: TurnView) -> bool:
    return bool(view.words or view.command or view.media or view.steps)


def _name_subagent(source: Source) -> str:
    """What its sidecar calls it, else its id."""
    path = Path(source.path)
    data = read_small(path.with_name(f"{path.stem}.meta.json"))
    meta = decode_value(data, SubagentMeta) if data else None
    if meta is None or not (meta.agent_type or meta.description):
        return f"subagent {source.agent_id or path.stem}"
    return join_facts(meta.agent_type, meta.description)


def _find_place(records: Sequence[Record], wanted: Record) -> int:
    return next((place for place, record in enumerate(records) if record.span == wanted.span), 0)


def _iter_keys(steps: Sequence[Step]) -> Iterator[tuple[Step, Key]]:
    """Steps with what tells each from all others, and an answered call from an open one.

    A compaction is noted before its summary is there, and told again with it.
    """
    seen: dict[Key, int] = {}
    for step in steps:
        match step:
            case Called():
                key: Key = ("call", step.call_id, step.status)
            case Said() | Thought():
                key = (type(step).__name__, step.uuid, step.message_id)
            case _:
                key = ("note", step.uuid, step.kind, step.title, bool(step.parts))
        seen[key] = seen.get(key, 0) + 1
        yield step, (*key, seen[key])
