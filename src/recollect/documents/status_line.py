"""What `recollect statusline --json` prints."""

from typing import Literal

from msgspec import Struct

from recollect.documents.usage_report import COST_BASIS, CostBasis

FigureOrigin = Literal["client", "index"]


class Cost(Struct, frozen=True, kw_only=True):
    """A cost; `unpriced_messages` are not included in it."""

    cost_usd: float
    unpriced_messages: int


class Today(Cost, frozen=True, kw_only=True):
    """The cost of the current day."""

    day: str


class BlockDocument(Struct, frozen=True, kw_only=True):
    """The current 5-hour block."""

    start: str
    end: str
    remaining_minutes: float
    used_percent: float | None
    cost: Cost | None
    origin: FigureOrigin


class WeekDocument(Struct, frozen=True, kw_only=True):
    """The 7-day limit, as the client reports it."""

    used_percent: float
    end: str | None
    """When it resets."""


class StatuslineDocument(Struct, frozen=True, kw_only=True):
    """The line, and the figures in it."""

    schema: Literal["recollect.statusline/2"] = "recollect.statusline/2"
    line: str
    cost_basis: CostBasis = COST_BASIS
    timezone: str
    model: str | None
    context_used_percent: float | None
    session: Cost | None
    session_origin: FigureOrigin | None
    today: Today | None
    block: BlockDocument | None
    week: WeekDocument | None
    index: Literal["current", "behind", "missing", "unreadable"]
