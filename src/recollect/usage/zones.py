"""Time arithmetic for reports: days in a time zone, and the starts of 5-hour blocks.

Knows UTC, the time zone database and the system's local time. Moments are whole seconds since 1970;
a moment outside the range of `datetime` has no day. Cheap to import, because the status line does.
"""

import os
import time
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import cache
from pathlib import Path
from typing import Final

from recollect.errors import UsageError

HOUR: Final = 3600
BLOCK: Final = 5 * HOUR
_DAY: Final = 24 * HOUR
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LOCALTIME_LINK: Final = Path("/etc/localtime")
_ZONEINFO: Final = "/zoneinfo/"

Offset = Callable[[int], int]
"""Returns the seconds east of UTC at a moment; may raise for moments out of range."""


def find_block_starts(moments: Iterable[int]) -> list[int]:
    """Return the starts of the blocks of messages sent at `moments`, in chronological order."""
    starts: list[int] = []
    for moment in sorted(moments):
        if not starts or moment >= starts[-1] + BLOCK:
            starts.append(moment // HOUR * HOUR)
    return starts


class Zone:
    """A time zone and its display name."""

    def __init__(self, name: str, offset_at: Offset) -> None:
        self.name = name
        self._offset_at = offset_at
        self.find_day: Callable[[int | None], date | None] = cache(self._find_day)
        """Return the local day of a moment; None for None or a moment out of range."""

    def find_local(self, moment: int) -> datetime | None:
        """Return the naive local time; None if out of range."""
        try:
            shown = _EPOCH + timedelta(seconds=moment + self._offset_at(moment))
        except (OverflowError, ValueError, OSError):
            return None
        return shown.replace(tzinfo=None)

    def find_day_number(self, moment: int) -> int:
        """Return a number that identifies the local day, cheaper than a date."""
        try:
            return (moment + self._offset_at(moment)) // _DAY
        except (OverflowError, ValueError, OSError):
            return moment // _DAY

    def has_whole_hour_offsets(self, moments: Iterable[int]) -> bool:
        """Whether the UTC offset is a whole number of hours at all `moments`."""
        return all(self._is_hourly(moment) for moment in moments)

    def _is_hourly(self, moment: int) -> bool:
        try:
            return self._offset_at(moment) % HOUR == 0
        except (OverflowError, ValueError, OSError):
            return True

    def _find_day(self, moment: int | None) -> date | None:
        local = None if moment is None else self.find_local(moment)
        return None if local is None else local.date()


def load_zone(name: str | None = None) -> Zone:
    """Return the time zone called `name`; the system's for None and `local`."""
    if name is None or name == "local":
        return Zone(_find_system_name(), lambda moment: time.localtime(moment).tm_gmtoff)
    if name.upper() in ("UTC", "Z"):
        return Zone("UTC", lambda _: 0)
    return Zone(name, _make_offset_function(_load_named(name)))


def _load_named(name: str) -> tzinfo:
    from zoneinfo import ZoneInfo  # imported here because local time and UTC do not need it

    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise UsageError(
            f"Unknown time zone {name!r}. Use a name such as Europe/Berlin, UTC or local."
        ) from error


def _make_offset_function(zone: tzinfo) -> Offset:
    def offset_at(moment: int) -> int:
        offset = (_EPOCH + timedelta(seconds=moment)).astimezone(zone).utcoffset()
        return int(offset.total_seconds()) if offset else 0

    return offset_at


def _find_system_name() -> str:
    named = os.environ.get("TZ", "").removeprefix(":") or _read_localtime_link()
    return "UTC" if named in ("Etc/UTC", "UTC0") else named or time.tzname[0]


def _read_localtime_link() -> str:
    _, found, name = os.path.realpath(_LOCALTIME_LINK).partition(_ZONEINFO)
    return name if found else ""
