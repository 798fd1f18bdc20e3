"""Days as people write them on a command line.

`2026-11-15` and `20261115` are days, `2026-11` and `2026` longer times, `today`, `yesterday` and
`7d` count back from today. Unlike in a search there are no hours: usage is added up by days.
"""

import re
from datetime import date, timedelta
from typing import Final

from recollect.errors import UsageError

ONE_DAY: Final = timedelta(days=1)
_CALENDAR: Final = re.compile(r"([0-9]{4})(?:-?([0-9]{2})(?:-?([0-9]{2}))?)?")
_AGO: Final = re.compile(r"([0-9]{1,6})d")
_DECEMBER: Final = 12


def parse_days(text: str, today: date) -> tuple[date, date]:
    """The first and the last day of what `text` names; `7d` is the day seven days ago."""
    try:
        found = _find_days(text.strip().lower(), today)
    except (ValueError, OverflowError):
        found = None
    if found is None:
        raise UsageError(
            f"{text!r} is no date. Give a day such as 2026-11-15, a month such as 2026-11, "
            "today, yesterday, or 7d for seven days ago."
        )
    return found


def find_day(text: str, today: date) -> date | None:
    """The one day that `text` names; None when it is a longer time or no date at all."""
    try:
        first, last = parse_days(text, today)
    except UsageError:
        return None
    return first if first == last else None


def _find_days(text: str, today: date) -> tuple[date, date] | None:
    back = {"today": 0, "yesterday": 1}.get(text)
    if ago := _AGO.fullmatch(text):
        back = int(ago[1])
    if back is not None:
        return today - back * ONE_DAY, today - back * ONE_DAY
    match = _CALENDAR.fullmatch(text)
    return _find_period(*match.groups()) if match else None


def _find_period(year: str, month: str | None, day: str | None) -> tuple[date, date]:
    if day and month:
        exact = date(int(year), int(month), int(day))
        return exact, exact
    first, last = int(month or 1), int(month or _DECEMBER)
    after = date(int(year) + last // _DECEMBER, last % _DECEMBER + 1, 1)
    return date(int(year), first, 1), after - ONE_DAY
