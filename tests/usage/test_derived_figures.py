"""Figures made from others: the average of a week, and shares."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.usage.derived_figures import average_days, find_share


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
    """What is not known, or is part of nothing, has no share."""
    assert find_share(part, total) == share
