"""Moments in words: how long ago for a person at a terminal, to the minute for everything else."""

from datetime import UTC, datetime, timedelta

from recollect.cli.tables import plural

_STEPS = ((60, "min"), (24, "h"), (7, "d"), (5, "w"))
_DAY = "%Y-%m-%d"
_MINUTE = f"{_DAY} %H:%M"


def show_age(seconds: float, now: datetime) -> str:
    """How long before `now` a moment lies, in seconds since 1970; its date when that is long."""
    age = int(now.timestamp() - seconds) // 60
    if age < 1:
        return "just now"
    for size, unit in _STEPS:
        if age < size:
            return f"{age} {unit} ago"
        age //= size
    return show_day(seconds)


def show_day(seconds: float) -> str:
    """The day of a moment here, such as `2026-11-13`."""
    return _to_local(seconds).strftime(_DAY)


def show_moment(seconds: float) -> str:
    """A moment on the clock here, such as `2026-11-13 12:00`; it can be sorted."""
    return _to_local(seconds).strftime(_MINUTE)


def show_ahead(moment: datetime, now: datetime) -> str:
    """How soon Claude Code deletes what is over at `moment`: when it starts, and not before."""
    left = moment - now
    if left < timedelta(days=1):
        return "within a day" if left > timedelta() else "at its next start"
    return f"in {plural(left.days, 'day')}"


def _to_local(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC).astimezone()
