"""Usage reports and explanations, and the output of `recollect statusline --json`; docs/usage.md
describes each figure.

Fields that do not apply to a report are absent instead of null.
"""

from typing import Final, Literal

from msgspec import UNSET, Struct, UnsetType

from recollect.documents.usage_groups import Group

CostBasis = Literal["list-price estimate"]
COST_BASIS: Final = "list-price estimate"


class Figures(Struct, frozen=True, kw_only=True):
    """Messages, tokens by class, and cost at list prices."""

    messages: int
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_5m_tokens: int
    cache_write_1h_tokens: int
    web_search_requests: int
    cost_usd: float | None
    unpriced_messages: int
    progress_messages: int | UnsetType = UNSET
    client_priced_messages: int | UnsetType = UNSET


class ModelFigures(Figures, frozen=True, kw_only=True):
    """Usage of one model."""

    model: str | None


class UsageRow(Figures, frozen=True, kw_only=True):
    """One row of a report; the key is null for messages whose records do not have it."""

    key: str | None
    project: str | UnsetType | None = UNSET
    title: str | UnsetType | None = UNSET
    first_day: str | UnsetType | None = UNSET
    last_day: str | UnsetType | None = UNSET
    client_cost_usd: float | UnsetType = UNSET
    difference_usd: float | UnsetType = UNSET
    client_cost_messages: int | UnsetType = UNSET
    start: str | UnsetType = UNSET
    end: str | UnsetType = UNSET
    idle_hours_before: int | UnsetType = UNSET
    models: tuple[ModelFigures, ...] | UnsetType = UNSET


class CurrentBlock(Struct, frozen=True, kw_only=True):
    """The current 5-hour block."""

    key: str
    elapsed_minutes: float
    remaining_minutes: float
    tokens_per_minute: float
    cost_usd_per_hour: float | None
    projected_tokens: int
    projected_cost_usd: float | None


class UsageDocument(Struct, frozen=True, kw_only=True):
    """The output of `usage GROUP --json`; docs/usage.md describes each figure."""

    schema: Literal["recollect.usage/1"] = "recollect.usage/1"
    group: Group
    timezone: str
    cost_basis: CostBasis = COST_BASIS
    since: str | None
    until: str | None
    rows: tuple[UsageRow, ...]
    totals: Figures
    unpriced_models: dict[str, int]
    omitted_rows: int = 0
    """Number of rows beyond a limit; they are included in the totals."""
    current_block: CurrentBlock | UnsetType = UNSET


class CauseRow(Struct, frozen=True, kw_only=True):
    """The cost of a cause."""

    cause: str
    messages: int
    """Number of messages of which any part is attributed to it."""
    tokens: int
    cost_usd: float | None
    """None if no price is known."""
    share: float | None
    """Share of the total cost, or of the total tokens if no price is known."""


class CauseMessage(Struct, frozen=True, kw_only=True):
    """A message, and the part of it attributed to the requested cause."""

    message_id: str
    session_id: str
    file: str
    offset: int
    model: str | None
    time: str | None
    tokens: int
    cost_usd: float | None


class CauseDocument(Struct, frozen=True, kw_only=True):
    """The output of `usage cause --json`; rows add up to the totals."""

    schema: Literal["recollect.usage-cause/1"] = "recollect.usage-cause/1"
    timezone: str
    cost_basis: CostBasis = COST_BASIS
    since: str | None
    until: str | None
    rows: tuple[CauseRow, ...]
    messages: int
    tokens: int
    cost_usd: float | None
    unpriced_messages: int
    """Number of messages without a known price; their tokens are counted, their cost is not."""
    unread_files: int
    """Number of transcripts that are gone or unreadable, so that their causes are unknown."""
    cause: str | None = None
    """The cause of the messages below, which are sorted by cost, highest first."""
    caused: tuple[CauseMessage, ...] = ()
    omitted: int = 0
    """Number of messages beyond the limit."""


class ExplainLine(Struct, frozen=True, kw_only=True):
    """One line of a transcript, and whether it was counted."""

    status: str
    file: str
    offset: int
    message_id: str
    request_id: str | None
    model: str | None
    time: str | None
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_5m_tokens: int
    cache_write_1h_tokens: int
    web_search_requests: int
    cost_usd: float | None
    note: str
    client_cost_usd: float | UnsetType = UNSET
    source: Literal["agent_progress"] | UnsetType = UNSET
    placeholders: tuple[str, ...] | UnsetType = UNSET


class PriceRow(Struct, frozen=True, kw_only=True):
    """Dollars per million tokens of a model, and per thousand web searches."""

    model: str
    first_day: str | None
    last_day: str | None
    input: float | None
    output: float | None
    cache_read: float | None
    cache_write_5m: float | None
    cache_write_1h: float | None
    web_search: float | None


class ClientFigure(Struct, frozen=True, kw_only=True):
    """The cost that Claude Code itself reported."""

    cost_usd: float | None
    difference_usd: float | None
    is_guess: bool
    messages: int | UnsetType = UNSET


class UnreadFile(Struct, frozen=True, kw_only=True):
    """A file whose lines could not be shown."""

    file: str
    reason: str


class ExplainDocument(Struct, frozen=True, kw_only=True):
    """The output of `usage explain TARGET --json`: the lines behind a figure."""

    schema: Literal["recollect.usage-explain/1"] = "recollect.usage-explain/1"
    kind: Literal["session", "subagent", "day", "message"]
    name: str
    timezone: str
    cost_basis: CostBasis = COST_BASIS
    lines: tuple[ExplainLine, ...]
    totals: Figures
    not_counted: dict[str, int]
    prices: tuple[PriceRow, ...]
    client: ClientFigure | None
    unread: tuple[UnreadFile, ...]


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
