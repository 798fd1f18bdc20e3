"""Figures made from other figures: moving averages and shares of a total.

A figure that would say nothing is None or missing: an average over days before the range, or a
share of nothing.
"""

from collections.abc import Sequence
from itertools import accumulate
from typing import Final

AVERAGED_DAYS: Final = 7
MIN_AVERAGE_DAYS: Final = 2 * AVERAGED_DAYS
"""In a shorter range the average is little more than one value."""


def average_days(values: Sequence[float]) -> list[float]:
    """Return the mean of each day and the six before it, beginning with the seventh day.

    `values` has one value for every day, 0 for a day without usage. Empty for a short range.
    """
    if len(values) < MIN_AVERAGE_DAYS:
        return []
    sums = [0.0, *accumulate(values)]
    # Subtracting large sums may leave a tiny negative rest where there is nothing.
    return [
        max(sums[end] - sums[end - AVERAGED_DAYS], 0.0) / AVERAGED_DAYS
        for end in range(AVERAGED_DAYS, len(sums))
    ]


def find_share(part: float | None, total: float | None) -> float | None:
    """Return which part of a total a value is; None if either is not known, or there is none."""
    return None if part is None or not total else part / total
