"""What a session is, in a few lines above its turns."""

from collections.abc import Iterator, Sequence

from rich.text import Text

from recollect.render.terminal.canvas import Canvas
from recollect.render.terminal.look import Look
from recollect.render.terminal.moments import show_span
from recollect.render.terminal.text import measure, safe_text
from recollect.render.views.words import count_of, join_facts, take_line
from recollect.session.session import Session


def draw_head(session: Session, canvas: Canvas, columns: int) -> Iterator[str]:
    """Yield a session's title, where and when it took place, and its figures."""
    about = session.metadata
    title = take_line(about.title or about.first_prompt or "(no title)")
    yield from canvas.wrap(Text(safe_text(title, single_line=True), "bold"), columns)
    for facts in (_list_facts(session, canvas.look), _list_figures(session)):
        known = [safe_text(fact, single_line=True) for fact in facts if fact]
        for line in _fill(known, columns):
            yield from canvas.wrap(Text(line, "dim"), columns)


def _fill(facts: Sequence[str], columns: int) -> Iterator[str]:
    """Yield lines of facts, broken between them as long as each fits a line."""
    line = ""
    for fact in facts:
        longer = join_facts(line, fact)
        if line and measure(longer) > columns:
            yield line
            longer = fact
        line = longer
    yield line


def _list_facts(session: Session, look: Look) -> list[str | None]:
    about = session.metadata
    when = show_span(about.created, about.last_active, look.zone)
    return [about.id, about.cwd, about.git_branch, when]


def _list_figures(session: Session) -> list[str | None]:
    metrics = session.metrics
    changed = (metrics.lines_added, metrics.lines_removed)
    return [
        count_of(len(session.turns), "turn"),
        count_of(metrics.tool_calls, "tool call"),
        count_of(len(session.subagents), "subagent") if session.subagents else None,
        f"+{changed[0]:,} -{changed[1]:,} lines" if any(changed) else None,
        count_of(metrics.tokens.total, "token") if metrics.tokens.total else None,
    ]
