"""Tests of recollect.usage.totals."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.usage.totals import Totals, add_up, average_days, find_share

ONE = Totals(2, 3, 4, 5, 6, 7, messages=1, cost=8, unpriced=0)
UNPRICED = Totals(10, 20, 30, 40, 50, 60, messages=1, cost=0, unpriced=1)


def test_parts_are_added_field_by_field() -> None:
    """A sum has the sum of every figure."""
    assert add_up([ONE, UNPRICED]) == Totals(12, 23, 34, 45, 56, 67, messages=2, cost=8, unpriced=1)
    assert add_up([]) == Totals()


def test_tokens_are_all_classes() -> None:
    """Searches and messages do not count as tokens."""
    assert (ONE.cache_write, ONE.tokens) == (11, 20)


@pytest.mark.parametrize(
    ("totals", "expected"),
    [(Totals(), 0), (ONE, 8), (ONE + UNPRICED, 8), (UNPRICED, None)],
)
def test_a_cost_is_unknown_when_nothing_has_a_price(totals: Totals, expected: int | None) -> None:
    """With one price the cost is a lower bound; without any it is unknown."""
    assert totals.known_cost == expected


def test_seven_days_are_averaged() -> None:
    """The first value is that of the seventh day; days without usage are part of it."""
    values = [7.0, 0, 0, 0, 0, 0, 0, 14, 0, 0, 0, 0, 0, 0]
    assert average_days(values) == [1, 2, 2, 2, 2, 2, 2, 2]


@pytest.mark.parametrize("days", [0, 1, 13])
def test_a_short_range_has_no_average(days: int) -> None:
    """A range of less than two weeks has no moving average."""
    assert average_days([1.0] * days) == []


@given(st.lists(st.floats(0, 1e6), min_size=14, max_size=60))
def test_an_average_is_the_mean(values: list[float]) -> None:
    """Each value is the mean of its seven days, and never less than nothing."""
    means = [sum(values[end - 7 : end]) / 7 for end in range(7, len(values) + 1)]
    found = average_days(values)
    assert found == pytest.approx(means, abs=1e-6)
    assert min(found) >= 0


@pytest.mark.parametrize(
    ("part", "total", "share"),
    [(1.0, 4.0, 0.25), (0, 4, 0.0), (None, 4.0, None), (1.0, None, None), (0, 0, None)],
)
def test_shares(part: float | None, total: float | None, share: float | None) -> None:
    """Unknown values have no share, and neither have parts of zero."""
    assert find_share(part, total) == share
