"""Stretches of time, as options name them."""

from datetime import date, datetime, time


def parse_period(
    since: str | None, until: str | None, now: datetime
) -> tuple[datetime | None, datetime | None]:
    """The first moment of the day `since`, and the first one after the day `until`."""
    if since is None and until is None:
        return None, None
    from recollect.usage.days import ONE_DAY, parse_days  # noqa: PLC0415 - seldom asked for

    today = now.astimezone().date()
    first = parse_days(since, today)[0] if since else None
    last = parse_days(until, today)[1] if until else None
    return _begin(first), _begin(None if last is None else last + ONE_DAY)


def _begin(day: date | None) -> datetime | None:
    return None if day is None else datetime.combine(day, time()).astimezone()
