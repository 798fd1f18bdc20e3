"""Convert an explanation to its document, as described in docs/usage.md."""

from msgspec import UNSET

from recollect.documents.usage_report import (
    ClientFigure,
    ExplainDocument,
    ExplainLine,
    PriceRow,
    UnreadFile,
)
from recollect.usage.explain import Explanation, Line, PriceUsed
from recollect.usage.totals import MICRO, to_dollars
from recollect.usage.usage_documents import describe_totals
from recollect.usage.zones import format_moment


def describe_explanation(explanation: Explanation) -> ExplainDocument:
    """Return the document of an explanation."""
    return ExplainDocument(
        kind=explanation.kind.value,
        name=explanation.name,
        timezone=explanation.timezone,
        lines=tuple(map(_describe_line, explanation.lines)),
        totals=describe_totals(explanation.totals),
        not_counted={status.value: count for status, count in explanation.not_counted.items()},
        prices=tuple(map(_describe_price, explanation.prices)),
        client=_describe_client(explanation),
        unread=tuple(UnreadFile(file=file, reason=reason) for file, reason in explanation.unread),
    )


def _describe_line(line: Line) -> ExplainLine:
    measures = line.measures
    time = measures.time
    return ExplainLine(
        status=line.status.value,
        file=line.file,
        offset=line.offset,
        message_id=line.message_id,
        request_id=line.request_id,
        model=line.model,
        time=None if time is None else format_moment(time // 1000),
        input_tokens=measures.input,
        output_tokens=measures.output,
        cache_read_tokens=measures.cache_read,
        cache_write_5m_tokens=measures.cache_write_5m,
        cache_write_1h_tokens=measures.cache_write_1h,
        web_search_requests=measures.web_searches,
        cost_usd=to_dollars(measures.cost),
        note=line.note,
        client_cost_usd=UNSET if line.client_cost is None else line.client_cost / MICRO,
        source="agent_progress" if line.is_relayed else UNSET,
        placeholders=_list_placeholders(line) if line.is_relayed else UNSET,
    )


def _list_placeholders(line: Line) -> tuple[str, ...]:
    return ("output_tokens",) if line.has_placeholder else ()


def _describe_price(used: PriceUsed) -> PriceRow:
    price = used.price
    classes = ("input", "output", "cache_read", "cache_write_5m", "cache_write_1h", "web_search")
    amounts = {name: getattr(price, name) for name in classes}
    return PriceRow(
        model=used.model,
        first_day=price.first_day.isoformat() if price.first_day else None,
        last_day=price.last_day.isoformat() if price.last_day else None,
        **{name: None if each is None else float(each) for name, each in amounts.items()},
    )


def _describe_client(explanation: Explanation) -> ClientFigure | None:
    client = explanation.client
    if client is None:
        return None
    return ClientFigure(
        cost_usd=to_dollars(client.cost),
        difference_usd=to_dollars(client.find_difference(explanation.totals.cost)),
        is_guess=client.is_guess,
        messages=UNSET if client.messages is None else client.messages,
    )
