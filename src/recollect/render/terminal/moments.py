"""The times of records as a clock on the wall shows them."""

from datetime import datetime, tzinfo

from recollect.session.times import parse_time

_TO_THE_MINUTE = len("2026-11-13 12:00")


def show_moment(timestamp: str | None, zone: tzinfo | None = None) -> str:
    """A time to the minute, in `zone` or else in local time; empty if it is none."""
    moment = parse_time(timestamp)
    return _move(moment, zone).isoformat(" ", "minutes")[:_TO_THE_MINUTE] if moment else ""


def show_span(start: str | None, end: str | None, zone: tzinfo | None = None) -> str:
    """From when to when, with the day only once if it is the same."""
    first, last = show_moment(start, zone), show_moment(end, zone)
    if not first or not last or first == last:
        return first or last
    day, _, time = last.partition(" ")
    return f"{first} to {time if first.startswith(day) else last}"


def _move(moment: datetime, zone: tzinfo | None) -> datetime:
    try:
        return moment.astimezone(zone)
    except (OverflowError, OSError, ValueError):
        # A year that no clock shows: there the record's own zone has to do.
        return moment
