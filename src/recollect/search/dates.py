"""Dates as people write them in a query: a day, a month, a year, `yesterday`, `7d` ago.

A date names a period, and a count of hours, days or weeks the moment that long ago; which end of a
period is meant is for the caller to say. Days are those of the given time zone. There is no unit
`m`: half of its users mean minutes and the others months.
"""

import re
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final

from msgspec import Struct

_CALENDAR: Final = re.compile(r"([0-9]{4})(?:-([0-9]{1,2})(?:-([0-9]{1,2}))?)?")
_AGO: Final = re.compile(r"([0-9]{1,6})([hdw])")
_HOURS: Final = {"h": 1, "d": 24, "w": 7 * 24}
_MONTHS: Final = 12


class Period(Struct, frozen=True):
    """A stretch of time in UTC, from its start to just before its end."""

    start: datetime
    end: datetime


def find_period(text: str, now: datetime, timezone: tzinfo) -> Period | None:
    """The period that a date names; None when it is no date or beyond the calendar."""
    try:
        return _read_period(text.strip().lower(), now, timezone)
    except (ValueError, OverflowError):
        return None


def _read_period(text: str, now: datetime, timezone: tzinfo) -> Period | None:
    if ago := _AGO.fullmatch(text):
        moment = (now - timedelta(hours=int(ago[1]) * _HOURS[ago[2]])).astimezone(UTC)
        return Period(moment, moment)
    days = _read_days(text, now.astimezone(timezone).date())
    if days is None:
        return None
    first, after = (datetime.combine(day, time(), timezone).astimezone(UTC) for day in days)
    return Period(first, after)


def _read_days(text: str, today: date) -> tuple[date, date] | None:
    """The first day and the day after the last one."""
    one_day = timedelta(days=1)
    if text == "today":
        return today, today + one_day
    if text == "yesterday":
        return today - one_day, today
    match = _CALENDAR.fullmatch(text)
    if match is None:
        return None
    year, month, day = (int(number) if number else None for number in match.groups())
    if year is None or month is None:
        return date(int(match[1]), 1, 1), date(int(match[1]) + 1, 1, 1)
    if day is None:
        return date(year, month, 1), date(year + month // _MONTHS, month % _MONTHS + 1, 1)
    return date(year, month, day), date(year, month, day) + one_day
