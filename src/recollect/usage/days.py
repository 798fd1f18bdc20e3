"""Days as people write them on a command line.

`2026-11-15` and `20261115` are days, `2026-11` and `2026` longer times, `today`, `yesterday` and
`7d` count back from today. Unlike in a search there are no hours: usage is added up by days.
"""

import re
from datetime import date
from typing import Final

from recollect.errors import UsageError
from recollect.session.calendar import ONE_DAY, find_days

__all__ = ["ONE_DAY", "find_day", "parse_days"]

_AGO: Final = re.compile(r"([0-9]{1,6})d")


def parse_days(text: str, today: date) -> tuple[date, date]:
    """The first and the last day of what `text` names; `7d` is the day seven days ago."""
    found = _find_ago(text, today) or find_days(text, today)
    if found is None:
        raise UsageError(
            f"{text!r} is no date. Give a day such as 2026-11-15, a month such as 2026-11, "
            "today, yesterday, or 7d for seven days ago."
        )
    first, after = found
    return first, after - ONE_DAY


def find_day(text: str, today: date) -> date | None:
    """The one day that `text` names; None when it is a longer time or no date at all."""
    try:
        first, last = parse_days(text, today)
    except UsageError:
        return None
    return first if first == last else None


def _find_ago(text: str, today: date) -> tuple[date, date] | None:
    ago = _AGO.fullmatch(text.strip().lower())
    if ago is None:
        return None
    try:
        day = today - int(ago[1]) * ONE_DAY
    except OverflowError:
        return None
    return day, day + ONE_DAY
