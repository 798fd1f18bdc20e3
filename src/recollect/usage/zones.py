"""Moments → days of a time zone.

Knows UTC, the zones of the time zone database and the system's own rules, which need no name.
Moments are whole seconds since 1970. A moment beyond the calendar has no day.
"""

import os
import time
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import cache
from pathlib import Path

from recollect.errors import UsageError

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_HOUR = 3600
_DAY = 24 * _HOUR
_LOCALTIME = Path("/etc/localtime")
_DATABASE = "/zoneinfo/"

Offset = Callable[[int], int]
"""Moment → seconds east of UTC; raises what the system raises beyond the calendar."""


def format_moment(moment: int) -> str:
    """A moment in UTC, as `2026-11-15T10:00:00Z`."""
    return (_EPOCH + timedelta(seconds=moment)).replace(tzinfo=None).isoformat() + "Z"


class Zone:
    """A time zone with the name that is shown for it."""

    def __init__(self, name: str, offset_at: Offset) -> None:
        self.name = name
        self._offset_at = offset_at
        self.find_day: Callable[[int | None], date | None] = cache(self._find_day)
        """The day that holds a moment; None without one."""

    def find_local(self, moment: int) -> datetime | None:
        """What a clock on the wall shows, without a time zone."""
        try:
            shown = _EPOCH + timedelta(seconds=moment + self._offset_at(moment))
        except (OverflowError, ValueError, OSError):
            return None
        return shown.replace(tzinfo=None)

    def number_day(self, moment: int) -> int:
        """The number of the day that holds a moment, for telling days apart quickly."""
        try:
            return (moment + self._offset_at(moment)) // _DAY
        except (OverflowError, ValueError, OSError):
            return moment // _DAY

    def keeps_hours(self, moments: Iterable[int]) -> bool:
        """Whether full hours in UTC are full hours here, at all these moments."""
        return all(self._is_hourly(moment) for moment in moments)

    def _is_hourly(self, moment: int) -> bool:
        try:
            return self._offset_at(moment) % _HOUR == 0
        except (OverflowError, ValueError, OSError):
            return True

    def _find_day(self, moment: int | None) -> date | None:
        local = None if moment is None else self.find_local(moment)
        return None if local is None else local.date()


def load_zone(name: str | None = None) -> Zone:
    """The zone of that name; the system's own for None and `local`."""
    if name is None or name == "local":
        return Zone(_find_system_name(), lambda moment: time.localtime(moment).tm_gmtoff)
    if name.upper() in ("UTC", "Z"):
        return Zone("UTC", lambda _: 0)
    return Zone(name, _offset_of(_load_named(name)))


def _load_named(name: str) -> tzinfo:
    from zoneinfo import ZoneInfo  # noqa: PLC0415 - most answers need no database

    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise UsageError(
            f"No time zone is called {name!r}. Give a name such as Europe/Berlin, UTC or local."
        ) from error


def _offset_of(zone: tzinfo) -> Offset:
    def offset_at(moment: int) -> int:
        offset = (_EPOCH + timedelta(seconds=moment)).astimezone(zone).utcoffset()
        return int(offset.total_seconds()) if offset else 0

    return offset_at


def _find_system_name() -> str:
    named = os.environ.get("TZ", "").removeprefix(":") or _name_of_link()
    return "UTC" if named in ("Etc/UTC", "UTC0") else named or time.tzname[0]


def _name_of_link() -> str:
    _, found, name = os.path.realpath(_LOCALTIME).partition(_DATABASE)
    return name if found else ""
