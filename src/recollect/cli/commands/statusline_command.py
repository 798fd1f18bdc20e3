"""`recollect statusline` as a click command, for help and documentation, and its JSON document.

Calls by Claude Code bypass this module: `recollect.cli.main` runs `recollect.cli.statusline` before
click is imported. Only calls with `--jq`, which scripts make, are parsed here.
"""

from datetime import UTC, datetime

import click

from recollect.cli import json_output, options, statusline, statusline_figures
from recollect.documents import usage_report
from recollect.quantities import format_utc, to_dollars
from recollect.store.quick_totals import TotalsSum
from recollect.usage.zones import Zone


@click.command("statusline")
@click.option("--setup", is_flag=True, help="Print the settings.json snippet and exit.")
@click.option("--no-sync", is_flag=True, help="Don't update the index in the background.")
@options.json_option
def statusline_command(*, setup: bool, no_sync: bool, as_json: bool) -> int:
    """Print one line for Claude Code's status line.

    Reads the JSON that Claude Code passes to status lines on standard input and prints the model,
    context usage, the cost of the session and the day, the current 5-hour block with the time left,
    and how much of the 7-day limit is used. Costs are estimates at list prices. It never blocks,
    never fails and always prints a line; unknown values are left out.

    \b
      recollect statusline --setup
      echo '{}' | recollect statusline
    """
    chosen = {statusline.SETUP: setup, statusline.NO_SYNC: no_sync, statusline.JSON: as_json}
    statusline.run_statusline([name for name, is_given in chosen.items() if is_given])
    return 0


def describe_line(
    figures: statusline_figures.StatuslineFigures, line: str, zone: Zone, now: datetime
) -> str:
    """Return the document as JSON."""
    status, session, moment = figures.status, figures.session, int(now.timestamp())
    document = usage_report.StatuslineDocument(
        line=line,
        timezone=zone.name,
        model=status.model,
        context_used_percent=status.context_percent,
        session=_describe_sum(session) if session else None,
        session_origin=_name_origin(figures.is_session_from_client) if session else None,
        today=_describe_today(figures.today, zone, moment),
        block=_describe_block(figures.block, now) if figures.block else None,
        week=_describe_week(status),
        index=figures.state.value,
    )
    return json_output.format_document(document)


def _describe_sum(total: TotalsSum) -> usage_report.Cost:
    return usage_report.Cost(
        cost_usd=to_dollars(total.cost) or 0.0, unpriced_messages=total.unpriced
    )


def _describe_today(total: TotalsSum | None, zone: Zone, moment: int) -> usage_report.Today | None:
    day = zone.find_day(moment)
    if total is None or day is None:
        return None
    cost = _describe_sum(total)
    return usage_report.Today(
        cost_usd=cost.cost_usd, unpriced_messages=cost.unpriced_messages, day=day.isoformat()
    )


def _describe_block(
    block: statusline_figures.CurrentBlock, now: datetime
) -> usage_report.BlockDocument:
    left = block.end - now.astimezone(UTC).timestamp()
    return usage_report.BlockDocument(
        start=format_utc(block.start),
        end=format_utc(block.end),
        remaining_minutes=round(left / 60, 1),
        used_percent=block.percent,
        cost=_describe_sum(block.sum) if block.sum else None,
        origin=_name_origin(block.is_from_client),
    )


def _describe_week(status: statusline_figures.StatusInput) -> usage_report.WeekDocument | None:
    if status.week_percent is None:
        return None
    end = None if status.week_end is None else format_utc(status.week_end)
    return usage_report.WeekDocument(used_percent=status.week_percent, end=end)


def _name_origin(is_from_client: bool) -> usage_report.FigureOrigin:
    return "client" if is_from_client else "index"
