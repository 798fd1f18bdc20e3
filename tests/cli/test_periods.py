"""Stretches of time as options name them."""

from datetime import UTC, datetime

import pytest

from recollect.cli.periods import parse_period
from recollect.errors import UsageError

NOW = datetime(2026, 11, 13, 12, tzinfo=UTC)


def test_days_are_those_of_the_clock_on_the_wall() -> None:
    """From the first moment of one day to the first one after the other."""
    since, until = parse_period("2026-11-01", "2026-11", NOW)
    assert (since, until) == (
        datetime(2026, 11, 1).astimezone(),
        datetime(2026, 12, 1).astimezone(),
    )
    assert parse_period(None, None, NOW) == (None, None)


def test_what_is_no_date_is_refused() -> None:
    """And the message says what is one."""
    with pytest.raises(UsageError, match="is no date"):
        parse_period("soon", None, NOW)
