"""The shape of a usage report and of an explanation as JSON, for every surface.

The documents themselves are made beside this, as dicts whose optional keys are simply not there; a
test holds both against each other. Nothing that counts imports this.
"""

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

CostBasis = Literal["list-price estimate"]


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


class ModelFigures(Figures, frozen=True, kw_only=True):
    """What one model used."""

    model: str | None


class UsageRow(Figures, frozen=True, kw_only=True):
    """One line of a report; a null key is what the records do not tell."""

    key: str | None
    project: str | UnsetType | None = UNSET
    title: str | UnsetType | None = UNSET
    first_day: str | UnsetType | None = UNSET
    last_day: str | UnsetType | None = UNSET
    client_cost_usd: float | UnsetType = UNSET
    difference_usd: float | UnsetType = UNSET
    start: str | UnsetType = UNSET
    end: str | UnsetType = UNSET
    idle_hours_before: int | UnsetType = UNSET
    models: list[ModelFigures] | UnsetType = UNSET


class CurrentBlock(Struct, frozen=True, kw_only=True):
    """The 5-hour block that is running now."""

    key: str
    elapsed_minutes: float
    remaining_minutes: float
    tokens_per_minute: float
    cost_usd_per_hour: float | None
    projected_tokens: int
    projected_cost_usd: float | None


class UsageDocument(Struct, frozen=True, kw_only=True):
    """What `usage GROUP --json` prints; docs/usage.md says what each figure means."""

    schema: Literal["recollect.usage/1"]
    group: str
    timezone: str
    cost_basis: CostBasis
    since: str | None
    until: str | None
    rows: list[UsageRow]
    totals: Figures
    unpriced_models: dict[str, int]
    current_block: CurrentBlock | UnsetType = UNSET


class ExplainLine(Struct, frozen=True, kw_only=True):
    """One line of a transcript, and what became of it."""

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


class PriceRow(Struct, frozen=True, kw_only=True):
    """Dollars for a million tokens of a model, and for a thousand searches."""

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
    """What Claude Code itself says that it cost."""

    cost_usd: float | None
    difference_usd: float | None
    is_guess: bool


class UnreadFile(Struct, frozen=True, kw_only=True):
    """A file whose lines could not be shown."""

    file: str
    reason: str


class ExplainDocument(Struct, frozen=True, kw_only=True):
    """What `usage explain TARGET --json` prints: a figure taken apart."""

    schema: Literal["recollect.usage-explain/1"]
    kind: Literal["session", "subagent", "day", "message"]
    name: str
    timezone: str
    cost_basis: CostBasis
    lines: list[ExplainLine]
    totals: Figures
    not_counted: dict[str, int]
    prices: list[PriceRow]
    client: ClientFigure | None
    unread: list[UnreadFile]
