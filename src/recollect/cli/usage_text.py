"""The text output of `recollect usage`: a table that fits the terminal, and remarks.

If the table is too wide, numbers are abbreviated first, then columns are dropped; spare room is
used for bars. The key of a row is cut last.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from recollect.cli.terminal_output import GAP, INDENT, faint, join_lines, pad, strong, wrap
from recollect.documents.usage_groups import Group
from recollect.quantities import (
    MICRO,
    format_count,
    format_dollars,
    format_duration,
    format_number,
    format_short_number,
)
from recollect.render.terminal import clip, measure, safe_line, shorten
from recollect.usage.reports import ReportOrder, ReportRow, UsageQuery, UsageReport
from recollect.usage.totals import BurnRate, Totals, UsageBlock
from recollect.usage.zones import Zone

MIN_LABEL_WIDTH = 24
MIN_BAR, MAX_BAR = 10, 24
UNKNOWN = "unknown"
AT_LEAST = "≥"

_EIGHTHS = " ▏▎▍▌▋▊▉█"

Show = Callable[[int], str]


class TableLine(NamedTuple):
    """A row; without totals it is a remark between rows."""

    label: str
    totals: Totals | None = None
    client_cost: int | None = None
    is_strong: bool = False


class Column(NamedTuple):
    """A column of numbers, with a short title for narrow terminals."""

    title: str
    short: str
    value: Callable[[Totals], int]


_MESSAGES = Column("Messages", "Msgs", lambda totals: totals.messages)
_INPUT = Column("Input", "Input", lambda totals: totals.input)
_OUTPUT = Column("Output", "Output", lambda totals: totals.output)
_WRITE = Column("Cache write", "Write", lambda totals: totals.cache_write)
_READ = Column("Cache read", "Read", lambda totals: totals.cache_read)
_TOKENS = Column("Tokens", "Tokens", lambda totals: totals.tokens)
_ALL = (_MESSAGES, _INPUT, _OUTPUT, _WRITE, _READ)
LayoutStep = tuple[tuple[Column, ...], bool]
_STEPS: tuple[LayoutStep, ...] = (
    (_ALL, False),
    (_ALL, True),
    (_ALL[1:], True),
    ((_TOKENS,), True),
)
"""Columns and whether numbers are abbreviated, widest first."""


class _Grid(NamedTuple):
    """The cells of all lines, starting with the titles, without the labels."""

    cells: list[list[str]]
    widths: list[int]

    @property
    def width(self) -> int:
        return sum(self.widths) + len(GAP) * len(self.widths)


def iter_usage_table(
    title: str, lines: Sequence[TableLine], columns: int, *, is_compact: bool = False
) -> Iterator[str]:
    """Yield the lines of the table, none longer than `columns`."""
    labels = [title, *(line.label for line in lines)]
    natural = max(measure(label) for label in [title, *_row_labels(lines)])
    steps = _STEPS[1:] if is_compact else _STEPS
    grid = _choose_grid(lines, steps, columns - min(natural, MIN_LABEL_WIDTH))
    width = min(natural, max(columns - grid.width, 1))
    room = columns - width - grid.width - len(GAP)
    bars = _make_bars(lines, min(room, MAX_BAR))
    for label, cells, bar, line in zip(labels, grid.cells, bars, [None, *lines], strict=True):
        if line is not None and line.totals is None:
            yield faint(shorten(label, columns))
            continue
        padded = [pad(shorten(label, width), width, "<")]
        padded += [pad(cell, each, ">") for cell, each in zip(cells, grid.widths, strict=True)]
        text = GAP.join([*padded, bar]).rstrip()
        yield strong(text) if line is None or line.is_strong else text


def _row_labels(lines: Sequence[TableLine]) -> Iterator[str]:
    return (line.label for line in lines if line.totals is not None)


def _choose_grid(lines: Sequence[TableLine], steps: Sequence[LayoutStep], room: int) -> _Grid:
    grids = (_make_grid(lines, columns, is_short) for columns, is_short in steps)
    last = next(grids)
    for grid in grids:
        if last.width <= room:
            break
        last = grid
    return last


def _make_grid(lines: Sequence[TableLine], columns: Sequence[Column], is_short: bool) -> _Grid:
    show: Show = format_short_number if is_short else format_number
    places = choose_decimals([line.totals.cost for line in lines if line.totals])
    has_client = any(line.client_cost is not None for line in lines)
    titles = [column.short if is_short else column.title for column in columns]
    cells = [[*titles, "Cost", *(["Claude Code's"] if has_client else [])]]
    for line in lines:
        totals = line.totals
        if totals is None:
            cells.append([""] * len(cells[0]))
            continue
        numbers = [show(column.value(totals)) for column in columns]
        client = [show_client_cost(line.client_cost, places)] if has_client else []
        cells.append([*numbers, show_cost(totals, places), *client])
    widths = [max(map(measure, column)) for column in zip(*cells, strict=True)]
    return _Grid(cells, widths)


def _make_bars(lines: Sequence[TableLine], width: int) -> list[str]:
    """Return a bar for the cost of each row except totals; empty if there is no room."""
    costs = [line.totals.cost if line.totals and not line.is_strong else 0 for line in lines]
    most = max(costs, default=0)
    if width < MIN_BAR or not most:
        return [""] * (len(lines) + 1)
    return ["", *(_render_bar(cost * width * 8 // most) for cost in costs)]


def _render_bar(eighths: int) -> str:
    whole, part = divmod(eighths, 8)
    return _EIGHTHS[8] * whole + _EIGHTHS[part].strip()


def choose_decimals(costs: Sequence[int]) -> int:
    """Return the number of decimal places for a list of costs."""
    return 2 if max(costs, default=0) >= MICRO else 4


def show_cost(totals: Totals, places: int) -> str:
    """Return a cost as a total, a lower bound, or `unknown`."""
    cost = totals.known_cost
    if cost is None:
        return UNKNOWN
    return f"{f'{AT_LEAST} ' if totals.unpriced else ''}{format_dollars(cost / MICRO, places)}"


def show_client_cost(cost: int | None, places: int) -> str:
    """Return Claude Code's own figure, if there is one."""
    return "-" if cost is None else format_dollars(cost / MICRO, places)


