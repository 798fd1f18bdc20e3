"""Format times: relative for terminals, to the minute for everything else."""

from datetime import UTC, datetime, timedelta

from recollect.cli.tables import plural

_STEPS = ((60, "min"), (24, "h"), (7, "d"), (5, "w"))
_DAY = "%Y-%m-%d"
_MINUTE = f"{_DAY} %H:%M"


def show_age(seconds: float, now: datetime) -> str:
    """Return the age of a Unix timestamp, such as `5 min ago`, or its date if it is old."""
    age = int(now.timestamp() - seconds) // 60
    if age < 1:
        return "just now"
    for size, unit in _STEPS:
        if age < size:
            return f"{age} {unit} ago"
        age //= size
    return show_day(seconds)


def show_day(seconds: float) -> str:
    """Return the local date of a Unix timestamp, such as `2026-11-13`."""
    return _to_local(seconds).strftime(_DAY)


def show_moment(seconds: float) -> str:
    """Return the local time of a Unix timestamp, such as `2026-11-13 12:00`; it sorts as text."""
    return _to_local(seconds).strftime(_MINUTE)


def show_ahead(moment: datetime, now: datetime) -> str:
    """Return how soon Claude Code deletes what expires at `moment`.

    It deletes when it starts, so what has expired goes "at its next start".
    """
    left = moment - now
    if left < timedelta(days=1):
        return "within a day" if left > timedelta() else "at its next start"
    return f"in {plural(left.days, 'day')}"


def _to_local(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC).astimezone()
