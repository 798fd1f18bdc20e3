"""Numbers, sizes, money, durations and times as text, the same on every surface.

Terminal, pages and status line all format with this module. Units are translated; sentences around
a figure, and what to show for a missing one, are up to the caller, except that a time that does not
exist is an empty string. Imports nothing of Recollect, so that any layer may use it.
"""

from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final, NamedTuple

MICRO: Final = 1_000_000
"""Amounts of money are added up as integers, in millionths of a dollar."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_THOUSAND: Final = 1000
_SECOND_MS: Final = 1000
_MINUTE: Final = 60
_HOUR: Final = 60 * _MINUTE
_DAY: Final = 24 * _HOUR
_MICRO_DIGITS: Final = 6
_TO_THE_MINUTE: Final = len("2026-11-13 12:00")
_AGE_STEPS: Final = ((60, "min"), (24, "h"), (7, "d"), (5, "w"))


class _Units(NamedTuple):
    byte: str
    bytes: str
    millisecond: str
    second: str
    minute: str
    hour: str
    day: str


_ENGLISH: Final = _Units("byte", "bytes", "ms", "s", "min", "h", "d")
_UNITS: Final = {"zh": _Units("字节", "字节", "毫秒", "秒", "分", "小时", "天")}


def format_number(number: float) -> str:
    """Format a whole number with separators, such as `12,345`."""
    return f"{number:,.0f}"


def format_count(number: int, noun: str, plural: str | None = None) -> str:
    """Format a number with its noun, such as `1 file` or `2,000 files`."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def format_short_number(number: float) -> str:
    """Abbreviate a number to at most four digits, such as `987`, `12.3K` or `4.5M`."""
    if abs(number) < _THOUSAND:
        return f"{number:.0f}"
    return _scale(number, ("K", "M", "B"), "")


def format_bytes(count: int, language: str = "en") -> str:
    """Format a size in powers of 1,000, such as `999 bytes` or `1.4 MB`."""
    if count < _THOUSAND:
        units = _UNITS.get(language, _ENGLISH)
        return format_count(count, units.byte, units.bytes)
    return _scale(count, ("KB", "MB", "GB", "TB"), " ")


def to_dollars(micro: int | None) -> float | None:
    """Convert millionths of a dollar to dollars; None if the amount is not known."""
    return None if micro is None else micro / MICRO


def format_dollars(dollars: float, places: int = 2) -> str:
    """Format an amount, such as `$1,234.50`; what would round to nothing is `<$0.01`."""
    # A difference of two sums may be off by the last bit, and less than a micro-dollar is nothing.
    dollars = round(dollars, _MICRO_DIGITS)
    shown = round(dollars, places)
    if dollars > 0 == shown:
        return f"<${10.0**-places:.{places}f}"
    return f"{'-' if shown < 0 else ''}${abs(shown):,.{places}f}"


def format_share(share: float) -> str:
    """Format a part of a whole in percent; what would round to nothing is `<1%`."""
    shown = f"{share:.0%}"
    return "<1%" if share > 0 and shown == "0%" else shown


def format_rate(dollars: float) -> str:
    """Format a price with as many digits as it needs, up to four: `$20` or `$0.015`."""
    return "$" + f"{dollars:,.4f}".rstrip("0").rstrip(".")


def format_duration(milliseconds: float, language: str = "en") -> str:
    """Format a duration in its one or two largest units, such as `1.4 s` or `2 h 5 min`."""
    units = _UNITS.get(language, _ENGLISH)
    if round(milliseconds) < _SECOND_MS:
        return f"{milliseconds:.0f} {units.millisecond}"
    if (seconds := round(milliseconds / _SECOND_MS, 1)) < _MINUTE:
        return f"{seconds:.1f} {units.second}"
    whole = round(milliseconds / _SECOND_MS)
    if whole < _HOUR:
        return f"{whole // _MINUTE} {units.minute} {whole % _MINUTE} {units.second}"
    if whole < _DAY:
        return f"{whole // _HOUR} {units.hour} {whole % _HOUR // _MINUTE} {units.minute}"
    return f"{whole // _DAY:,} {units.day} {whole % _DAY // _HOUR} {units.hour}"


def format_hours(seconds: int) -> str:
    """Format a duration of some hours in few columns, such as `2h 05m`; negative is `0h 00m`."""
    hours, minutes = divmod(max(seconds, 0) // _MINUTE, 60)
    return f"{hours}h {minutes:02}m"


def format_date(moment: datetime | float, zone: tzinfo | None = None) -> str:
    """Format a day, such as `2026-11-13`, in `zone` or else in local time."""
    return format_time(moment, zone).partition(" ")[0]


def format_time(moment: datetime | float | None, zone: tzinfo | None = None) -> str:
    """Format a moment, such as `2026-11-13 12:00`, in `zone` or else in local time; sorts as text.

    A number is a Unix timestamp. Empty if there is no moment, or none that a calendar has.
    """
    try:
        if not isinstance(moment, datetime):
            moment = None if moment is None else datetime.fromtimestamp(moment, UTC)
        local = moment and _convert(moment, zone)
    except (OverflowError, OSError, ValueError):
        return ""
    return local.isoformat(" ", "minutes")[:_TO_THE_MINUTE] if local else ""


def format_utc(moment: datetime | int) -> str:
    """Format a moment or a Unix timestamp in UTC, such as `2026-11-15T10:00:00Z`, for documents."""
    if not isinstance(moment, datetime):
        moment = _EPOCH + timedelta(seconds=moment)
    return f"{moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='seconds')}Z"


def format_time_range(
    start: datetime | None, end: datetime | None, zone: tzinfo | None = None
) -> str:
    """Format a range, such as `2026-11-13 12:00 to 13:30`, with the day once if it is the same."""
    first, last = format_time(start, zone), format_time(end, zone)
    if not first or not last or first == last:
        return first or last
    day, _, time = last.partition(" ")
    return f"{first} to {time if first.startswith(day) else last}"


def format_age(seconds: float, now: datetime) -> str:
    """Format the age of a Unix timestamp, such as `5 min ago`; beyond five weeks, its date."""
    age = int(now.timestamp() - seconds) // _MINUTE
    if age < 1:
        return "just now"
    for size, unit in _AGE_STEPS:
        if age < size:
            return f"{age} {unit} ago"
        age //= size
    return format_date(seconds)


def format_deletion(moment: datetime, now: datetime) -> str:
    """Format when Claude Code deletes a session that expires at `moment`, such as `in 3 days`.

    It deletes when it starts, so what has expired goes "at its next start".
    """
    left = moment - now
    if left < timedelta(days=1):
        return "within a day" if left > timedelta() else "at its next start"
    return f"in {format_count(left.days, 'day')}"


def _scale(number: float, units: tuple[str, ...], gap: str) -> str:
    size = number / _THOUSAND
    *smaller, largest = units
    for unit in smaller:
        # Compare the rounded value, so that 999,950 is not shown as `1000.0K`.
        if abs(round(size, 1)) < _THOUSAND:
            return f"{size:.1f}{gap}{unit}"
        size /= _THOUSAND
    return f"{size:,.1f}{gap}{largest}"


def _convert(moment: datetime, zone: tzinfo | None) -> datetime:
    try:
        return moment.astimezone(zone)
    except (OverflowError, OSError, ValueError):
        # Near the ends of the calendar another zone may have no such day: keep the moment's own.
        return moment
