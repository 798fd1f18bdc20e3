"""A usage report → the text that `recollect usage` prints."""

import re
from collections.abc import Iterator
from typing import Final

from recollect.cli.session_labels import join_lines
from recollect.cli.tables import GAP, INDENT, plural, wrap
from recollect.cli.usage.table import (
    AT_LEAST,
    UNKNOWN,
    TableLine,
    choose_places,
    iter_usage_table,
    show_dollars,
    show_short,
)
from recollect.render.terminal import clip, safe_text
from recollect.usage.blocks import Block, Pace
from recollect.usage.groups import Group
from recollect.usage.reports import Order, Question, Report, ReportRow
from recollect.usage.zones import Zone

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
_MINUTES = 60


def iter_usage(
    report: Report, columns: int, pace: Pace | None = None, *, is_compact: bool = False
) -> Iterator[str]:
    """Yield the lines of the report, none longer than `columns`; `pace` is of its current block."""
    question = report.question
    noun = NOUNS.get(question.group, question.group.value)
    about = (
        f"Usage by {noun}. Costs are a list-price estimate, not a bill. "
        f"Times are in {question.zone.name}."
    )
    yield from wrap(safe_text(about, single_line=True), columns, indent="")
    yield ""
    if not report.rows:
        yield "Nothing was counted."
        return
    lines = [*_iter_lines(report, columns, pace), TableLine("Total", report.totals, is_strong=True)]
    yield from iter_usage_table(noun[0].upper() + noun[1:], lines, columns, is_compact=is_compact)
    for remark in _iter_remarks(report, pace):
        yield ""
        yield from wrap(safe_text(remark, single_line=True), columns, indent="")


def _iter_lines(report: Report, columns: int, pace: Pace | None) -> Iterator[TableLine]:
    order = report.question.order or Order.ASC
    for row in report.rows:
        gap = TableLine(_describe_gap(row.block)) if row.block and row.block.idle_before else None
        if gap and order is Order.ASC:
            yield gap
        is_now = pace is not None and row.block == pace.block
        label = _name_row(row, report.question)
        yield TableLine(f"{label}{NOW if is_now else ''}", row.totals, row.client_cost)
        if row.title:
            yield TableLine(clip(f"{INDENT}{join_lines(row.title)}", columns))
        for model in row.models:
            yield TableLine(f"{INDENT}{_safe(model.key, NO_NAME)}", model.totals)
        if gap and order is Order.DESC:
            yield gap


def _name_row(row: ReportRow, question: Question) -> str:
    if row.block is not None:
        return _name_block(row.block, question.zone)
    name = _safe(row.key, NAMELESS.get(question.group, NO_NAME))
    if question.group is not Group.SESSION:
        return name
    # The start of an id is enough to ask about it, and leaves room for the project.
    short = name[:_ID_LENGTH] if _UUID.fullmatch(name) else name
    return f"{short}{GAP}{_safe(row.project, NO_NAME)}"


def _name_block(block: Block, zone: Zone) -> str:
    start = zone.find_local(block.start)
    return f"{start:%Y-%m-%d %H:%M}" if start else block.key


def _describe_gap(block: Block) -> str:
    return f"{INDENT}(nothing for {plural(block.idle_before // _HOUR, 'hour')})"


def _safe(name: str | None, otherwise: str) -> str:
    return safe_text(name, single_line=True) if name else otherwise


def _iter_remarks(report: Report, pace: Pace | None) -> Iterator[str]:
    if pace is not None:
        yield _describe_pace(pace)
    if report.unpriced:
        models = ", ".join(
            f"{name or NO_NAME} {count:,}" for name, count in report.unpriced.items()
        )
        yield (
            f"{plural(report.totals.unpriced, 'message')} without a known price: {models}. Costs "
            f"with {AT_LEAST} leave them out; docs/pricing.md tells how to add a price."
        )
    if any(row.client_cost is not None for row in report.rows):
        yield (
            "Claude Code's own total has calls that leave no message in a transcript, such as "
            "compactions and searches; after a fork it has those of the session it came from."
        )


def _describe_pace(pace: Pace) -> str:
    places = choose_places([pace.projected_cost or 0])
    hours, minutes = divmod(round(pace.remaining_minutes), _MINUTES)
    rate, projected = (
        UNKNOWN if cost is None else show_dollars(cost, places)
        for cost in (pace.cost_per_hour, pace.projected_cost)
    )
    return (
        f"The current block ends in {hours} h {minutes:02} min. "
        f"So far {show_short(round(pace.tokens_per_minute))} tokens a minute and {rate} an hour; "
        f"at that pace it comes to {show_short(pace.projected_tokens)} tokens and {projected}."
    )
