"""Convert usage reports and explanations to the documents of docs/usage.md."""

from typing import Any

from msgspec import UNSET

from recollect.documents import usage_report
from recollect.documents.usage_groups import Group
from recollect.quantities import MICRO, format_utc, to_dollars
from recollect.redact.quick_masks import mask_path
from recollect.usage import explain, reports, zones
from recollect.usage.totals import BurnRate, Totals


def describe_report(
    report: reports.UsageReport, burn_rate: BurnRate | None = None, *, omitted_rows: int = 0
) -> usage_report.UsageDocument:
    """Return the document of a report; `burn_rate` is that of its current block."""
    query = report.query
    since, until = query.since, query.until
    return usage_report.UsageDocument(
        group=query.group,
        timezone=query.zone.name,
        since=since.isoformat() if since else None,
        until=until.isoformat() if until else None,
        rows=tuple(_describe_row(row, query.group, query.zone) for row in report.rows),
        totals=describe_totals(report.totals),
        unpriced_models=report.unpriced,
        omitted_rows=omitted_rows,
        current_block=UNSET if burn_rate is None else _describe_burn_rate(burn_rate),
    )


def describe_totals(totals: Totals) -> usage_report.Figures:
    """Return totals under their documented names."""
    return usage_report.Figures(**_list_figures(totals))


def _list_figures(totals: Totals) -> dict[str, Any]:
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
        "progress_messages": totals.relayed or UNSET,
        "client_priced_messages": totals.client_priced or UNSET,
    }


def _describe_row(row: reports.ReportRow, group: Group, zone: zones.Zone) -> usage_report.UsageRow:
    details = _describe_session(row, zone) if group is Group.SESSION else {}
    if row.block is not None:
        details = {
            "start": format_utc(row.block.start),
            "end": format_utc(row.block.end),
            "idle_hours_before": row.block.idle_before // 3600,
        }
    return usage_report.UsageRow(
        key=row.key,
        **_list_figures(row.totals),
        **details,
        models=tuple(map(_describe_model, row.models)) or UNSET,
    )


def _describe_model(row: reports.ReportRow) -> usage_report.ModelFigures:
    return usage_report.ModelFigures(model=row.key, **_list_figures(row.totals))


def _describe_session(row: reports.ReportRow, zone: zones.Zone) -> dict[str, Any]:
    first, last = zone.find_day(row.first), zone.find_day(row.last)
    details: dict[str, Any] = {
        "project": row.project,
        "title": row.title,
        "first_day": first.isoformat() if first else None,
        "last_day": last.isoformat() if last else None,
    }
    if row.client is not None:
        details["client_cost_usd"] = to_dollars(row.client.cost)
        details["difference_usd"] = to_dollars(row.client.find_difference(row.totals.cost))
        if row.client.messages is not None:
            details["client_cost_messages"] = row.client.messages
    return details


def _describe_burn_rate(burn_rate: BurnRate) -> usage_report.CurrentBlock:
    return usage_report.CurrentBlock(
        key=burn_rate.block.key,
        elapsed_minutes=round(burn_rate.elapsed_minutes, 1),
        remaining_minutes=round(burn_rate.remaining_minutes, 1),
        tokens_per_minute=round(burn_rate.tokens_per_minute, 1),
        cost_usd_per_hour=to_dollars(burn_rate.cost_per_hour),
        projected_tokens=burn_rate.projected_tokens,
        projected_cost_usd=to_dollars(burn_rate.projected_cost),
    )


def describe_explanation(explanation: explain.Explanation) -> usage_report.ExplainDocument:
    """Return the document of an explanation."""
    return usage_report.ExplainDocument(
        kind=explanation.kind.value,
        name=explanation.name,
        timezone=explanation.timezone,
        lines=tuple(map(_describe_line, explanation.lines)),
        totals=describe_totals(explanation.totals),
        not_counted={status.value: count for status, count in explanation.not_counted.items()},
        prices=tuple(map(_describe_price, explanation.prices)),
        client=_describe_client(explanation),
        unread=tuple(
            usage_report.UnreadFile(file=mask_path(file), reason=mask_path(reason))
            for file, reason in explanation.unread
        ),
    )


def _describe_line(line: explain.Line) -> usage_report.ExplainLine:
    tokens, time = line.measures.tokens, line.measures.time
    return usage_report.ExplainLine(
        status=line.status.value,
        file=mask_path(line.file),
        offset=line.offset,
        message_id=line.message_id,
        request_id=line.request_id,
        model=line.model,
        time=None if time is None else format_utc(time // 1000),
        input_tokens=tokens.input,
        output_tokens=tokens.output,
        cache_read_tokens=tokens.cache_read,
        cache_write_5m_tokens=tokens.cache_write_5m,
        cache_write_1h_tokens=tokens.cache_write_1h,
        web_search_requests=tokens.web_searches,
        cost_usd=to_dollars(line.measures.cost),
        note=mask_path(line.note),
        client_cost_usd=UNSET if line.client_cost is None else line.client_cost / MICRO,
        source="agent_progress" if line.is_relayed else UNSET,
        placeholders=_list_placeholders(line) if line.is_relayed else UNSET,
    )


def _list_placeholders(line: explain.Line) -> tuple[str, ...]:
    return ("output_tokens",) if line.has_placeholder else ()


def _describe_price(used: explain.PriceUsed) -> usage_report.PriceRow:
    price = used.price
    classes = ("input", "output", "cache_read", "cache_write_5m", "cache_write_1h", "web_search")
    amounts = {name: getattr(price, name) for name in classes}
    return usage_report.PriceRow(
        model=used.model,
        first_day=price.first_day.isoformat() if price.first_day else None,
        last_day=price.last_day.isoformat() if price.last_day else None,
        **{name: None if each is None else float(each) for name, each in amounts.items()},
    )


def _describe_client(explanation: explain.Explanation) -> usage_report.ClientFigure | None:
    client = explanation.client
    if client is None:
        return None
    return usage_report.ClientFigure(
        cost_usd=to_dollars(client.cost),
        difference_usd=to_dollars(client.find_difference(explanation.totals.cost)),
        is_guess=client.is_guess,
        messages=UNSET if client.messages is None else client.messages,
    )
