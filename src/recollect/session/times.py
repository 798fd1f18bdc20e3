"""Timestamps as records write them, and the time between two of them.

Records keep the text; only what is computed with becomes a number. A missing or malformed time is
None and never stops anything.
"""

from collections.abc import Iterable
from datetime import UTC, datetime


def parse_time(text: str | None) -> datetime | None:
    """The moment that `text` names, with its time zone; None when it names none."""
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def milliseconds_between(start: str | None, end: str | None) -> float | None:
    """Milliseconds from `start` to `end`; None when either is unknown, or the clock went back."""
    first, last = parse_time(start), parse_time(end)
    if first is None or last is None or last < first:
        return None
    return (last - first).total_seconds() * 1000


def find_range(times: Iterable[str | None]) -> tuple[str | None, str | None]:
    """The earliest and the latest of `times`, as written."""
    known = [(moment, text) for text in times if text and (moment := parse_time(text))]
    if not known:
        return None, None
    return min(known)[1], max(known)[1]
