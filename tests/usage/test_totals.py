"""Tests of recollect.usage.totals."""

import pytest

from recollect.usage.totals import Totals, add_up, to_dollars

ONE = Totals(2, 3, 4, 5, 6, 7, messages=1, cost=8, unpriced=0)
UNPRICED = Totals(10, 20, 30, 40, 50, 60, messages=1, cost=0, unpriced=1)


def test_parts_are_added_field_by_field() -> None:
    """A sum has the sum of every figure."""
    assert add_up([ONE, UNPRICED]) == Totals(12, 23, 34, 45, 56, 67, messages=2, cost=8, unpriced=1)
    assert add_up([]) == Totals()


def test_tokens_are_all_classes() -> None:
    """Searches and messages are no tokens."""
    assert (ONE.cache_write, ONE.tokens) == (11, 20)


@pytest.mark.parametrize(
    ("totals", "expected"),
    [(Totals(), 0), (ONE, 8), (ONE + UNPRICED, 8), (UNPRICED, None)],
)
def test_a_cost_is_unknown_when_nothing_has_a_price(totals: Totals, expected: int | None) -> None:
    """One price is a lower bound; none among some messages is no knowledge at all."""
    assert totals.known_cost == expected


def test_dollars_are_exact_to_the_millionth() -> None:
    """No digit is lost or made up."""
    assert [to_dollars(micro) for micro in (1_234_567, 3, None)] == [1.234567, 0.000003, None]
