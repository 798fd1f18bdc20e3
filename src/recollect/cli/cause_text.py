"""The output of `recollect usage cause`: a table of causes, or the messages of one."""

from collections.abc import Iterator
from typing import Final

from recollect.cli.tables import GAP, faint, pad, strong
from recollect.documents.usage_report import CauseDocument
from recollect.quantities import format_dollars, format_number
from recollect.render.terminal import safe_text
from recollect.usage.causes import LONG_CONTEXT, Cause

MEANINGS: Final = {
    Cause.SUBAGENTS: "everything that subagents read and wrote",
    Cause.RETRIES: "replies that were requested again, and what was sent again after an error",
    Cause.COMPACTIONS: "the compacted conversation, sent for the first time",
    Cause.CACHE_REBUILDS: "previously cached content, sent again",
    Cause.LONG_CONTEXTS: f"cache reads beyond {LONG_CONTEXT:,} tokens in one request",
    Cause.THINKING: "output before the visible reply",
    Cause.OTHER: "none of these",
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
            "" if row.share is None else f"{row.share:.0%}",
            format_number(row.tokens),
            format_number(row.messages),
            MEANINGS[Cause(row.cause)],
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
            f"{count} transcripts no longer exist; their usage is under other "
            "where the cause is unknown."
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
        yield safe_text(f"{figures}{GAP}{each.message_id}{GAP}{each.session_id}", single_line=True)
    if report.omitted:
        yield faint(f"… and {report.omitted:,} more.")
    yield ""
    yield faint("`recollect usage explain MESSAGE` shows the lines behind one.")


def _money(dollars: float | None) -> str:
    return _UNKNOWN if dollars is None else format_dollars(dollars)
