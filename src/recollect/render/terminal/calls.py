"""A tool call → one line about it, and behind a margin as much of it as is wanted."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from rich.text import Text

from recollect.render.terminal.canvas import Canvas, cut_lines, indent
from recollect.render.terminal.diffs import draw_diff
from recollect.render.terminal.look import Look
from recollect.render.terminal.parts import draw_part
from recollect.render.terminal.text import measure, safe_text, shorten
from recollect.render.views.conversation import Called
from recollect.render.views.parts import Checklist, Diff, Part, Question
from recollect.render.views.words import count_of, join_facts, time_of
from recollect.session.outcomes import ToolStatus

MARGIN = "  │ "
LEAST_TITLE = 12

_SIGNS = {
    ToolStatus.SUCCESS: ("✓", "green"),
    ToolStatus.FAILED: ("✗", "red"),
    ToolStatus.REJECTED: ("⊘", "yellow"),
    ToolStatus.INTERRUPTED: ("■", "yellow"),
    ToolStatus.PENDING: ("…", "dim"),
}
_BAD = (ToolStatus.FAILED, ToolStatus.REJECTED, ToolStatus.INTERRUPTED)


def draw_call(call: Called, canvas: Canvas, columns: int) -> Iterator[str]:
    """Yield the line of a call, and its details as far as the look wants them."""
    yield from _draw_headline(call, canvas, columns)
    room = max(columns - measure(MARGIN), 1)
    lines = (
        _iter_full(call, canvas, room) if canvas.look.is_full else _iter_brief(call, canvas, room)
    )
    yield from indent(lines, canvas.styled(MARGIN, "dim"))


def draw_call_count(calls: Sequence[Called], canvas: Canvas, columns: int) -> Iterator[str]:
    """Yield one line about several calls that are not shown."""
    names = Counter(_name_of(call) for call in calls).most_common()
    failed = sum(call.status in _BAD for call in calls)
    words = join_facts(
        count_of(len(calls), "tool call"),
        ", ".join(f"{name} {number}" if number > 1 else name for name, number in names),
        f"{failed:,} failed" if failed else None,
    )
    yield from indent(
        canvas.wrap(Text(words, "dim"), columns - 2), canvas.styled("● ", "dim"), "  "
    )


def _draw_headline(call: Called, canvas: Canvas, columns: int) -> Iterator[str]:
    sign, style = _SIGNS[call.status]
    name = _name_of(call)
    tail = Text.assemble((sign, style), (_describe_end(call, canvas.look), "dim"))
    title = safe_text(canvas.look.show_path(call.title), single_line=True)
    if not canvas.look.is_full:
        room = columns - measure(name) - measure(tail.plain) - 6
        title = shorten(title, max(room, LEAST_TITLE))
    line = Text.assemble((name, "bold"), "  ", title, "  " if title else "", tail)
    yield from indent(canvas.wrap(line, columns - 2), canvas.styled("● ", style), "  ")


def _name_of(call: Called) -> str:
    name = f"{call.mcp_server}: {call.tool}" if call.mcp_server else call.tool
    return safe_text(name, single_line=True)


def _describe_end(call: Called, look: Look) -> str:
    took = time_of(call.duration_ms) if call.duration_ms is not None else None
    summary = call.summary
    if call.status is ToolStatus.FAILED and call.output and not look.is_full:
        # Why it failed is told below, with more words.
        summary = summary.partition(": ")[0]
    words = join_facts(safe_text(summary, single_line=True), took)
    return f" {words}" if words else ""


def _iter_full(call: Called, canvas: Canvas, columns: int) -> Iterator[str]:
    yield from _draw_parts(call.input, call, canvas, columns)
    if call.input and call.output:
        yield canvas.styled("─" * min(columns, 20), "dim")
    yield from _draw_parts(call.output, call, canvas, columns)


def _iter_brief(call: Called, canvas: Canvas, columns: int) -> Iterator[str]:
    """Yield what most readers would open: lists and questions whole, changes and failures begun."""
    for part in (*call.input, *call.output):
        if isinstance(part, Checklist | Question):
            yield from draw_part(part, canvas, columns)
    if call.status in _BAD:
        failure = _draw_parts(call.output, call, canvas, columns)
        yield from cut_lines(failure, canvas)
    elif any(isinstance(part, Diff) for part in call.input):
        changes = [part for part in call.input if isinstance(part, Diff)]
        yield from cut_lines(_draw_parts(changes, call, canvas, columns), canvas)


def _draw_parts(parts: Iterable[Part], call: Called, canvas: Canvas, columns: int) -> Iterator[str]:
    for part in parts:
        if isinstance(part, Diff) and part.path == call.title:
            # The line above says already which file it is.
            yield from draw_diff(part, canvas, columns)
        else:
            yield from draw_part(part, canvas, columns)
