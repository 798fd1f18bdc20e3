"""What a message cost, from what the index keeps of it.

Every cost in the index comes from here, whether a line was just read, two readings were united or
the prices changed: so it never matters which of these happened. The day is that of the message's
earliest time, in UTC.
"""

from datetime import date
from functools import lru_cache

import msgspec

from recollect.pricing import Prices, Request, Tokens
from recollect.pricing.cost import Tariff, multiply_total
from recollect.pricing.prices import CACHE_SIZE
from recollect.records.usage import Usage

DAY_MS = 86_400_000
LARGEST_COST = 2**50
"""Micro-dollars, a billion dollars: what is beyond is no price but damage."""

_FIRST_DAY = date(1970, 1, 1).toordinal()
_decode_usage = msgspec.json.Decoder(Usage).decode


class Costs:
    """Costs at the list price of the day, in micro-dollars; None where that is not known."""

    def __init__(self, prices: Prices) -> None:
        self._prices = prices
        self._find_tariff = lru_cache(maxsize=CACHE_SIZE)(self._look_up)

    def of_tokens(
        self, model: str | None, terms: str, tokens: Tokens, time: int | None
    ) -> int | None:
        """The cost of a message that was one request."""
        tariff = self._find_tariff(model, terms, None if time is None else time // DAY_MS)
        cost = None if tariff is None else multiply_total(tokens, tariff)
        return None if cost is None else _check(cost)

    def of_usage(
        self, model: str | None, usage: bytes, time: int | None, *, is_largest: bool
    ) -> int | None:
        """The cost of a message with advisors or declined attempts, from its encoded usage."""
        day = None if time is None else _name_day(time // DAY_MS)
        cost = self._prices.cost(model, _decode_usage(usage), day, is_largest=is_largest)
        return None if cost is None else _check(cost.total)

    def _look_up(self, model: str | None, terms: str, number: int | None) -> Tariff | None:
        """What is charged on the day with that number since 1970."""
        day = None if number is None else _name_day(number)
        return self._prices.find_tariff(Request(model, Tokens(), *split_terms(terms)), day)


def _check(cost: int) -> int | None:
    return cost if cost <= LARGEST_COST else None


def _name_day(number: int) -> date | None:
    try:
        return date.fromordinal(_FIRST_DAY + number)
    except (ValueError, OverflowError):
        return None


@lru_cache(maxsize=256)
def join_terms(speed: str | None, tier: str | None, geo: str | None) -> str:
    """What changes the price of a message beside its model, as one text."""
    return "|".join((text or "").replace("|", "/") for text in (speed, tier, geo))


@lru_cache(maxsize=256)
def split_terms(terms: str) -> tuple[str | None, str | None, str | None]:
    """Speed, service tier and geography out of `terms`."""
    speed, tier, geo = terms.split("|")
    return speed or None, tier or None, geo or None
