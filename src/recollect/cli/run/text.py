"""What a client tells → the lines that `recollect run` prints, drawn as `follow` draws them.

The conversation and each subagent have a window of their own. A block that is still being written
is drawn as it will look, as far as it goes; lines that stay come only from whole blocks.
"""

from collections.abc import Iterator
from typing import Final

from rich.text import Text

from recollect.cli.follow.text import Window, draw_note
from recollect.launch.figures import RunFigures
from recollect.launch.growing import Growing, GrowingKind
from recollect.launch.stream_session import Agent, Noticed, Recorded, StreamSession
from recollect.live.events import Source
from recollect.locations import TranscriptKind
from recollect.records.system import CompactBoundary
from recollect.render.terminal import safe_text
from recollect.render.terminal.calls import draw_call
from recollect.render.terminal.canvas import LEAST_COLUMNS, Canvas, indent
from recollect.render.terminal.steps import draw_said, draw_thought
from recollect.render.views.conversation import Called, Said, Thought
from recollect.render.views.values import show_prose
from recollect.render.views.words import count_of, join_facts, time_of
from recollect.session.outcomes import ToolStatus

TURNS: Final = 20
"""Turns that are held: a run is one, and a few more when its background tasks report."""

MOST_GROWING: Final = 8000
"""Characters of a growing block that are drawn, its last ones: more than a screen holds."""

_NESTED: Final = "  ┃ "
_SUCCESS: Final = "success"


class StreamDrawer:
    """Takes in what a stream session tells, and gives lines."""

    def __init__(self, canvas: Canvas, session: StreamSession) -> None:
        self._canvas = canvas
        self._session = session
        self._windows: dict[str | None, Window] = {}
        self._waiting: dict[str | None, None] = {}
        self._current: str | None = None
        self._is_waiting_for_summary = False

    def hear(self, told: Recorded | Noticed | None) -> Iterator[str]:
        """Yield the lines that cannot wait."""
        match told:
            case Recorded(agent=agent, record=record):
                if agent not in self._waiting:
                    # Whoever spoke before is drawn before.
                    yield from self.flush()
                self._find_window(agent).add(record)
                self._waiting[agent] = None
                # Its summary is the next message, and part of what is drawn of it.
                self._is_waiting_for_summary = isinstance(record, CompactBoundary)
            case Noticed(text=text):
                yield from self.flush()
                yield from draw_note(text, self._canvas)

    def flush(self) -> Iterator[str]:
        """Yield the lines of what came since the last time."""
        if self._is_waiting_for_summary:
            return
        waiting, self._waiting = self._waiting, {}
        for agent in waiting:
            lines = list(self._windows[agent].draw(self._canvas, self._room(agent)))
            if lines:
                if agent is None and self._current and lines[0]:
                    yield ""
                yield from self._announce(agent)
                yield from self._nest(agent, lines)

    def draw_growing(self) -> list[str]:
        """The lines of the block that is being written, and none when there is no such block."""
        found = self._session.growing
        if found is None:
            return []
        agent, block = found
        return ["", *self._nest(agent, _draw_growing(block, self._canvas, self._room(agent)))]

    def finish(self, code: int | None = None) -> Iterator[str]:
        """Yield what is left, then how it ended and what it took."""
        self._is_waiting_for_summary = False
        yield from self.flush()
        cut_off = self.draw_growing()
        if cut_off:
            yield from cut_off
            yield from draw_note("cut off here", self._canvas)
        yield ""
        for result in self._session.results:
            if result.subtype not in (None, _SUCCESS):
                reasons = "; ".join(result.errors)
                yield from draw_note(join_facts(f"ended: {result.subtype}", reasons), self._canvas)
        if code:
            yield from draw_note(f"claude ended with {code}", self._canvas)
        yield from draw_note(describe_figures(self._session.figures), self._canvas)
        if self._session.session_id:
            yield from draw_note(f"session {self._session.session_id}", self._canvas)

    def _find_window(self, agent: str | None) -> Window:
        if agent not in self._windows:
            kind = TranscriptKind.SUBAGENT if agent else TranscriptKind.SESSION
            source = Source(path="", session_id="", agent_id=agent, kind=kind, project="")
            self._windows[agent] = Window(source, TURNS)
        return self._windows[agent]

    def _room(self, agent: str | None) -> int:
        columns = self._canvas.look.columns
        return columns if agent is None else max(columns - len(_NESTED), LEAST_COLUMNS)

    def _announce(self, agent: str | None) -> Iterator[str]:
        """Whose words follow, where that is not plain."""
        if agent is not None and agent != self._current:
            about = self._session.agents.get(agent, Agent())
            name = join_facts(about.kind, about.description) or "subagent"
            shown = safe_text(name, single_line=True)
            line = Text.assemble(("  ↳ ", "magenta"), (shown, "bold magenta"))
            yield ""
            yield from self._canvas.fold(line, self._canvas.look.columns)
        self._current = agent

    def _nest(self, agent: str | None, lines: list[str]) -> Iterator[str]:
        margin = self._canvas.styled(_NESTED, "magenta") if agent else ""
        return (line.rstrip() for line in indent(lines, margin))


def describe_figures(figures: RunFigures) -> str:
    """The figures of a run in one line."""
    tokens = figures.tokens
    return join_facts(
        count_of(figures.turns, "turn"),
        count_of(figures.replies, "reply", "replies"),
        count_of(figures.tool_calls, "tool call"),
        f"{count_of(tokens.total, 'token')} ({tokens.output:,} written)",
        None if figures.cost_usd is None else f"${figures.cost_usd:.4f}",
        None if figures.duration_ms is None else time_of(figures.duration_ms),
    )


def _draw_growing(block: Growing, canvas: Canvas, columns: int) -> list[str]:
    text = block.text[-MOST_GROWING:]
    match block.kind:
        case GrowingKind.TEXT:
            said = Said(uuid=None, message_id="", role="assistant", parts=show_prose(text))
            return list(draw_said(said, canvas, columns))
        case GrowingKind.THINKING:
            return list(draw_thought(Thought(uuid=None, message_id="", text=text), canvas, columns))
    call = Called(
        uuid=None,
        message_id="",
        call_id="",
        tool=block.tool,
        mcp_server=None,
        title="",
        summary="",
        status=ToolStatus.PENDING,
    )
    return list(draw_call(call, canvas, columns))
