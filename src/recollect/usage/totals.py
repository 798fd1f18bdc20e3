"""What a number of messages used together.

Money is a whole number of millionths of a dollar. Messages without a known price are counted apart
and never taken for free: with some of them a cost is a lower bound, with only them it is unknown.
"""

from collections.abc import Iterable
from operator import add

from msgspec.structs import astuple

from recollect.records.tokens import Tokens

MICRO = 1_000_000


class Totals(Tokens, frozen=True, gc=False, kw_only=True):
    """Tokens by class, server-side searches, messages, and cost."""

    messages: int = 0
    cost: int = 0
    """Of the messages whose price is known."""
    unpriced: int = 0

    def __add__(self, other: "Totals") -> "Totals":
        """Both together."""
        return make_totals(map(add, astuple(self), astuple(other)))

    @property
    def tokens(self) -> int:
        """All classes together."""
        return self.total

    @property
    def cache_write(self) -> int:
        """Cache writes of either lifetime."""
        return self.cache_write_5m + self.cache_write_1h

    @property
    def known_cost(self) -> int | None:
        """What is known of the cost; None when there are messages and none has a price."""
        return None if self.messages and self.unpriced == self.messages else self.cost


def make_totals(figures: Iterable[int]) -> Totals:
    """Totals out of figures in the order that the index has them."""
    *tokens, messages, cost, unpriced = figures
    return Totals(*tokens, messages=messages, cost=cost, unpriced=unpriced)


def add_up(parts: Iterable[Totals]) -> Totals:
    """All parts together."""
    columns = list(zip(*map(astuple, parts), strict=True))
    return make_totals(map(sum, columns)) if columns else Totals()


def to_dollars(micro: int | None) -> float | None:
    """Millionths of a dollar as dollars."""
    return None if micro is None else micro / MICRO
