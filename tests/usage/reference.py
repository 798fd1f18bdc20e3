"""The counting rule once more, slowly and with nothing of the code under test but prices.

Reads every line with `json`, holds everything in memory and knows no index: what it says of a set
of files is what a report has to say.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from recollect.pricing import Prices
from recollect.records.token_usage import Usage
from recollect.usage.totals import Totals, add_up

PRICES = Prices.load()


@dataclass(frozen=True)
class Line:
    """The relevant fields of an assistant line."""

    file: Path
    key: str
    request_id: str | None
    model: str | None
    usage: dict[str, Any]
    time: datetime | None
    is_sidechain: bool
    is_relayed: bool = False
    client_cost: float | None = None

    @property
    def rank(self) -> tuple[int, int, bool]:
        """Return the sort key of a message's lines: the largest counts."""
        names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        output = self.usage.get("output_tokens") or 0
        total = output + sum(self.usage.get(name) or 0 for name in names)
        return (output, total, not self.is_sidechain)

    @property
    def input(self) -> int:
        """Tokens that were sent and are not in the cache."""
        return self.usage.get("input_tokens") or 0

    def is_like(self, other: "Line") -> bool:
        """Whether two lines with one id may be one message; a copy may lack the request."""
        if self.request_id == other.request_id is not None:
            return True
        if len(self.key) < 20 and self.file != other.file and self.time != other.time:
            is_bare = (self.request_id is None) != (other.request_id is None)
            return is_bare and (self.model, self.input) == (other.model, other.input)
        return (
            self.model == other.model
            or self.input == other.input
            or None in (self.request_id, other.request_id)
        )


def count(paths: Iterable[Path]) -> Totals:
    """Return the usage of the transcripts, counting every message once."""
    by_id: defaultdict[str, list[Line]] = defaultdict(list)
    for path in paths:
        for line in _iter_lines(path):
            by_id[line.key].append(line)
    messages = (message for lines in by_id.values() for message in _separate(lines))
    return add_up(map(_count_message, messages))


def is_plain(path: Path) -> bool:
    """Whether every line is JSON; this reference does not salvage broken lines."""
    try:
        for line in path.read_bytes().split(b"\n"):
            if line.strip():
                json.loads(line)
    except ValueError:
        return False
    return True


def _iter_lines(path: Path) -> Iterator[Line]:
    for number, text in enumerate(path.read_bytes().split(b"\n")):
        outer = json.loads(text) if text.strip() else None
        record = _find_reply(outer) if isinstance(outer, dict) else None
        if record is None:
            continue
        message = record.get("message") or {}
        usage, model = message.get("usage"), message.get("model")
        if (usage or record.get("costUSD")) and model != "<synthetic>":
            yield Line(
                file=path,
                key=message.get("id") or record.get("uuid") or f"{path}:{number}",
                request_id=record.get("requestId"),
                model=model,
                usage=usage or {},
                time=_read_time(record.get("timestamp")),
                is_sidechain=bool(record.get("isSidechain")),
                is_relayed=record is not outer,
                client_cost=record.get("costUSD"),
            )


def _find_reply(record: dict[str, Any]) -> dict[str, Any] | None:
    """The record of a reply: this one, or one of a subagent that this one repeats."""
    data = record.get("data")
    if record.get("type") == "progress" and isinstance(data, dict):
        is_relayed = data.get("type") == "agent_progress"
        record = (is_relayed and data.get("message")) or {}
    return record if record.get("type") == "assistant" else None


def _read_time(text: str | None) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _separate(lines: list[Line]) -> list[list[Line]]:
    """Split lines with the same id into messages, since a proxy may reuse ids."""
    messages: list[list[Line]] = []
    for line in lines:
        like = [group for group in messages if any(line.is_like(other) for other in group)]
        messages = [group for group in messages if group not in like]
        messages.append([line, *(other for group in like for other in group)])
    return messages


def _count_message(lines: list[Line]) -> Totals:
    lines = [line for line in lines if not line.is_relayed] or lines
    largest = max(lines, key=lambda line: line.rank)
    usage = largest.usage
    total = usage.get("cache_creation_input_tokens") or 0
    split = usage.get("cache_creation") or {}
    hour = split.get("ephemeral_1h_input_tokens") or 0
    short = total - hour if total else split.get("ephemeral_5m_input_tokens") or 0
    times = [line.time for line in lines if line.time]
    typed = msgspec.convert({k: v for k, v in usage.items() if v is not None}, Usage)
    cost = PRICES.cost(largest.model, typed, min(times) if times else None, is_largest=True)
    return Totals(
        messages=1,
        input=usage.get("input_tokens") or 0,
        output=usage.get("output_tokens") or 0,
        cache_read=usage.get("cache_read_input_tokens") or 0,
        cache_write_5m=short,
        cache_write_1h=hour,
        web_searches=(usage.get("server_tool_use") or {}).get("web_search_requests") or 0,
        cost=cost.total if cost else 0,
        unpriced=int(cost is None),
        relayed=int(largest.is_relayed),
    )
