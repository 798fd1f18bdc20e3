"""JSON documents of usage reports and explanations, as documented in docs/usage.md.

The structs define the schema; the documents themselves are built as dicts, because optional keys
are then simply absent. A test compares both.
"""

from typing import Final, Literal

from msgspec import UNSET, Struct, UnsetType

from recollect.usage.blocks import Pace, UsageBlock
from recollect.usage.groups import Group
from recollect.usage.reports import ReportRow, UsageReport
from recollect.usage.totals import Totals, to_dollars
from recollect.usage.zones import Zone, format_moment

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
    placeholders: list[str] | UnsetType = UNSET


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
    """What `usage explain TARGET --json` prints: the lines behind a figure."""

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


USAGE_SCHEMA: Final = "recollect.usage/1"
COST_BASIS: Final = "list-price estimate"

JsonObject = dict[str, object]


def describe_report(report: UsageReport, pace: Pace | None = None) -> JsonObject:
    """Return the report as a JSON object; `pace` is that of its current block."""
    question = report.question
    since, until = question.since, question.until
    document: JsonObject = {
        "schema": USAGE_SCHEMA,
        "group": question.group.value,
        "timezone": question.zone.name,
        "cost_basis": COST_BASIS,
        "since": since.isoformat() if since else None,
        "until": until.isoformat() if until else None,
        "rows": [_describe_row(row, question.group, question.zone) for row in report.rows],
        "totals": describe_totals(report.totals),
        "unpriced_models": report.unpriced,
    }
    return document if pace is None else {**document, "current_block": _describe_pace(pace)}


def describe_totals(totals: Totals) -> JsonObject:
    """Return totals under their documented names."""
    document: JsonObject = {
        "messages": totals.messages,
        "input_tokens": totals.input,
        "output_tokens": totals.output,
        "cache_read_tokens": totals.cache_read,
        "cache_write_5m_tokens": totals.cache_write_5m,
        "cache_write_1h_tokens": totals.cache_write_1h,
        "web_search_requests": totals.web_searches,
        "cost_usd": to_dollars(totals.known_cost),
        "unpriced_messages": totals.unpriced,
    }
    if totals.relayed:
        document["progress_messages"] = totals.relayed
    if totals.client_priced:
        document["client_priced_messages"] = totals.client_priced
    return document


def _describe_row(row: ReportRow, group: Group, zone: Zone) -> JsonObject:
    document = {"key": row.key, **describe_totals(row.totals)}
    if group is Group.SESSION:
        document |= _describe_session(row, zone)
    if row.block is not None:
        document |= _describe_block(row.block)
    if row.models:
        models = [{"model": each.key, **describe_totals(each.totals)} for each in row.models]
        document["models"] = models
    return document


def _describe_session(row: ReportRow, zone: Zone) -> JsonObject:
    first, last = zone.find_day(row.first), zone.find_day(row.last)
    document: JsonObject = {
        "project": row.project,
        "first_day": first.isoformat() if first else None,
        "last_day": last.isoformat() if last else None,
    }
    if row.title is not UNSET:
        document["title"] = row.title
    if row.client is not None:
        document["client_cost_usd"] = to_dollars(row.client.cost)
        document["difference_usd"] = to_dollars(row.client.find_difference(row.totals.cost))
        if row.client.messages is not None:
            document["client_cost_messages"] = row.client.messages
    return document


def _describe_block(block: UsageBlock) -> JsonObject:
    return {
        "start": format_moment(block.start),
        "end": format_moment(block.end),
        "idle_hours_before": block.idle_before // 3600,
    }


def _describe_pace(pace: Pace) -> JsonObject:
    return {
        "key": pace.block.key,
        "elapsed_minutes": round(pace.elapsed_minutes, 1),
        "remaining_minutes": round(pace.remaining_minutes, 1),
        "tokens_per_minute": round(pace.tokens_per_minute, 1),
        "cost_usd_per_hour": to_dollars(pace.cost_per_hour),
        "projected_tokens": pace.projected_tokens,
        "projected_cost_usd": to_dollars(pace.projected_cost),
    }
