"""Tests of recollect.usage.days."""

from datetime import date

import pytest

from recollect.errors import UsageError
from recollect.usage.days import find_day, parse_days

TODAY = date(2026, 3, 1)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("2026-02-28", date(2026, 2, 28), date(2026, 2, 28)),
        ("20260228", date(2026, 2, 28), date(2026, 2, 28)),
        ("2024-02", date(2024, 2, 1), date(2024, 2, 29)),
        ("2026-12", date(2026, 12, 1), date(2026, 12, 31)),
        ("2026", date(2026, 1, 1), date(2026, 12, 31)),
        ("today", TODAY, TODAY),
        (" Yesterday ", date(2026, 2, 28), date(2026, 2, 28)),
        ("7d", date(2026, 2, 22), date(2026, 2, 22)),
    ],
)
def test_what_a_date_names(text: str, first: date, last: date) -> None:
    """A date is a day or a longer time, of which both ends are meant."""
    assert parse_days(text, TODAY) == (first, last)


@pytest.mark.parametrize("text", ["", "2026-02-30", "2026-13", "9999-12", "999999d", "7h", "x"])
def test_no_date_is_said_with_examples(text: str) -> None:
    """What is no date, or beyond the calendar, is refused with what to write instead."""
    with pytest.raises(UsageError) as caught:
        parse_days(text, TODAY)
    assert str(caught.value) == (
        f"{text!r} is no date. Give a day such as 2026-11-15, a month such as 2026-11, "
        "today, yesterday, or 7d for seven days ago."
    )


@pytest.mark.parametrize(
    ("text", "expected"), [("today", TODAY), ("2026-02", None), ("0f3c", None)]
)
def test_one_day_or_none(text: str, expected: date | None) -> None:
    """A month is not a day, and an id is not a date."""
    assert find_day(text, TODAY) == expected
