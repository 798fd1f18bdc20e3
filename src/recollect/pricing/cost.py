"""Tokens times prices: exact integers until the one rounding at the end.

A dollar per million tokens is a microdollar per token, so the prices of a tariff become integers
once they are multiplied by a common `scale`. Small integers are fast, and exact at any number of
decimal places. A class without a known price makes the amount unknown as soon as it was used.
"""

from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from math import lcm

from msgspec import Struct
from msgspec.structs import astuple

from recollect.pricing.price_file import Price, Tier
from recollect.records.tokens import Tokens

MICRO_PER_SEARCH_PRICE = 10**6 // 10**3
"""Searches are priced by the thousand, in dollars."""

Classes = tuple[int, int, int, int, int, int]
"""Input, output, cache read, cache write for 5 minutes and for an hour, web search."""


class Cost(Struct, frozen=True, gc=False):
    """What a message cost, in millionths of a dollar, by class."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write_5m: int = 0
    cache_write_1h: int = 0
    web_search: int = 0

    @property
    def total(self) -> int:
        """The exact cost, rounded once; the classes always add up to it."""
        return (
            self.input
            + self.output
            + self.cache_read
            + self.cache_write_5m
            + self.cache_write_1h
            + self.web_search
        )


class Amounts(Struct, frozen=True, gc=False):
    """What was used times its price, by class, in microdollars times `scale`."""

    classes: Classes
    scale: int


class Rates(Struct, frozen=True, gc=False):
    """Microdollars times `scale` for a token and a search; classes `missing` have no price."""

    per_unit: Classes
    scale: int
    missing: tuple[int, ...] = ()


class Tariff(Struct, frozen=True, gc=False):
    """The rates of short prompts, and those above each threshold, the highest first."""

    base: Rates
    above: tuple[tuple[int, Rates], ...] = ()


def make_tariff(price: Price, factor: Decimal) -> Tariff:
    """The rates of a price, with its token classes multiplied by `factor`."""
    tiers = [(tier.above, _make_rates(price, tier, factor)) for tier in price.tiers]
    return Tariff(_make_rates(price, None, factor), tuple(reversed(tiers)))


def multiply(tokens: Tokens, tariff: Tariff) -> Amounts | None:
    """The exact amount of each class; None when a class that was used has no known price."""
    rates = _find_rates(tokens, tariff)
    if rates is None:
        return None
    sent, received, read, written_5m, written_1h, search = rates.per_unit
    classes = (
        tokens.input * sent,
        tokens.output * received,
        tokens.cache_read * read,
        tokens.cache_write_5m * written_5m,
        tokens.cache_write_1h * written_1h,
        tokens.web_searches * search,
    )
    return Amounts(classes, rates.scale)


def multiply_total(tokens: Tokens, tariff: Tariff) -> int | None:
    """What all classes come to, rounded as `round_amounts` does; None as in `multiply`."""
    rates = _find_rates(tokens, tariff)
    if rates is None:
        return None
    sent, received, read, written_5m, written_1h, search = rates.per_unit
    amount = (
        tokens.input * sent
        + tokens.output * received
        + tokens.cache_read * read
        + tokens.cache_write_5m * written_5m
        + tokens.cache_write_1h * written_1h
        + tokens.web_searches * search
    )
    return _round(2 * amount + rates.scale, 2 * rates.scale)


def add(one: Amounts, other: Amounts) -> Amounts:
    """The amounts of two requests together."""
    scale = lcm(one.scale, other.scale)
    a, b = scale // one.scale, scale // other.scale
    pairs = zip(one.classes, other.classes, strict=True)
    return Amounts(_six(x * a + y * b for x, y in pairs), scale)


def round_amounts(amounts: Amounts) -> Cost:
    """The cost of the message, half a microdollar going to the even side.

    The running sum is rounded and its steps are the classes: so they add up to the rounded total,
    and a class without tokens costs nothing.
    """
    # Half up is a floor division of the doubled sum plus the divisor; a tie leaves no rest.
    running, divisor = amounts.scale, 2 * amounts.scale
    rounded = 0
    classes = []
    for amount in amounts.classes:
        before = rounded
        if amount:
            running += 2 * amount
            rounded = _round(running, divisor)
        classes.append(rounded - before)
    return Cost(*classes)


def _round(running: int, divisor: int) -> int:
    """A doubled sum plus its scale, divided by the doubled scale: half to the even side."""
    rounded = running // divisor
    return rounded - 1 if rounded & 1 and not running % divisor else rounded


def _find_rates(tokens: Tokens, tariff: Tariff) -> Rates | None:
    rates = tariff.base
    if tariff.above:
        prompt = tokens.prompt
        rates = next((rates for above, rates in tariff.above if prompt > above), rates)
    return None if rates.missing and _uses_any(tokens, rates.missing) else rates


def _uses_any(tokens: Tokens, classes: tuple[int, ...]) -> bool:
    used = astuple(tokens)
    return any(used[index] for index in classes)


def _make_rates(price: Price, tier: Tier | None, factor: Decimal) -> Rates:
    names = ("input", "output", "cache_read", "cache_write_5m", "cache_write_1h")
    prices = [_token_price(name, price, tier) for name in names]
    micro = [None if each is None else Fraction(each) * Fraction(factor) for each in prices]
    search = price.web_search
    micro.append(None if search is None else Fraction(search) * MICRO_PER_SEARCH_PRICE)
    scale = lcm(*(each.denominator for each in micro if each is not None))
    missing = tuple(index for index, each in enumerate(micro) if each is None)
    return Rates(_six(int((each or 0) * scale) for each in micro), scale, missing)


def _token_price(name: str, price: Price, tier: Tier | None) -> Decimal | None:
    raised: Decimal | None = getattr(tier, name, None)
    base: Decimal | None = getattr(price, name)
    return base if raised is None else raised


def _six(numbers: Iterable[int]) -> Classes:
    one, two, three, four, five, six = numbers
    return one, two, three, four, five, six
