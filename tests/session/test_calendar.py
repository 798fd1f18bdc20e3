"""Tests of recollect.session.calendar."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.session.calendar import ONE_DAY, find_days

TODAY = date(2026, 3, 1)


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
    ],
)
def test_a_text_names_days(text: str, first: date, after: date) -> None:
    """Its first day and the one after its last, with dashes or without."""
    assert find_days(text, TODAY) == (first, after)


@pytest.mark.parametrize(
    "text",
    ["", "2026-13", "2026-02-30", "2026115", "0000", "9999", "9999-12-31", "7d", "11-01", "٢٠٢٦"],
)
def test_other_text_names_none(text: str) -> None:
    """What is no date, does not exist or lies beyond the calendar."""
    assert find_days(text, TODAY) is None


@given(st.dates(date(1, 1, 1), date(9998, 12, 31)))
def test_a_day_is_itself_however_it_is_written(day: date) -> None:
    """The dashes are for people."""
    assert find_days(str(day), TODAY) == (day, day + ONE_DAY)
    assert find_days(str(day).replace("-", ""), TODAY) == (day, day + ONE_DAY)