NOUNS: Final = {
    Group.BRANCH: "git branch",
    Group.MCP_SERVER: "MCP server",
    Group.BLOCK: "5-hour block",
}
NAMELESS: Final = {
    Group.DAY: "(no date)",
    Group.WEEK: "(no date)",
    Group.MONTH: "(no date)",
    Group.BLOCK: "(no date)",
    Group.BRANCH: "(no git branch)",
    Group.TOOL: "(no tool)",
    Group.MCP_SERVER: "(no MCP server)",
}
NO_NAME: Final = "(unknown)"
NOW: Final = " (now)"

_ID_LENGTH = 8
_UUID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_HOUR = 3600


def iter_usage(
    report: UsageReport,
    columns: int,
    burn_rate: BurnRate | None = None,
    *,
    is_compact: bool = False,
    omitted: int = 0,
) -> Iterator[str]:
    """Yield the lines of the report, none longer than `columns`.

    `burn_rate` is that of the current block, `omitted` the number of omitted rows.
    """
    query = report.query
    noun = NOUNS.get(query.group, query.group.value)
    about = (
        f"Usage by {noun}. Costs are a list-price estimate, not a bill. "
        f"Times are in {query.zone.name}."
    )
    yield from wrap(safe_line(about), columns, indent="")
    yield ""
    if not report.rows:
        yield "No usage in this range."
        return
    lines = [*_iter_lines(report, columns, burn_rate)]
    if omitted:
        lines.append(TableLine(f"… and {omitted:,} more"))
    lines.append(TableLine("Total", report.totals, is_strong=True))
    yield from iter_usage_table(noun[0].upper() + noun[1:], lines, columns, is_compact=is_compact)
    for remark in _iter_remarks(report, burn_rate):
        yield ""
        yield from wrap(safe_line(remark), columns, indent="")


