"""Tests of recollect.session.times: one date syntax for all interfaces."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import UsageError
from recollect.session.times import (
    ONE_DAY,
    Period,
    find_day,
    find_days,
    find_period,
    parse_day_range,
    parse_range,
)

TODAY = date(2026, 3, 1)
NOW = datetime(2026, 11, 15, 22, 30, tzinfo=UTC)
TOKYO = timezone(timedelta(hours=9))
NO_DATES = [
    *("", "soon", "2026-13", "2026-02-30", "2026115", "0000", "9999", "9999-12-31", "999999w"),
    *("7m", "11-01", "2026-11-01T10:00", "-7d", "٢٠٢٦", "７d"),
]


def _utc(*numbers: int) -> datetime:
    year, month, day, hour = (*numbers, *(1, 1, 0)[len(numbers) - 1 :])
    return datetime(year, month, day, hour, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "first", "after"),
    [
        ("2026", date(2026, 1, 1), date(2027, 1, 1)),
        ("2026-12", date(2026, 12, 1), date(2027, 1, 1)),
        ("202602", date(2026, 2, 1), date(2026, 3, 1)),
        ("2024-2-9", date(2024, 2, 9), date(2024, 2, 10)),
        ("20240229", date(2024, 2, 29), date(2024, 3, 1)),
        (" Today ", TODAY, date(2026, 3, 2)),
        ("yesterday", date(2026, 2, 28), TODAY),
        ("1d", date(2026, 2, 28), TODAY),
        ("7d", date(2026, 2, 22), date(2026, 2, 23)),
        ("2W", date(2026, 2, 15), date(2026, 2, 16)),
    ],
)
def test_a_text_names_days(text: str, first: date, after: date) -> None:
    """Gives the first day and the one after the last, with dashes or without."""
    assert find_days(text, TODAY) == (first, after)


def test_hours_name_the_day_of_their_moment() -> None:
    """Hours resolve to days where only days count; without the time of day they give None."""
    assert find_days("23h", NOW) == (date(2026, 11, 14), date(2026, 11, 15))
    assert find_days("23h", TODAY) is None


@pytest.mark.parametrize("text", NO_DATES)
def test_other_text_names_none(text: str) -> None:
    """Text that is not a date, or a date that does not exist or is out of range, gives None."""
    assert (find_days(text, NOW), find_period(text, NOW, UTC)) == (None, None)


@given(st.dates(date(1, 1, 1), date(9998, 12, 31)))
def test_a_day_is_itself_however_it_is_written(day: date) -> None:
    """Dashes are optional."""
    assert find_days(str(day), TODAY) == (day, day + ONE_DAY)
    assert find_days(str(day).replace("-", ""), TODAY) == (day, day + ONE_DAY)


@pytest.mark.parametrize(
    ("text", "expected"), [("today", TODAY), ("2026-02", None), ("0f3c", None)]
)
def test_one_day_or_none(text: str, expected: date | None) -> None:
    """A month is not a day, and an id is not a date."""
    assert find_day(text, TODAY) == expected


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("2026", _utc(2026), _utc(2027)),
        ("2026-11", _utc(2026, 11), _utc(2026, 12)),
        ("2026-12", _utc(2026, 12), _utc(2027)),
        ("2026-11-01", _utc(2026, 11, 1), _utc(2026, 11, 2)),
        ("2024-02-29", _utc(2024, 2, 29), _utc(2024, 3)),
        (" Today ", _utc(2026, 11, 15), _utc(2026, 11, 16)),
        ("yesterday", _utc(2026, 11, 14), _utc(2026, 11, 15)),
        ("7d", _utc(2026, 11, 8), _utc(2026, 11, 9)),
        ("2w", _utc(2026, 11, 1), _utc(2026, 11, 2)),
        ("3h", NOW - timedelta(hours=3), NOW - timedelta(hours=3)),
    ],
)
def test_a_date_is_a_period(text: str, start: datetime, end: datetime) -> None:
    """A day, month or year goes from its first moment to just before the next one."""
    assert find_period(text, NOW, UTC) == Period(start, end)


def test_days_are_those_of_the_time_zone() -> None:
    """Today depends on the given time zone, or on the system's."""
    assert find_period("today", NOW, TOKYO) == Period(
        _utc(2026, 11, 15, 15), _utc(2026, 11, 16, 15)
    )
    local = datetime(2026, 11, 1).astimezone()
    assert parse_range("2026-11-01", None, NOW) == (local, None)


@given(st.text("0123456789-hdw", max_size=12) | st.text(), st.integers(-14 * 60, 14 * 60))
def test_any_text_is_a_date_or_none(text: str, minutes: int) -> None:
    """No text raises, in any time zone."""
    period = find_period(text, NOW, timezone(timedelta(minutes=minutes)))
    assert period is None or period.start <= period.end


@given(st.dates(date(1, 1, 1), date(9998, 12, 31)))
def test_months_and_years_are_made_of_their_days(day: date) -> None:
    """A day is within its month, and the month within its year."""
    inner, middle, outer = (find_period(str(day)[:length], NOW, UTC) for length in (10, 7, 4))
    assert inner is not None
    assert middle is not None
    assert outer is not None
    assert outer.start <= middle.start <= inner.start < inner.end <= middle.end <= outer.end


def test_a_range_holds_both_of_its_dates() -> None:
    """From the first moment of one to the first after the other; each may be missing."""
    assert parse_range("2026-11-01", "2026-11", NOW, UTC) == (_utc(2026, 11, 1), _utc(2026, 12))
    assert parse_range(None, "", NOW, UTC) == (None, None)
    assert parse_day_range("2026-11-01", "2026-11", NOW) == (date(2026, 11, 1), date(2026, 11, 30))
    assert parse_day_range("12h", None, NOW) == (date(2026, 11, 15), None)


@pytest.mark.parametrize("parse", [parse_range, parse_day_range])
def test_what_is_no_range_is_refused(parse: object) -> None:
    """Invalid dates are reported with examples, and reversed ranges as such."""
    assert callable(parse)
    with pytest.raises(UsageError) as caught:
        parse("soon", None, NOW)
    assert str(caught.value) == (
        "'soon' is not a valid date (try 2026-11-15, 2026-11, 2026, today, yesterday, 7d, 2w or "
        "12h)."
    )
    with pytest.raises(UsageError) as caught:
        parse("2026-11-15", "2026-11-01", NOW)
    assert str(caught.value) == (
        "The range ends before it starts: since 2026-11-15 until 2026-11-01."
    )
