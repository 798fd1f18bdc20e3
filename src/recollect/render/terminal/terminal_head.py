"""The head of a session in a terminal: its title, where and when it was, and its figures."""

from collections.abc import Iterator, Sequence

from rich.text import Text

from recollect.quantities import format_count, format_dollars, format_time_range
from recollect.render.terminal.canvas import Canvas, RenderOptions
from recollect.render.terminal.safe_text import measure, safe_text
from recollect.render.views.part_builders import join_facts, take_line
from recollect.session.session import Session
from recollect.session.times import parse_time


def draw_head(session: Session, canvas: Canvas, columns: int) -> Iterator[str]:
    """Yield a session's title, where and when it took place, and its figures."""
    about = session.metadata
    title = take_line(about.title or about.first_prompt or "(no title)")
    yield from canvas.wrap(Text(safe_text(title, single_line=True), "bold"), columns)
    for facts in (_list_facts(session, canvas.options), _list_figures(session)):
        known = [safe_text(fact, single_line=True) for fact in facts if fact]
        for line in _fill(known, columns):
            yield from canvas.wrap(Text(line, "dim"), columns)


def _fill(facts: Sequence[str], columns: int) -> Iterator[str]:
    """Yield lines of facts, wrapped between facts if each fits a line."""
    line = ""
    for fact in facts:
        longer = join_facts(line, fact)
        if line and measure(longer) > columns:
            yield line
            longer = fact
        line = longer
    yield line


def _list_facts(session: Session, options: RenderOptions) -> list[str | None]:
    about = session.metadata
    when = format_time_range(parse_time(about.created), parse_time(about.last_active), options.zone)
    return [about.id, about.cwd, about.git_branch, when]


def _list_figures(session: Session) -> list[str | None]:
    metrics = session.metrics
    changed = (metrics.lines_added, metrics.lines_removed)
    return [
        format_count(len(session.turns), "turn"),
        format_count(metrics.tool_calls, "tool call"),
        _count_subagents(session),
        f"+{changed[0]:,} -{changed[1]:,} lines" if any(changed) else None,
        format_count(metrics.tokens.total, "token") if metrics.tokens.total else None,
        f"{metrics.copied_tokens.total:,} copied" if metrics.copied_tokens.total else None,
        *_list_costs(session),
    ]


def _iter_inner(session: Session) -> Iterator[Session]:
    """Yield the sessions of all subagents, and of theirs."""
    for child in session.subagents:
        yield child.session
        yield from _iter_inner(child.session)


def _count_subagents(session: Session) -> str | None:
    """Return how many there are and what they did, which the other figures leave out."""
    inner = [each.metrics for each in _iter_inner(session)]
    if not inner:
        return None
    calls = format_count(sum(each.tool_calls for each in inner), "tool call")
    tokens = format_count(sum(each.tokens.total for each in inner), "token")
    return f"{format_count(len(inner), 'subagent')} with {calls} and {tokens} more"


def _list_costs(session: Session) -> list[str]:
    """Return the cost recorded by an old client, and ours if prices are known."""
    metrics = session.metrics
    if metrics.client_cost_usd is None:
        costs = [each.metrics.list_price_usd for each in (session, *_iter_inner(session))]
        known = [cost for cost in costs if cost is not None]
        return [f"{format_dollars(sum(known), 2)} at list prices"] if known else []
    noted = f"{format_dollars(metrics.client_cost_usd, 4)} recorded by Claude Code"
    if metrics.client_priced:
        return [f"{noted} ({format_count(metrics.client_priced, 'message')} without tokens)"]
    ours = metrics.list_price_usd
    return [f"{format_dollars(ours, 4)} at list prices", noted] if ours is not None else [noted]
