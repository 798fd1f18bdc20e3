"""The text output of `recollect follow`: events rendered like the turns of `show`.

Output is append-only, so a tool call is rendered when it is made and again when its result arrives.
Only the last turns of each file are kept in memory, so that the cost does not grow with the
session. Of earlier turns, only the requested number is rendered.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec.structs import replace
from rich.text import Text

from recollect.documents.kinds import StatusKind
from recollect.documents.turn_documents import Step, TextStep, ThinkingStep, ToolStep, TurnView
from recollect.library.opening import read_subagent_meta
from recollect.live import live_events
from recollect.locations import TranscriptKind
from recollect.records.envelope import Record
from recollect.redact.quick_masks import mask_path
from recollect.render.terminal import safe_line
from recollect.render.terminal.canvas import MIN_COLUMNS, Canvas, indent
from recollect.render.terminal.terminal_turns import render_prompt, render_step, render_turn_rule
from recollect.render.views import part_builders, turn_views, whole_calls
from recollect.session.session import Session

SPARE_TURNS: Final = 4
"""Turns by which a file may grow before the oldest are dropped."""

MAX_KEYS: Final = 20_000

BATCH: Final = 1000
"""Number of records of the history to process at a time."""

_NESTED: Final = "  ┃ "
_ID_LENGTH: Final = 8
_REPORTED: Final = frozenset(
    {
        StatusKind.WAITING_FOR_PERMISSION,
        StatusKind.WAITING_FOR_INPUT,
        StatusKind.IDLE,
        StatusKind.ENDED,
    }
)

Key = tuple[object, ...]


class EventRenderer:
    """Renders events as lines; `flush` renders the events since the last flush.

    Of the history, the last `turns` turns are rendered, or everything from `starts` on, which are
    offsets by path.
    """

    def __init__(self, canvas: Canvas, turns: int, starts: Mapping[str, int] | None = None) -> None:
        self._canvas = canvas
        self._turns = turns
        self._starts = starts or {}
        self._windows: dict[str, TurnWindow] = {}
        self._waiting: dict[str, None] = {}
        self._current: str | None = None
        self._is_caught_up = False

    def feed(self, event: live_events.AnyEvent) -> Iterator[str]:
        """Yield the lines that must not be delayed."""
        match event:
            case live_events.Appended():
                if self._waiting and event.source.path not in self._waiting:
                    # Keep the order of events across files.
                    yield from self.flush()
                self._find_window(event.source).add(event.record)
                self._waiting[event.source.path] = None
            case live_events.Reset():
                self._is_caught_up = False
                self._find_window(event.source).reset()
            case live_events.CaughtUp():
                yield from self._catch_up()
            case live_events.StatusChanged() if (
                event.status.kind in _REPORTED and self._is_caught_up
            ):
                yield from self.flush()
                kind = str(event.status.kind).replace("_", " ")
                yield from render_notice(f"{kind}: {event.status.reason}", self._canvas)
            case live_events.Continued():
                yield from self.flush()
                yield from render_notice(
                    f"the session continues as {event.next_id}: {event.reason}", self._canvas
                )
            case live_events.Watching(is_polling=True):
                yield from render_notice(f"polling for changes: {event.reason}", self._canvas)

    def flush(self) -> Iterator[str]:
        """Yield the lines of what was fed since the last flush."""
        if self._is_caught_up:
            waiting, self._waiting = self._waiting, {}
            for path in waiting:
                yield from self._render(path, self._windows[path])

    def _catch_up(self) -> Iterator[str]:
        for window in self._windows.values():
            if window.is_history:
                is_session = window.source.kind is TranscriptKind.SESSION
                window.end_history(self._turns if is_session else 0)
        self._is_caught_up = True
        yield from self.flush()

    def _find_window(self, source: live_events.EventSubject) -> "TurnWindow":
        if source.path not in self._windows:
            start = None if self._is_caught_up else self._starts.get(source.path)
            window = TurnWindow(source, max(self._turns, 1), start)
            window.is_history = not self._is_caught_up
            self._windows[source.path] = window
        return self._windows[source.path]

    def _render(self, path: str, window: "TurnWindow") -> Iterator[str]:
        is_nested = window.source.kind is not TranscriptKind.SESSION
        room = self._canvas.options.columns - (len(_NESTED) if is_nested else 0)
        lines = list(window.render(self._canvas, max(room, MIN_COLUMNS)))
        if not lines:
            return
        if path != self._current:
            yield from self._announce(window.source)
            self._current = path
        margin = self._canvas.styled(_NESTED, "magenta") if is_nested else ""
        yield from (line.rstrip() for line in indent(lines, margin))

    def _announce(self, source: live_events.EventSubject) -> Iterator[str]:
        """Yield a heading when the source of the output changes."""
        if source.kind is not TranscriptKind.SESSION:
            name = safe_line(_name_subagent(source))
            line = Text.assemble(("  ↳ ", "magenta"), (name, "bold magenta"))
            yield ""
            yield from self._canvas.fold(line, self._canvas.options.columns)
        elif len(self._windows) > 1:
            name = safe_line(source.session_id[:_ID_LENGTH])
            project = safe_line(mask_path(source.project))
            yield ""
            yield self._canvas.line(Text.assemble((name, "bold cyan"), (f"  {project}", "dim")))


class TurnWindow:
    """The last turns of one file, and their steps that were rendered.

    With `start`, an offset, everything after it is kept until it has been rendered.
    """

    def __init__(
        self, source: live_events.EventSubject, turns: int, start: int | None = None
    ) -> None:
        self.source = source
        self.is_history = False
        self._turns = turns
        self._start = start
        self._is_kept = False
        self._is_within_turn = False
        self._rendered: dict[Key, None] = {}
        self._last_kind: type[Step] | None = None
        self.reset()

    def reset(self) -> None:
        """Start over with an empty file, without rendering any step twice."""
        self._records: list[Record] = []
        self._session = Session()
        self._new: list[Record] = []
        self._base = 0

    def add(self, record: Record) -> None:
        """Add a record."""
        if self._start is not None and record.span and record.span.offset >= self._start:
            self._skip_all_but(0)
            self._start = None
            self._is_kept = self._is_within_turn = True
        self._records.append(record)
        self._new.append(record)
        if len(self._new) >= BATCH:
            self._update_session()

    def end_history(self, turns: int) -> None:
        """Mark everything before the start, or all but the last `turns` turns, as rendered."""
        self.is_history = False
        if self._start is not None:
            self._skip_all_but(0)
        elif not self._is_kept:
            self._skip_all_but(turns)

    def _skip_all_but(self, turns: int) -> None:
        new = list(self._iter_new())
        first = self._base + len(self._session.turns) - turns + 1
        self._rendered |= {key: None for view, _, key in new if view.number < first}

    def render(self, canvas: Canvas, columns: int) -> Iterator[str]:
        """Yield the lines of the steps that were not rendered yet."""
        for view, step, key in self._iter_new():
            self._rendered[key] = None
            if step is None or self._is_within_turn:
                self._last_kind = None
                self._is_within_turn = False
                yield ""
                yield from render_turn_rule(view, canvas, columns)
                yield from render_prompt(view, canvas, columns)
            if step is None:
                continue
            whole = (
                whole_calls.show_whole_call(step, self._session) if canvas.options.is_full else step
            )
            lines = list(render_step(whole, canvas, columns))
            if lines and (self._last_kind is not type(step) or isinstance(step, TextStep)):
                yield ""
            self._last_kind = type(step)
            yield from lines
        self._is_kept = False

    def _iter_new(self) -> Iterator[tuple[TurnView, Step | None, Key]]:
        """Yield new turns, without a step, and new steps, with their keys."""
        self._update_session()
        for key in list(self._rendered)[:-MAX_KEYS]:
            del self._rendered[key]
        for shown in turn_views.build_turn_views(self._session):
            # The main path is not known before the end of the session.
            view = replace(shown, number=self._base + shown.number, is_on_main_path=True)
            head: Key = ("turn", view.uuid or view.number)
            if head not in self._rendered and _has_content(view):
                yield view, None, head
            for step, key in _iter_keys(view.steps):
                if key not in self._rendered:
                    yield view, step, key

    def _update_session(self) -> None:
        self._session.extend(self._new)
        self._new = []
        turns = self._session.turns
        if not self._is_kept and len(turns) > self._turns + SPARE_TURNS:
            first = turns[-self._turns]
            cut = _find_position(self._records, first.messages[0].records[0])
            self._records = self._records[cut:]
            self._session = Session(self._records)
            self._base += len(turns) - self._turns


def render_notice(text: str, canvas: Canvas) -> Iterator[str]:
    """Render a message of Recollect itself between the steps of a session."""
    words = Text(safe_line(text), "dim")
    lines = canvas.wrap(words, canvas.options.columns - 2)
    margin = canvas.styled("· ", "dim")
    return (line.rstrip() for line in indent(lines, margin, "  "))


def _has_content(view: TurnView) -> bool:
    return bool(view.words or view.command or view.media or view.steps)


def _name_subagent(source: live_events.EventSubject) -> str:
    """Return the name in its sidecar file, or else its id."""
    path = Path(source.path)
    meta = read_subagent_meta(path.with_name(f"{path.stem}.meta.json"))
    if meta is None or not (meta.agent_type or meta.description):
        return f"subagent {source.agent_id or path.stem}"
    return part_builders.join_facts(meta.agent_type, meta.description)


def _find_position(records: Sequence[Record], wanted: Record) -> int:
    return next((index for index, record in enumerate(records) if record.span == wanted.span), 0)


def _iter_keys(steps: Sequence[Step]) -> Iterator[tuple[Step, Key]]:
    """Yield steps with unique keys, which differ for a pending and a completed call.

    A compaction is reported before its summary exists, and again with it.
    """
    seen: dict[Key, int] = {}
    for step in steps:
        match step:
            case ToolStep():
                key: Key = ("call", step.call_id, step.status)
            case TextStep() | ThinkingStep():
                key = (type(step).__name__, step.uuid, step.message_id)
            case _:
                key = ("note", step.uuid, step.kind, step.title, bool(step.parts))
        seen[key] = seen.get(key, 0) + 1
        yield step, (*key, seen[key])
