"""Moments in words."""

import time
from datetime import UTC, datetime, timedelta

import pytest

from recollect.cli.times import show_age, show_ahead, show_day, show_moment

NOW = datetime(2026, 11, 13, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("minutes", "expected"),
    [
        (-5, "just now"),
        (0.5, "just now"),
        (1, "1 min ago"),
        (59, "59 min ago"),
        (60, "1 h ago"),
        (23 * 60, "23 h ago"),
        (24 * 60, "1 d ago"),
        (6 * 24 * 60, "6 d ago"),
        (7 * 24 * 60, "1 w ago"),
        (34 * 24 * 60, "4 w ago"),
        (35 * 24 * 60, "2026-10-09"),
    ],
)
def test_an_age_is_told_in_the_unit_that_fits(minutes: float, expected: str) -> None:
    """Beyond some weeks a date says more; a clock that went back is no age."""
    assert show_age(NOW.timestamp() - minutes * 60, NOW) == expected


@pytest.mark.parametrize(
    ("hours", "expected"),
    [(-1, "at its next start"), (1, "within a day"), (25, "in 1 day"), (50, "in 2 days")],
)
def test_deletion_is_told_in_days(hours: int, expected: str) -> None:
    """What is overdue goes when Claude Code starts, and not before."""
    assert show_ahead(NOW + timedelta(hours=hours), NOW) == expected


def test_moments_are_those_of_the_clock_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """A day and a minute are told as they were where the program runs."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        told = (show_day(NOW.timestamp()), show_moment(NOW.timestamp() + 4 * 3600))
    time.tzset()
    assert told == ("2026-11-13", "2026-11-14 01:00")
