"""Days, months and years as people write them: `2026-11-15`, `20261115`, `2026-11`, `today`.

Beside `times`, which reads what records write. Counts such as `7d` are not here: a search counts
back to a moment, a report to a day.
"""

import re
from datetime import date, timedelta
from typing import Final

ONE_DAY: Final = timedelta(days=1)

_WITH_DASHES: Final = re.compile(r"([0-9]{4})(?:-([0-9]{1,2})(?:-([0-9]{1,2}))?)?")
_WITHOUT: Final = re.compile(r"([0-9]{4})([0-9]{2})([0-9]{2})?")
_MONTHS: Final = 12


def find_days(text: str, today: date) -> tuple[date, date] | None:
    """The first day of what `text` names and the day after its last.

    None when it is no date, names a day that does not exist or goes beyond the calendar.
    """
    text = text.strip().lower()
    try:
        if text in ("today", "yesterday"):
            first = today if text == "today" else today - ONE_DAY
            return first, first + ONE_DAY
        match = _WITH_DASHES.fullmatch(text) or _WITHOUT.fullmatch(text)
        return _find_period(*match.groups()) if match else None
    except (ValueError, OverflowError):
        return None


def _find_period(year: str, month: str | None, day: str | None) -> tuple[date, date]:
    if day and month:
        exact = date(int(year), int(month), int(day))
        return exact, exact + ONE_DAY
    first, last = int(month or 1), int(month or _MONTHS)
    return date(int(year), first, 1), date(int(year) + last // _MONTHS, last % _MONTHS + 1, 1)
