"""Which version of a file a person means: by number, by time, or by session and turn."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from recollect.errors import NothingFound, UsageError
from recollect.session.calendar import find_period
from recollect.session.times import parse_time
from recollect.versions.replay import Version

HINT = "Use a number from the list, a time such as 2026-11-15T10:30 or 2h, or SESSION:TURN."
_MIN_PREFIX = 4


def find_version(name: str, versions: Sequence[Version], now: datetime) -> Version:
    """Return the version that `name` means, which is the newest one at a time or after a turn.

    Raise NothingFound if there is none, and UsageError if `name` is none of these.
    """
    if name.isdecimal() and len(name) < len("2026"):
        found = [each for each in versions if each.number == int(name)]
    elif (moment := _find_moment(name, now)) is not None:
        found = [each for each in versions if _is_by(each, moment)]
    else:
        session, separator, turn = name.rpartition(":")
        if not separator or not turn.isdecimal() or len(session) < _MIN_PREFIX:
            raise UsageError(f"{name!r} is not a version. {HINT}")
        found = [
            each
            for each in versions
            if each.origin.session_id.startswith(session) and (each.origin.turn or 0) <= int(turn)
        ]
    if not found:
        raise NothingFound(f"There is no version {name!r}. {HINT}")
    return found[-1]


def _find_moment(name: str, now: datetime) -> datetime | None:
    """Return the time that is meant; a day means its end."""
    moment = parse_time(name) if "T" in name or " " in name else None
    if moment is not None:
        has_zone = datetime.fromisoformat(name).tzinfo is not None
        return moment if has_zone else datetime.fromisoformat(name).astimezone()
    period = find_period(name, now)
    return period.end if period else None


def _is_by(version: Version, moment: datetime) -> bool:
    time = parse_time(version.origin.time)
    return time is not None and time <= moment
