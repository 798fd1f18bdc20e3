"""Figures as people read them; the filters of the templates.

Only numbers and dates come out of here. Text from a transcript is escaped by the templates.
"""

import re
from datetime import UTC, datetime
from typing import Final

_THOUSAND: Final = 1000
_CENT: Final = 0.01
_SECOND_MS: Final = 1000
_MINUTE: Final = 60
_HOUR: Final = 3600
_DAY: Final = 86_400


def show_number(value: float | None) -> str:
    """A whole number with separators; a dash for none."""
    return "—" if value is None else f"{value:,.0f}"


def show_short(value: float | None) -> str:
    """A number in three digits or so: 12.3k, 4.5M."""
    if value is None:
        return "—"
    for unit in ("", "k", "M"):
        if abs(value) < _THOUSAND:
            return f"{value:.0f}" if not unit else f"{value:.1f}{unit}"
        value /= _THOUSAND
    return f"{value:,.1f}G"


def show_money(value: float | None) -> str:
    """Dollars and cents; a dash for an unknown price."""
    if value is None:
        return "—"
    return "<$0.01" if 0 < value < _CENT else f"${value:,.2f}"


def show_rate(value: float) -> str:
    """Dollars to as many digits as it takes."""
    text = f"{value:,.4f}".rstrip("0").rstrip(".")
    return f"${text}"


def show_exact_money(value: float | None) -> str:
    """Dollars to the hundredth of a cent, for figures that are to be added up."""
    if value is None:
        return "—"
    shown = f"${abs(value):,.4f}"
    # A difference may be the last digit of a sum of fractions, which is none.
    return f"\N{MINUS SIGN}{shown}" if value < 0 and shown != "$0.0000" else shown


def show_duration(milliseconds: float | None) -> str:
    """A stretch of time in its two largest units."""
    if milliseconds is None:
        return "—"
    seconds = int(milliseconds / _SECOND_MS)
    if seconds < _MINUTE:
        return f"{seconds} s"
    if seconds < _HOUR:
        return f"{seconds // _MINUTE} min {seconds % _MINUTE} s"
    if seconds < _DAY:
        return f"{seconds // _HOUR} h {seconds % _HOUR // _MINUTE} min"
    return f"{seconds // _DAY} d {seconds % _DAY // _HOUR} h"


def show_moment(seconds: float | None) -> str:
    """A moment, given in seconds since 1970, where the server runs."""
    moment = None if seconds is None else _find_moment(seconds)
    return "—" if moment is None else moment.strftime("%Y-%m-%d %H:%M")


def show_time(text: str | None) -> str:
    """A moment as a record writes it, where the server runs; a text that is none as it is."""
    if not text:
        return ""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return text[:16]
    return show_moment(
        moment.timestamp() if moment.tzinfo else moment.replace(tzinfo=UTC).timestamp()
    )


def show_iso(seconds: float | None) -> str:
    """A moment for the `datetime` of a `time` element."""
    moment = None if seconds is None else _find_moment(seconds)
    return "" if moment is None else moment.astimezone(UTC).isoformat()


def count_days_left(moment: str, now: float) -> int:
    """Whole days from now, in seconds since 1970, to a moment; none when that is past."""
    left = datetime.fromisoformat(moment).timestamp() - now
    return max(int(left // _DAY), 0)


def show_base_name(path: str) -> str:
    """The last part of a path of any system; the path itself where it has no parts."""
    return re.split(r"[/\\]", path.rstrip("/\\"))[-1] or path


def _find_moment(seconds: float) -> datetime | None:
    try:
        return datetime.fromtimestamp(seconds, UTC).astimezone()
    except (OverflowError, OSError, ValueError):
        return None
