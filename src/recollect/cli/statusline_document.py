"""The JSON document of `recollect statusline`."""

from datetime import UTC, datetime

from recollect.cli.json_output import format_document
from recollect.cli.statusline_figures import CurrentBlock, StatusInput, StatuslineFigures
from recollect.documents.status_line import (
    BlockDocument,
    Cost,
    FigureOrigin,
    StatuslineDocument,
    Today,
    WeekDocument,
)
from recollect.store.quick_totals import TotalsSum
from recollect.usage.totals import to_dollars
from recollect.usage.zones import Zone, format_moment


def describe_line(figures: StatuslineFigures, line: str, zone: Zone, now: datetime) -> str:
    """Return the document as JSON."""
    status, session, moment = figures.status, figures.session, int(now.timestamp())
    document = StatuslineDocument(
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
    return format_document(document)


def _describe_sum(total: TotalsSum) -> Cost:
    return Cost(cost_usd=to_dollars(total.cost) or 0.0, unpriced_messages=total.unpriced)


def _describe_today(total: TotalsSum | None, zone: Zone, moment: int) -> Today | None:
    day = zone.find_day(moment)
    if total is None or day is None:
        return None
    cost = _describe_sum(total)
    return Today(
        cost_usd=cost.cost_usd, unpriced_messages=cost.unpriced_messages, day=day.isoformat()
    )


def _describe_block(block: CurrentBlock, now: datetime) -> BlockDocument:
    left = block.end - now.astimezone(UTC).timestamp()
    return BlockDocument(
        start=format_moment(block.start),
        end=format_moment(block.end),
        remaining_minutes=round(left / 60, 1),
        used_percent=block.percent,
        cost=_describe_sum(block.sum) if block.sum else None,
        origin=_name_origin(block.is_from_client),
    )


def _describe_week(status: StatusInput) -> WeekDocument | None:
    if status.week_percent is None:
        return None
    end = None if status.week_end is None else format_moment(status.week_end)
    return WeekDocument(used_percent=status.week_percent, end=end)


def _name_origin(is_from_client: bool) -> FigureOrigin:
    return "client" if is_from_client else "index"
