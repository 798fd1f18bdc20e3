"""A session → the lines that a reader sees, turn by turn.

Lines are made as they are asked for: of a session of ten thousand messages the first page is
there as soon as its first turns are drawn.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from rich.text import Text

from recollect.render.terminal.calls import draw_call, draw_call_count
from recollect.render.terminal.canvas import LEAST_COLUMNS, Canvas, indent
from recollect.render.terminal.look import ToolDetail
from recollect.render.terminal.prompts import draw_prompt, draw_turn_rule
from recollect.render.terminal.steps import draw_notice, draw_said, draw_thought
from recollect.render.terminal.text import safe_text
from recollect.render.views.conversation import Called, Noted, Said, Step, Thought, TurnView
from recollect.render.views.turns import build_turn_views
from recollect.render.views.words import count_of, join_facts, time_of
from recollect.session.session import Subagent

_NESTED = "  ┃ "


def draw_turn(view: TurnView, canvas: Canvas, columns: int) -> Iterator[str]:
    """Yield the lines of one turn."""
    yield from draw_turn_rule(view, canvas, columns)
    yield from draw_prompt(view, canvas, columns)
    for _, group in groupby(view.steps, key=type):
        lines = list(_draw_group(list(group), canvas, columns))
        if lines:
            yield ""
            yield from lines


def _draw_group(steps: Sequence[Step], canvas: Canvas, columns: int) -> Iterator[str]:
    """Yield steps of one kind that follow each other: calls close together, words apart."""
    calls = [step for step in steps if isinstance(step, Called)]
    if calls and canvas.look.tools is ToolDetail.NONE:
        yield from draw_call_count(calls, canvas, columns)
        calls_with_children = [call for call in calls if call.subagents]
        for call in calls_with_children:
            yield from _draw_subagents(call.subagents, canvas, columns)
        return
    for number, step in enumerate(steps):
        if number and isinstance(step, Said):
            yield ""
        yield from _draw_with_children(step, canvas, columns)


def draw_step(step: Step, canvas: Canvas, columns: int) -> Iterator[str]:
    """Yield the lines of one step, without the subagents that a call started."""
    match step:
        case Said():
            yield from draw_said(step, canvas, columns)
        case Thought():
            yield from draw_thought(step, canvas, columns)
        case Called():
            yield from draw_call(step, canvas, columns)
        case Noted() if canvas.look.is_full or not step.is_routine:
            yield from draw_notice(step, canvas, columns)


def _draw_with_children(step: Step, canvas: Canvas, columns: int) -> Iterator[str]:
    yield from draw_step(step, canvas, columns)
    if isinstance(step, Called):
        yield from _draw_subagents(step.subagents, canvas, columns)


def _draw_subagents(subagents: Iterable[Subagent], canvas: Canvas, columns: int) -> Iterator[str]:
    for subagent in subagents:
        yield from draw_subagent(subagent, canvas, columns)


def draw_subagent(subagent: Subagent, canvas: Canvas, columns: int) -> Iterator[str]:
    """Yield one line about a subagent, and below it all that it did where that is wanted."""
    metrics = subagent.session.metrics
    name = safe_text(subagent.agent_type or "subagent", single_line=True)
    facts = join_facts(
        safe_text(subagent.description or "", single_line=True),
        count_of(metrics.tool_calls, "tool call"),
        time_of(metrics.duration_ms) if metrics.duration_ms else None,
    )
    line = Text.assemble(("  ↳ ", "magenta"), (name, "bold magenta"), (f"  {facts}", "dim"))
    yield from canvas.fold(line, columns)
    if canvas.look.subagents:
        room = max(columns - len(_NESTED), LEAST_COLUMNS)
        margin = canvas.styled(_NESTED, "magenta")
        for view in build_turn_views(subagent.session):
            yield from indent(draw_turn(view, canvas, room), margin)
            yield margin.rstrip()
