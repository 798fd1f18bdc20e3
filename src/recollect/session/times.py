"""Timestamps of records, the time between two of them, and dates as users write them in options,
queries and pages.

Records keep the text; it is parsed only to compute with it. A missing or malformed time is None and
never an error.

`2026-11-15` and `20261115` are days, `2026-11` and `2026` longer periods. `today`, `yesterday`,
`7d` and `2w` count back from today in whole days, and `12h` is the moment twelve hours ago. There
is no unit `m`: half of the users mean minutes, the other half months.
"""

import re
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from operator import itemgetter
from typing import Final, TypeVar

from msgspec import Struct

from recollect.errors import UsageError

_USUAL_LENGTH = len("2026-11-15T12:00:00.000Z")


def parse_time(text: str | None) -> datetime | None:
    """Parse `text` as a time with its time zone; None if it is not a time."""
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

    Streams keep their order: an entry without a time, or with an earlier time than the entry before
    it, counts as if it had the time of the entry before it.
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
    # Nearly always all have the same form, in which text order is time order.
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


ONE_DAY: Final = timedelta(days=1)
EXAMPLES: Final = "2026-11-15, 2026-11, 2026, today, yesterday, 7d, 2w or 12h"

# Compiled on first use, because most queries have no date.
_WITH_DASHES: Final = r"([0-9]{4})(?:-([0-9]{1,2})(?:-([0-9]{1,2}))?)?"
_WITHOUT: Final = r"([0-9]{4})([0-9]{2})([0-9]{2})?"
_AGO: Final = r"([0-9]{1,6})([hdw])"
_UNITS: Final = {"h": timedelta(hours=1), "d": ONE_DAY, "w": timedelta(weeks=1)}
_MONTHS: Final = 12


class Period(Struct, frozen=True):
    """A period in UTC, from its start to just before its end."""

    start: datetime
    end: datetime


def find_days(text: str, now: date) -> tuple[date, date] | None:
    """Parse `text` as a period and return its first day and the day after its last.

    None if it is not a date, names a day that does not exist, or is beyond the calendar. Hours need
    the time of day in `now`; the day is then the day of that moment.
    """
    today = now.date() if isinstance(now, datetime) else now
    text = text.strip().lower()
    try:
        if text in ("today", "yesterday"):
            text = "0d" if text == "today" else "1d"
        if ago := re.fullmatch(_AGO, text):
            first = _count_back(ago, now if ago[2] == "h" else today)
            return None if first is None else (first, first + ONE_DAY)
        match = re.fullmatch(_WITH_DASHES, text) or re.fullmatch(_WITHOUT, text)
        return _find_named(*match.groups()) if match else None
    except (ValueError, OverflowError):
        return None


def find_period(text: str, now: datetime, timezone: tzinfo | None = None) -> Period | None:
    """Parse `text` as a period, empty for hours; by default, days are in the system's zone."""
    try:
        if (ago := re.fullmatch(_AGO, text.strip().lower())) and ago[2] == "h":
            moment = (now - int(ago[1]) * _UNITS["h"]).astimezone(UTC)
            return Period(moment, moment)
        days = find_days(text, now.astimezone(timezone))
        if days is None:
            return None
        first, after = (datetime.combine(day, time(), timezone).astimezone(UTC) for day in days)
        return Period(first, after)
    except (ValueError, OverflowError, OSError):
        return None


def find_day(text: str, today: date) -> date | None:
    """Parse `text` as a single day; None if it is a longer period or not a date."""
    days = find_days(text, today)
    return days[0] if days and days[1] - days[0] == ONE_DAY else None


def parse_range(
    since: str | None, until: str | None, now: datetime, timezone: tzinfo | None = None
) -> tuple[datetime | None, datetime | None]:
    """Return the start of `since` and the moment after `until`; raise UsageError if invalid."""
    start = _require(since, find_period(since, now, timezone)).start if since else None
    end = _require(until, find_period(until, now, timezone)).end if until else None
    if start and end and start >= end:
        raise UsageError(describe_reversed(since or "", until or ""))
    return start, end


def parse_day_range(
    since: str | None, until: str | None, now: date
) -> tuple[date | None, date | None]:
    """Return the first day of `since` and the last day of `until`; raise UsageError if invalid."""
    first = _require(since, find_days(since, now))[0] if since else None
    last = _require(until, find_days(until, now))[1] - ONE_DAY if until else None
    if first and last and first > last:
        raise UsageError(describe_reversed(since or "", until or ""))
    return first, last


def describe_reversed(since: str, until: str) -> str:
    """Return the error message for a range that ends before it starts."""
    return f"The range ends before it starts: since {since} until {until}."


def _count_back(ago: re.Match[str], now: date) -> date | None:
    if ago[2] == "h" and not isinstance(now, datetime):
        return None
    moment = now - int(ago[1]) * _UNITS[ago[2]]
    return moment.date() if isinstance(moment, datetime) else moment


def _find_named(year: str, month: str | None, day: str | None) -> tuple[date, date]:
    if day and month:
        exact = date(int(year), int(month), int(day))
        return exact, exact + ONE_DAY
    first, last = int(month or 1), int(month or _MONTHS)
    return date(int(year), first, 1), date(int(year) + last // _MONTHS, last % _MONTHS + 1, 1)


def _require(text: str | None, found: T | None) -> T:
    if found is None:
        raise UsageError(f"{text!r} is not a valid date (try {EXAMPLES}).")
    return found
