"""Timestamps of records, and the time between two of them.

Records keep the text; it is parsed only to compute with it. A missing or malformed time is None and
never an error.
"""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from operator import itemgetter
from typing import TypeVar

_USUAL_LENGTH = len("2026-11-15T12:00:00.000Z")


def parse_time(text: str | None) -> datetime | None:
    """Return the moment `text`, with its time zone; None if it is not a time."""
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def milliseconds_between(start: str | None, end: str | None) -> float | None:
    """Return the milliseconds between two times; None if one is unknown, or the clock went back."""
    first, last = parse_time(start), parse_time(end)
    if first is None or last is None or last < first:
        return None
    return (last - first).total_seconds() * 1000


T = TypeVar("T")


def merge_by_time(streams: Iterable[Iterable[T]], get_time: Callable[[T], str | None]) -> list[T]:
    """Merge several streams by time.

    Within a stream the order stays: an entry without a time, or with one before that of the entry
    before it, counts as being of that entry's time.
    """
    timed: list[tuple[float, T]] = []
    for stream in streams:
        latest = 0.0
        for each in stream:
            moment = parse_time(get_time(each))
            latest = max(latest, moment.timestamp() if moment else 0.0)
            timed.append((latest, each))
    return [each for _, each in sorted(timed, key=itemgetter(0))]


def find_range(times: Iterable[str | None]) -> tuple[str | None, str | None]:
    """Return the earliest and the latest of `times`, as written."""
    texts = [text for text in times if text]
    # Nearly always all have the same form, and then texts sort like the times.
    if texts and all(map(_is_usual, texts)):
        first, last = min(texts), max(texts)
        if parse_time(first) and parse_time(last):
            return first, last
    known = [(moment, text) for text in texts if (moment := parse_time(text))]
    if not known:
        return None, None
    return min(known)[1], max(known)[1]


def _is_usual(text: str) -> bool:
    """Return whether a time has the form that clients write: `2026-11-15T12:00:00.000Z`."""
    return len(text) == _USUAL_LENGTH and text[4] == "-" and text[10] == "T" and text[-1] == "Z"
