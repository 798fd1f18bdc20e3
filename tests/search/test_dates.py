"""Tests of recollect.search.dates."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.search.dates import Period, find_period

NOW = datetime(2026, 11, 15, 22, 30, tzinfo=UTC)
TOKYO = timezone(timedelta(hours=9))


def _utc(*numbers: int) -> datetime:
    year, month, day, hour = (*numbers, *(1, 1, 0)[len(numbers) - 1 :])
    return datetime(year, month, day, hour, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("2026", _utc(2026), _utc(2027)),
        ("2026-11", _utc(2026, 11), _utc(2026, 12)),
        ("2026-12", _utc(2026, 12), _utc(2027)),
        ("2026-11-01", _utc(2026, 11, 1), _utc(2026, 11, 2)),
        ("2026-2-9", _utc(2026, 2, 9), _utc(2026, 2, 10)),
        ("2024-02-29", _utc(2024, 2, 29), _utc(2024, 3)),
        (" Today ", _utc(2026, 11, 15), _utc(2026, 11, 16)),
        ("yesterday", _utc(2026, 11, 14), _utc(2026, 11, 15)),
    ],
)
def test_a_date_is_a_period(text: str, start: datetime, end: datetime) -> None:
    """A day, month or year goes from its first moment to just before the next one."""
    assert find_period(text, NOW, UTC) == Period(start, end)


@pytest.mark.parametrize(
    ("text", "ago"),
    [("3h", timedelta(hours=3)), ("7d", timedelta(days=7)), ("2W", timedelta(weeks=2))],
)
def test_a_count_is_a_moment(text: str, ago: timedelta) -> None:
    """Hours, days and weeks count back from now, to the second."""
    assert find_period(text, NOW, TOKYO) == Period(NOW - ago, NOW - ago)


def test_days_are_those_of_the_time_zone() -> None:
    """Today is the day that it is in the given time zone."""
    assert find_period("today", NOW, TOKYO) == Period(
        _utc(2026, 11, 15, 15), _utc(2026, 11, 16, 15)
    )


@pytest.mark.parametrize(
    "text",
    ["", "soon", "2026-13", "2026-02-30", "0000", "9999", "9999-12-31", "999999w", "7m", "11-01",
     "2026-11-01T10:00", "-7d", "٢٠٢٦", "７d"],
)  # fmt: skip
def test_other_text_is_no_date(text: str) -> None:
    """What is no date, does not exist or lies beyond the calendar gives nothing."""
    assert find_period(text, NOW, UTC) is None


@given(st.text("0123456789-hdw", max_size=12) | st.text(), st.integers(-14 * 60, 14 * 60))
def test_any_text_is_a_date_or_none(text: str, minutes: int) -> None:
    """No text makes reading a date fail, in any time zone."""
    period = find_period(text, NOW, timezone(timedelta(minutes=minutes)))
    assert period is None or period.start <= period.end


@given(st.dates(date(1, 1, 1), date(9998, 12, 31)))
def test_months_and_years_are_made_of_their_days(day: date) -> None:
    """A day lies within its month, and the month within its year."""
    inner, middle, outer = (find_period(str(day)[:length], NOW, UTC) for length in (10, 7, 4))
    assert inner is not None
    assert middle is not None
    assert outer is not None
    assert outer.start <= middle.start <= inner.start < inner.end <= middle.end <= outer.end
