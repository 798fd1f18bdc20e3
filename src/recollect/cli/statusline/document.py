"""A status line for programs: its figures one by one, beside the line itself."""

from datetime import UTC, datetime
from typing import Literal

from msgspec import Struct

from recollect.cli.documents import format_document
from recollect.cli.statusline.figures import Figures, Window
from recollect.store.glance import Sum
from recollect.usage.report_document import COST_BASIS
from recollect.usage.totals import to_dollars
from recollect.usage.zones import Zone, format_moment

SCHEMA = "recollect.statusline/1"

Origin = Literal["client", "index"]


class Cost(Struct, frozen=True, kw_only=True):
    """What something costs; `unpriced_messages` come on top."""

    cost_usd: float
    unpriced_messages: int


class Today(Cost, frozen=True, kw_only=True):
    """What the day has cost so far."""

    day: str


class BlockDocument(Struct, frozen=True, kw_only=True):
    """The 5-hour block that is running."""

    start: str
    end: str
    remaining_minutes: float
    used_percent: float | None
    cost: Cost | None
    origin: Origin


class StatuslineDocument(Struct, frozen=True, kw_only=True):
    """What `--json` prints."""

    schema: str = SCHEMA
    line: str
    cost_basis: str = COST_BASIS
    timezone: str
    model: str | None
    context_used_percent: float | None
    session: Cost | None
    session_origin: Origin | None
    today: Today | None
    block: BlockDocument | None
    index: Literal["level", "behind", "missing", "unreadable"]


def describe_line(figures: Figures, line: str, zone: Zone, now: datetime) -> str:
    """The document, as JSON."""
    status, session, moment = figures.status, figures.session, int(now.timestamp())
    document = StatuslineDocument(
        line=line,
        timezone=zone.name,
        model=status.model,
        context_used_percent=status.context_percent,
        session=_describe_sum(session) if session else None,
        session_origin=_name_origin(figures.is_session_of_client) if session else None,
        today=_describe_today(figures.today, zone, moment),
        block=_describe_block(figures.block, now) if figures.block else None,
        index=figures.state.value,
    )
    return format_document(document)


def _describe_sum(total: Sum) -> Cost:
    return Cost(cost_usd=to_dollars(total.cost) or 0.0, unpriced_messages=total.unpriced)


def _describe_today(total: Sum | None, zone: Zone, moment: int) -> Today | None:
    day = zone.find_day(moment)
    if total is None or day is None:
        return None
    cost = _describe_sum(total)
    return Today(
        cost_usd=cost.cost_usd, unpriced_messages=cost.unpriced_messages, day=day.isoformat()
    )


def _describe_block(block: Window, now: datetime) -> BlockDocument:
    left = block.end - now.astimezone(UTC).timestamp()
    return BlockDocument(
        start=format_moment(block.start),
        end=format_moment(block.end),
        remaining_minutes=round(left / 60, 1),
        used_percent=block.percent,
        cost=_describe_sum(block.sum) if block.sum else None,
        origin=_name_origin(block.is_told_by_client),
    )


def _name_origin(is_of_client: bool) -> Origin:
    return "client" if is_of_client else "index"
