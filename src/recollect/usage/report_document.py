"""A report → the JSON that every surface gives out; docs/usage.md describes it."""

from typing import Final

from msgspec import UNSET

from recollect.usage.blocks import Block, Pace
from recollect.usage.groups import Group
from recollect.usage.reports import Report, ReportRow
from recollect.usage.totals import Totals, to_dollars
from recollect.usage.zones import Zone, format_moment

SCHEMA: Final = "recollect.usage/1"
COST_BASIS: Final = "list-price estimate"

Document = dict[str, object]


def describe_report(report: Report, pace: Pace | None = None) -> Document:
    """The report as an object; `pace` is that of its current block."""
    question = report.question
    since, until = question.since, question.until
    document: Document = {
        "schema": SCHEMA,
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


def describe_totals(totals: Totals) -> Document:
    """Figures by their full names."""
    return {
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


def _describe_row(row: ReportRow, group: Group, zone: Zone) -> Document:
    document = {"key": row.key, **describe_totals(row.totals)}
    if group is Group.SESSION:
        document |= _describe_session(row, zone)
    if row.block is not None:
        document |= _describe_block(row.block)
    if row.models:
        models = [{"model": each.key, **describe_totals(each.totals)} for each in row.models]
        document["models"] = models
    return document


def _describe_session(row: ReportRow, zone: Zone) -> Document:
    first, last = zone.find_day(row.first), zone.find_day(row.last)
    document: Document = {
        "project": row.project,
        "first_day": first.isoformat() if first else None,
        "last_day": last.isoformat() if last else None,
    }
    if row.title is not UNSET:
        document["title"] = row.title
    if row.client_cost is not None:
        document["client_cost_usd"] = to_dollars(row.client_cost)
        document["difference_usd"] = to_dollars(row.client_cost - row.totals.cost)
    return document


def _describe_block(block: Block) -> Document:
    return {
        "start": format_moment(block.start),
        "end": format_moment(block.end),
        "idle_hours_before": block.idle_before // 3600,
    }


def _describe_pace(pace: Pace) -> Document:
    return {
        "key": pace.block.key,
        "elapsed_minutes": round(pace.elapsed_minutes, 1),
        "remaining_minutes": round(pace.remaining_minutes, 1),
        "tokens_per_minute": round(pace.tokens_per_minute, 1),
        "cost_usd_per_hour": to_dollars(pace.cost_per_hour),
        "projected_tokens": pace.projected_tokens,
        "projected_cost_usd": to_dollars(pace.projected_cost),
    }
