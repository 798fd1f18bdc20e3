"""What a number of messages used together.

Money is a whole number of millionths of a dollar. Messages without a known price are counted apart
and never taken for free: with some of them a cost is a lower bound, with only them it is unknown.
"""

from collections.abc import Iterable

from msgspec import Struct

MICRO = 1_000_000


class Totals(Struct, frozen=True, gc=False):
    """Messages, tokens by class, server-side searches, and cost."""

    messages: int = 0
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write_5m: int = 0
    cache_write_1h: int = 0
    web_searches: int = 0
    cost: int = 0
    """Of the messages whose price is known."""
    unpriced: int = 0

    def __add__(self, other: "Totals") -> "Totals":
        """Both together."""
        return Totals(
            self.messages + other.messages,
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write_5m + other.cache_write_5m,
            self.cache_write_1h + other.cache_write_1h,
            self.web_searches + other.web_searches,
            self.cost + other.cost,
            self.unpriced + other.unpriced,
        )

    @property
    def tokens(self) -> int:
        """All classes together."""
        return self.input + self.output + self.cache_read + self.cache_write

    @property
    def cache_write(self) -> int:
        """Cache writes of either lifetime."""
        return self.cache_write_5m + self.cache_write_1h

    @property
    def known_cost(self) -> int | None:
        """What is known of the cost; None when there are messages and none has a price."""
        return None if self.messages and self.unpriced == self.messages else self.cost


def add_up(parts: Iterable[Totals]) -> Totals:
    """All parts together."""
    return sum(parts, Totals())


def to_dollars(micro: int | None) -> float | None:
    """Millionths of a dollar as dollars."""
    return None if micro is None else micro / MICRO