def _iter_lines(
    report: UsageReport, columns: int, burn_rate: BurnRate | None
) -> Iterator[TableLine]:
    order = report.query.order or ReportOrder.ASC
    for row in report.rows:
        gap = TableLine(_describe_gap(row.block)) if row.block and row.block.idle_before else None
        if gap and order is ReportOrder.ASC:
            yield gap
        is_now = burn_rate is not None and row.block == burn_rate.block
        label = _name_row(row, report.query)
        yield TableLine(f"{label}{NOW if is_now else ''}", row.totals, row.client_cost)
        if row.title:
            yield TableLine(clip(f"{INDENT}{join_lines(row.title)}", columns))
        for model in row.models:
            yield TableLine(f"{INDENT}{_name_or(model.key, NO_NAME)}", model.totals)
        if gap and order is ReportOrder.DESC:
            yield gap


def _name_row(row: ReportRow, query: UsageQuery) -> str:
    if row.block is not None:
        return _name_block(row.block, query.zone)
    name = _name_or(row.key, NAMELESS.get(query.group, NO_NAME))
    if query.group is not Group.SESSION:
        return name
    # The start of an id is enough to identify it, and leaves room for the project.
    short = name[:_ID_LENGTH] if _UUID.fullmatch(name) else name
    return f"{short}{GAP}{_name_or(row.project, NO_NAME)}"


def _name_block(block: UsageBlock, zone: Zone) -> str:
    start = zone.find_local(block.start)
    return f"{start:%Y-%m-%d %H:%M}" if start else block.key


def _describe_gap(block: UsageBlock) -> str:
    return f"{INDENT}(idle for {format_count(block.idle_before // _HOUR, 'hour')})"


def _name_or(name: str | None, otherwise: str) -> str:
    return safe_line(name) if name else otherwise


def _iter_remarks(report: UsageReport, burn_rate: BurnRate | None) -> Iterator[str]:
    if burn_rate is not None:
        yield _describe_burn_rate(burn_rate)
    if report.unpriced:
        models = ", ".join(
            f"{name or NO_NAME} {count:,}" for name, count in report.unpriced.items()
        )
        yield (
            f"{format_count(report.totals.unpriced, 'message')} without a known price: {models}. "
            f"Costs with {AT_LEAST} leave them out; see docs/pricing.md to add a price."
        )
    if report.totals.relayed:
        yield describe_relayed(report.totals.relayed)
    if report.totals.client_priced:
        yield describe_client_priced(report.totals.client_priced)
    clients = [row.client for row in report.rows if row.client is not None]
    if any(client.messages is None for client in clients):
        yield (
            "Claude Code's own total includes calls that leave no message in a transcript, such "
            "as compactions and web searches, and after a fork those of the original session."
        )
    if any(client.messages is not None for client in clients):
        yield (
            "Claude Code up to 1.0.2x recorded a cost per message but no total, so its figure is "
            "the sum of those costs."
        )


def describe_relayed(count: int) -> str:
    """Explain messages that are only known from progress records."""
    return (
        f"{format_count(count, 'message')} from subagents whose transcripts no longer exist. "
        "Only progress records in the parent's transcript mention them, with placeholders for "
        "output tokens unless the message was complete."
    )


def describe_client_priced(count: int) -> str:
    """Explain why messages without tokens have a cost."""
    messages = format_count(count, "message")
    return f"{messages} without tokens: cost as recorded by Claude Code (costUSD)."


def _describe_burn_rate(burn_rate: BurnRate) -> str:
    places = choose_decimals([burn_rate.projected_cost or 0])
    rate, projected = (
        UNKNOWN if cost is None else format_dollars(cost / MICRO, places)
        for cost in (burn_rate.cost_per_hour, burn_rate.projected_cost)
    )
    return (
        f"The current block ends in {format_duration(burn_rate.remaining_minutes * 60_000)}. "
        f"So far {format_short_number(burn_rate.tokens_per_minute)} tokens per minute and {rate} "
        f"per hour; projected total: {format_short_number(burn_rate.projected_tokens)} tokens and "
        f"{projected}."
    )
