"""The text output of `recollect usage explain` and `recollect usage cause`."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from recollect.cli import usage_text
from recollect.cli.terminal_output import GAP, Row, faint, iter_table, pad, strong, wrap
from recollect.documents.usage_report import CauseDocument
from recollect.quantities import (
    MICRO,
    format_count,
    format_dollars,
    format_number,
    format_share,
    format_short_number,
)
from recollect.redact.quick_masks import mask_path
from recollect.render.terminal import safe_line, shorten
from recollect.usage import causes, explain, scopes, zones
from recollect.usage.totals import ClientCost

WIDE: Final = 100
"""Minimum number of columns for showing the time and each class of tokens."""

_TITLES = ("offset", "", "tokens", "cost", "")
_WIDE_TITLES = ("offset", "time", "", "model", "input", "output", "write", "read", "cost", "")
_NOUNS = {
    explain.Status.REPEAT: "repeated line",
    explain.Status.COPY: "copied message",
    explain.Status.PROGRESS: "message in progress records",
    explain.Status.SYNTHETIC: "synthetic line",
}


def iter_explanation(
    explanation: explain.Explanation, zone: zones.Zone, columns: int
) -> Iterator[str]:
    """Yield the lines of the explanation, none longer than `columns`."""
    about = (
        f"Usage of {explanation.kind.value} {explanation.name}. Costs are a list-price estimate, "
        f"not a bill. Times are in {explanation.timezone}."
    )
    yield from _wrap(about, columns)
    for file, group in groupby(explanation.lines, key=lambda line: line.file):
        yield ""
        yield strong(shorten(_show_path(file), columns))
        yield from _iter_file(list(group), explanation.kind, zone, columns)
    yield ""
    yield from _iter_sums(explanation, columns)
    yield from _iter_prices(explanation.prices, columns)
    for file, reason in explanation.unread:
        about = f"Could not show the lines of {mask_path(file)}: {mask_path(reason)}"
        yield from _wrap(about, columns)


def _iter_file(
    lines: Sequence[explain.Line], kind: scopes.ScopeKind, zone: zones.Zone, columns: int
) -> Iterator[str]:
    places = usage_text.choose_decimals([line.measures.cost or 0 for line in lines])
    if columns < WIDE:
        rows = [_TITLES, *(_narrow_row(line, places) for line in lines)]
        yield from iter_table(rows, "><>><", columns)
        return
    form = "%H:%M:%S" if kind is scopes.ScopeKind.DAY else "%Y-%m-%d %H:%M:%S"
    rows = [_WIDE_TITLES, *(_wide_row(line, places, zone, form) for line in lines)]
    yield from iter_table(rows, "><<<>>>>><", columns)


def _narrow_row(line: explain.Line, places: int) -> Row:
    total = line.measures.tokens.total
    return (
        str(line.offset),
        line.status.value,
        format_short_number(total),
        _show_line_cost(line, places),
        _show_path(line.note),
    )


def _wide_row(line: explain.Line, places: int, zone: zones.Zone, form: str) -> Row:
    tokens, time = line.measures.tokens, line.measures.time
    local = None if time is None else zone.find_local(time // 1000)
    return (
        str(line.offset),
        "" if local is None else local.strftime(form),
        line.status.value,
        shorten(safe_line(line.model or ""), 28),
        f"{tokens.input:,}",
        f"{tokens.output:,}",
        f"{tokens.cache_write_5m + tokens.cache_write_1h:,}",
        f"{tokens.cache_read:,}",
        _show_line_cost(line, places),
        _show_path(line.note),
    )


def _show_line_cost(line: explain.Line, places: int) -> str:
    if line.status is not explain.Status.COUNTED:
        return "-"
    cost = line.measures.cost
    return "unknown" if cost is None else format_dollars(cost / MICRO, places)


def _iter_sums(explanation: explain.Explanation, columns: int) -> Iterator[str]:
    totals = explanation.totals
    places = usage_text.choose_decimals([totals.cost])
    yield from _wrap(
        f"Counted: {format_count(totals.messages, 'message')}, {totals.input:,} input, "
        f"{totals.output:,} output, {totals.cache_write:,} cache write and "
        f"{totals.cache_read:,} cache read tokens, {usage_text.show_cost(totals, places)}.",
        columns,
    )
    omitted = [
        format_count(count, _NOUNS[status]) for status, count in explanation.not_counted.items()
    ]
    yield from _wrap(f"Not counted: {', '.join(omitted) or 'nothing'}.", columns)
    if totals.relayed:
        yield from _wrap(usage_text.describe_relayed(totals.relayed), columns)
    if totals.client_priced:
        yield from _wrap(usage_text.describe_client_priced(totals.client_priced), columns)
    if explanation.client is not None:
        yield from _wrap(_describe_client(explanation.client, totals.cost, places), columns)


def _describe_client(client: ClientCost, cost: int, places: int) -> str:
    if client.messages is not None:
        difference = format_dollars(client.find_difference(cost) / MICRO, places)
        return (
            f"Claude Code recorded {format_dollars(client.cost / MICRO, places)} for "
            f"{format_count(client.messages, 'message')} (costUSD), a difference of {difference} "
            "from our figure for the same messages."
        )
    guess = ", partly at a fallback price" if client.is_guess else ""
    own = f"Claude Code's own total: {format_dollars(client.cost / MICRO, places)}{guess}"
    if client.cost == cost:
        return f"{own}, the same."
    difference = format_dollars((client.cost - cost) / MICRO, places)
    return (
        f"{own}, a difference of {difference}. It includes calls that leave no message in a "
        "transcript, such as compactions and web searches, and those of the session this one was "
        "forked from."
    )


def _iter_prices(prices: Sequence[explain.PriceUsed], columns: int) -> Iterator[str]:
    if not prices:
        return
    yield ""
    yield from _wrap("List prices in dollars per million tokens:", columns)
    titles = ("input", "output", "write 5m", "write 1h", "read", "", "")
    rows = [titles, *(_price_row(used) for used in prices)]
    yield from iter_table(rows, ">>>>><<", columns)


def _price_row(used: explain.PriceUsed) -> Row:
    price = used.price
    classes = (
        price.input,
        price.output,
        price.cache_write_5m,
        price.cache_write_1h,
        price.cache_read,
    )
    amounts = ("-" if each is None else f"{each:f}" for each in classes)
    first = f"from {price.first_day}" if price.first_day else ""
    return (*amounts, first, safe_line(used.model))


def _show_path(text: str) -> str:
    """Return a path, or a note with one, as one line without secrets."""
    return safe_line(mask_path(text))


def _wrap(sentence: str, columns: int) -> list[str]:
    return wrap(safe_line(sentence), columns, indent="")


MEANINGS: Final = {
    causes.Cause.SUBAGENTS: "everything that subagents read and wrote",
    causes.Cause.RETRIES: "replies that were requested again, and input sent again after an error",
    causes.Cause.COMPACTIONS: "the compacted conversation, sent for the first time",
    causes.Cause.CACHE_REBUILDS: "previously cached content, sent again",
    causes.Cause.LONG_CONTEXTS: f"cache reads beyond {causes.LONG_CONTEXT:,} tokens in one request",
    causes.Cause.THINKING: "output before the visible reply",
    causes.Cause.OTHER: "none of these",
}
_UNKNOWN: Final = "unknown"


def iter_causes(report: CauseDocument) -> Iterator[str]:
    """Yield the lines of the report."""
    if report.cause is not None:
        yield from _iter_messages(report)
        return
    rows = [
        (
            row.cause,
            _money(row.cost_usd),
            "" if row.share is None else format_share(row.share),
            format_number(row.tokens),
            format_number(row.messages),
            MEANINGS[causes.Cause(row.cause)],
        )
        for row in report.rows
    ]
    total = ("total", _money(report.cost_usd), "", format_number(report.tokens))
    rows.append((*total, format_number(report.messages), ""))
    heading = ("CAUSE", "COST", "SHARE", "TOKENS", "MESSAGES", "WHAT IT IS")
    widths = [max(len(row[at]) for row in (heading, *rows)) for at in range(5)]
    for number, row in enumerate((heading, *rows)):
        sides = ("<", ">", ">", ">", ">")
        cells = [pad(cell, widths[at], sides[at]) for at, cell in enumerate(row[:5])]
        line = GAP.join([*cells, row[5]]).rstrip()
        yield faint(line) if number == 0 else strong(line) if row[0] == "total" else line
    yield ""
    yield faint("Each token is counted once, under the first cause that applies. List prices.")
    if report.unpriced_messages:
        count = format_number(report.unpriced_messages)
        yield faint(f"{count} messages have no known price: only their tokens are counted.")
    if report.unread_files:
        count = format_number(report.unread_files)
        yield faint(
            f"{count} transcripts no longer exist. Usage that cannot be explained without them is "
            "listed under other."
        )


def _iter_messages(report: CauseDocument) -> Iterator[str]:
    for each in report.caused:
        figures = GAP.join(
            (
                pad(_money(each.cost_usd), 9, ">"),
                pad(format_number(each.tokens), 11, ">"),
                pad((each.time or "")[:16].replace("T", " "), 16, "<"),
            )
        )
        yield safe_line(f"{figures}{GAP}{each.message_id}{GAP}{each.session_id}")
    if report.omitted:
        yield faint(f"… and {report.omitted:,} more.")
    yield ""
    yield faint("`recollect usage explain MESSAGE` shows the lines behind one.")


def _money(dollars: float | None) -> str:
    return _UNKNOWN if dollars is None else format_dollars(dollars)
