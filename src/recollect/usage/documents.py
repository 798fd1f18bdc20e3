"""The shape of a usage report and of an explanation as JSON, for schemas of any surface.

The documents themselves are made beside this, as dicts whose optional keys are simply not there; a
test holds both against each other. Nothing that counts imports this.
"""

from typing import Literal, NotRequired, TypedDict

CostBasis = Literal["list-price estimate"]


class Figures(TypedDict):
    """Tokens by class, and what they cost."""

    messages: int
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_5m_tokens: int
    cache_write_1h_tokens: int
    web_search_requests: int
    cost_usd: float | None
    unpriced_messages: int


class ModelRow(Figures):
    """The part of a row that one model has."""

    model: str | None


class Row(Figures):
    """What counts under one key, with what its group adds."""

    key: str | None
    project: NotRequired[str | None]
    first_day: NotRequired[str | None]
    last_day: NotRequired[str | None]
    client_cost_usd: NotRequired[float]
    difference_usd: NotRequired[float]
    start: NotRequired[str]
    end: NotRequired[str]
    idle_hours_before: NotRequired[int]
    models: NotRequired[list[ModelRow]]


class CurrentBlock(TypedDict):
    """How fast the 5-hour block that is running fills."""

    key: str
    elapsed_minutes: float
    remaining_minutes: float
    tokens_per_minute: float
    cost_usd_per_hour: float | None
    projected_tokens: int
    projected_cost_usd: float | None


class UsageDocument(TypedDict):
    """What `usage GROUP --json` prints."""

    schema: Literal["recollect.usage/1"]
    group: str
    timezone: str
    cost_basis: CostBasis
    since: str | None
    until: str | None
    rows: list[Row]
    totals: Figures
    unpriced_models: dict[str, int]
    current_block: NotRequired[CurrentBlock]


class Line(TypedDict):
    """A message as one file tells it, and whether that counts."""

    status: str
    file: str
    offset: int | None
    message_id: str | None
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
    note: str | None


class PriceUsed(TypedDict):
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


class ClientCost(TypedDict):
    """Claude Code's own total."""

    cost_usd: float | None
    difference_usd: float | None
    is_guess: bool


class Unread(TypedDict):
    """A file whose lines could not be shown."""

    file: str
    reason: str


class ExplainDocument(TypedDict):
    """What `usage explain TARGET --json` prints."""

    schema: Literal["recollect.usage-explain/1"]
    kind: Literal["session", "subagent", "day", "message"]
    name: str
    timezone: str
    cost_basis: CostBasis
    lines: list[Line]
    totals: Figures
    not_counted: dict[str, int]
    prices: list[PriceUsed]
    client: ClientCost | None
    unread: list[Unread]
