"""Dates as people write them in a query: a day, a month, a year, `yesterday`, `7d` ago.

A date names a period, and a count of hours, days or weeks the moment that long ago; which end of a
period is meant is for the caller to say. Days are those of the given time zone. There is no unit
`m`: half of its users mean minutes and the others months.
"""

import re
from datetime import UTC, datetime, time, timedelta, tzinfo
from typing import Final

from msgspec import Struct

from recollect.session.calendar import find_days

_AGO: Final = re.compile(r"([0-9]{1,6})([hdw])")
_HOURS: Final = {"h": 1, "d": 24, "w": 7 * 24}


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
    days = find_days(text, now.astimezone(timezone).date())
    if days is None:
        return None
    first, after = (datetime.combine(day, time(), timezone).astimezone(UTC) for day in days)
    return Period(first, after)
