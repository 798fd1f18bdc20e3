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
from recollect.records.usage import Usage
from recollect.usage.totals import Totals, add_up

PRICES = Prices.load()


@dataclass(frozen=True)
class Line:
    """What matters of one assistant line."""

    file: Path
    key: str
    request_id: str | None
    model: str | None
    usage: dict[str, Any]
    time: datetime | None
    is_sidechain: bool

    @property
    def rank(self) -> tuple[int, int, bool]:
        """Which of several lines of a message counts: the largest."""
        names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        output = self.usage.get("output_tokens") or 0
        total = output + sum(self.usage.get(name) or 0 for name in names)
        return (output, total, not self.is_sidechain)

    def is_like(self, other: "Line") -> bool:
        """Whether two lines with one id may be one message; a copy may lack the request."""
        return (
            self.model == other.model
            or self.usage.get("input_tokens") == other.usage.get("input_tokens")
            or self.request_id == other.request_id
            or None in (self.request_id, other.request_id)
        )


def count(paths: Iterable[Path]) -> Totals:
    """What the transcripts used, every message once."""
    by_id: defaultdict[str, list[Line]] = defaultdict(list)
    for path in paths:
        for line in _iter_lines(path):
            by_id[line.key].append(line)
    messages = (message for lines in by_id.values() for message in _separate(lines))
    return add_up(map(_count_message, messages))


def is_plain(path: Path) -> bool:
    """Whether every line is JSON: what can be saved of a broken one is not asked of this rule."""
    try:
        for line in path.read_bytes().split(b"\n"):
            if line.strip():
                json.loads(line)
    except ValueError:
        return False
    return True


def _iter_lines(path: Path) -> Iterator[Line]:
    for number, text in enumerate(path.read_bytes().split(b"\n")):
        record = json.loads(text) if text.strip() else None
        if not isinstance(record, dict) or record.get("type") != "assistant":
            continue
        message = record.get("message") or {}
        usage, model = message.get("usage"), message.get("model")
        if usage and model != "<synthetic>":
            yield Line(
                file=path,
                key=message.get("id") or record.get("uuid") or f"{path}:{number}",
                request_id=record.get("requestId"),
                model=model,
                usage=usage,
                time=_read_time(record.get("timestamp")),
                is_sidechain=bool(record.get("isSidechain")),
            )


def _read_time(text: str | None) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _separate(lines: list[Line]) -> list[list[Line]]:
    """The messages among lines with one id, which a proxy may have used again."""
    messages: list[list[Line]] = []
    for line in lines:
        like = [group for group in messages if any(line.is_like(other) for other in group)]
        messages = [group for group in messages if group not in like]
        messages.append([line, *(other for group in like for other in group)])
    return messages


def _count_message(lines: list[Line]) -> Totals:
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
    )
