"""Tests of recollect.usage.zones."""

import time
from datetime import date, datetime

import pytest

from recollect.errors import UsageError
from recollect.usage.zones import load_zone

HOUR = 3600
NOON = 1_794_744_000
"""2026-11-15T12:00:00Z"""


@pytest.mark.parametrize(
    ("name", "moment", "expected"),
    [
        ("UTC", NOON, date(2026, 11, 15)),
        ("utc", NOON, date(2026, 11, 15)),
        ("Pacific/Auckland", NOON, date(2026, 11, 16)),
        ("Pacific/Honolulu", NOON - 3 * HOUR, date(2026, 11, 14)),
        ("Asia/Kolkata", NOON + 6 * HOUR + 1799, date(2026, 11, 15)),
        ("Asia/Kolkata", NOON + 6 * HOUR + 1800, date(2026, 11, 16)),
    ],
)
def test_the_day_is_that_of_the_zone(name: str, moment: int, expected: date) -> None:
    """Days start at midnight of the zone, to the second."""
    assert load_zone(name).find_day(moment) == expected


@pytest.mark.parametrize(("day", "hours"), [(date(2026, 3, 29), 23), (date(2026, 10, 25), 25)])
def test_days_with_a_change_of_clocks(day: date, hours: int) -> None:
    """The day on which clocks go forward has 23 hours, and that on which they go back 25."""
    zone = load_zone("Europe/Berlin")
    around = range(NOON - 300 * 24 * HOUR, NOON, HOUR)
    assert sum(zone.find_day(moment) == day for moment in around) == hours


def test_local_time() -> None:
    """A local time has no zone."""
    assert load_zone("Asia/Kathmandu").find_local(NOON) == datetime(2026, 11, 15, 17, 45)  # noqa: DTZ001


@pytest.mark.parametrize("moment", [10**12, -(10**12)])
def test_out_of_range_times_have_no_day(moment: int) -> None:
    """An invalid time never stops a report."""
    zones = [load_zone(name) for name in ("UTC", "Asia/Tokyo", "local")]
    assert [zone.find_day(moment) for zone in zones] == [None, None, None]
    assert [zone.has_whole_hour_offsets([moment]) for zone in zones] == [True, True, True]


def test_without_a_time_there_is_no_day() -> None:
    """No time, no day."""
    assert load_zone("UTC").find_day(None) is None


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("UTC", True),
        ("Europe/Berlin", True),
        ("Asia/Kolkata", False),
        ("Asia/Kathmandu", False),
        ("Australia/Lord_Howe", False),
    ],
)
def test_zones_with_whole_hour_offsets(name: str, expected: bool) -> None:
    """Lord Howe has a half-hour offset only in winter, which one winter time shows."""
    assert load_zone(name).has_whole_hour_offsets([NOON, NOON - 180 * 24 * HOUR]) is expected


@pytest.mark.parametrize("name", ["Mars/Olympus", "../etc/passwd", "", "Europe"])
def test_an_unknown_zone_is_an_error(name: str) -> None:
    """An unknown name is an error that suggests valid names."""
    with pytest.raises(UsageError) as caught:
        load_zone(name)
    assert str(caught.value) == (
        f"Unknown time zone {name!r}. Use a name such as Europe/Berlin, UTC or local."
    )


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="Windows takes no zone from TZ")
@pytest.mark.parametrize(
    ("variable", "name", "shown"),
    [
        ("America/New_York", "America/New_York", datetime(2026, 11, 15, 7)),  # noqa: DTZ001
        (":Asia/Kolkata", "Asia/Kolkata", datetime(2026, 11, 15, 17, 30)),  # noqa: DTZ001
        ("UTC0", "UTC", datetime(2026, 11, 15, 12)),  # noqa: DTZ001
        ("XYZ-3", "XYZ-3", datetime(2026, 11, 15, 15)),  # noqa: DTZ001
    ],
)
def test_the_system_has_a_zone(
    monkeypatch: pytest.MonkeyPatch, variable: str, name: str, shown: datetime
) -> None:
    """Without a name the system's rules apply, and TZ names them."""
    monkeypatch.setenv("TZ", variable)
    time.tzset()
    zone = load_zone()
    local = zone.find_local(NOON)
    monkeypatch.undo()
    time.tzset()
    assert (zone.name, local) == (name, shown)
