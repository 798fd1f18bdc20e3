"""Convert an explanation to JSON, as documented in docs/usage.md."""

from typing import Final

from recollect.store.usage_queries import Measures
from recollect.usage.explain import Explanation, Line, PriceUsed
from recollect.usage.totals import to_dollars
from recollect.usage.usage_documents import COST_BASIS, JsonObject, describe_totals
from recollect.usage.zones import format_moment

EXPLAIN_SCHEMA: Final = "recollect.usage-explain/1"


def describe_explanation(explanation: Explanation) -> JsonObject:
    """Return the explanation as a JSON object."""
    return {
        "schema": EXPLAIN_SCHEMA,
        "kind": explanation.kind.value,
        "name": explanation.name,
        "timezone": explanation.timezone,
        "cost_basis": COST_BASIS,
        "lines": [_describe_line(line) for line in explanation.lines],
        "totals": describe_totals(explanation.totals),
        "not_counted": {status.value: count for status, count in explanation.not_counted.items()},
        "prices": [_describe_price(used) for used in explanation.prices],
        "client": _describe_client(explanation),
        "unread": [{"file": file, "reason": reason} for file, reason in explanation.unread],
    }


def _describe_line(line: Line) -> JsonObject:
    document: JsonObject = {
        "status": line.status.value,
        "file": line.file,
        "offset": line.offset,
        "message_id": line.message_id,
        "request_id": line.request_id,
        "model": line.model,
        **_describe_measures(line.measures),
        "note": line.note,
    }
    if line.client_cost is not None:
        document["client_cost_usd"] = to_dollars(line.client_cost)
    if line.is_relayed:
        document["source"] = "agent_progress"
        document["placeholders"] = ["output_tokens"] if line.has_placeholder else []
    return document


def _describe_measures(measures: Measures) -> JsonObject:
    time = measures.time
    return {
        "time": None if time is None else format_moment(time // 1000),
        "input_tokens": measures.input,
        "output_tokens": measures.output,
        "cache_read_tokens": measures.cache_read,
        "cache_write_5m_tokens": measures.cache_write_5m,
        "cache_write_1h_tokens": measures.cache_write_1h,
        "web_search_requests": measures.web_searches,
        "cost_usd": to_dollars(measures.cost),
    }


def _describe_price(used: PriceUsed) -> JsonObject:
    price = used.price
    classes = ("input", "output", "cache_read", "cache_write_5m", "cache_write_1h", "web_search")
    amounts = {name: getattr(price, name) for name in classes}
    return {
        "model": used.model,
        "first_day": price.first_day.isoformat() if price.first_day else None,
        "last_day": price.last_day.isoformat() if price.last_day else None,
        **{name: None if each is None else float(each) for name, each in amounts.items()},
    }


def _describe_client(explanation: Explanation) -> JsonObject | None:
    client = explanation.client
    if client is None:
        return None
    document: JsonObject = {
        "cost_usd": to_dollars(client.cost),
        "difference_usd": to_dollars(client.find_difference(explanation.totals.cost)),
        "is_guess": client.is_guess,
    }
    if client.messages is not None:
        document["messages"] = client.messages
    return document
