"""The price list: look up the price of a message by its day, split usage into billed requests, and
multiply tokens by prices.

Amounts are exact integers until they are rounded once at the end. A dollar per million tokens is a
microdollar per token, so prices become integers when multiplied by a common `scale`; small integers
are fast, and exact for any number of decimals. If a class of tokens was used but has no known
price, the whole amount is unknown. Which of several records of a message counts is decided by the
ledger, not here.

Lookups are cached, because a history has few models and days but many messages. The day is that of
the message, in UTC, not that of its session, because prices may change during a session.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from math import lcm
from pathlib import Path
from typing import Final

from msgspec import Struct, structs

from recollect.errors import UsageError
from recollect.pricing import price_tables
from recollect.records import token_usage


class BilledRequest(Struct, frozen=True, gc=False):
    """Tokens that were billed together, and the model they were billed for."""

    model: str | None
    tokens: token_usage.Tokens
    speed: str | None = None
    service_tier: str | None = None
    inference_geo: str | None = None


def split_requests(
    model: str | None, usage: token_usage.Usage, *, is_largest: bool = False
) -> tuple[BilledRequest, ...]:
    """Return all billed requests of a message: first its own, then those of other steps.

    The totals of `usage` are those of the attempt that answered. Advisors, compactions by the API
    and attempts that were aborted in favour of another model are only in `iterations`.
    """
    tokens = token_usage.split_usage(usage, is_largest=is_largest)
    steps = usage.iterations
    # Nearly every message has a single step of type `message`, which only repeats the totals.
    if not steps or (len(steps) == 1 and steps[0].type == "message"):
        return (BilledRequest(model, tokens, usage.speed, usage.service_tier, usage.inference_geo),)
    served_by = _find_serving_model(model, usage)
    own = BilledRequest(served_by, tokens, usage.speed, usage.service_tier, usage.inference_geo)
    return (own, *_iter_other_requests(model, served_by, usage, is_largest))


def _find_serving_model(model: str | None, usage: token_usage.Usage) -> str | None:
    """Return the model that answered; after a fallback, `model` is still the requested one."""
    for step in reversed(usage.iterations or ()):
        if step.type == "fallback_message":
            return step.model or model
    return model


def _iter_other_requests(
    model: str | None, served_by: str | None, usage: token_usage.Usage, is_largest: bool
) -> Iterator[BilledRequest]:
    unnamed = {"message": model, "advisor_message": None}
    for step in usage.iterations or ():
        requested = step.model or unnamed.get(step.type or "", served_by)
        if _is_billed_separately(step, requested, served_by):
            # `speed` is that of the answer; whether other steps ran at it is not known.
            yield BilledRequest(
                requested,
                _split_step(step, is_largest),
                service_tier=usage.service_tier,
                inference_geo=usage.inference_geo,
            )


def _is_billed_separately(
    step: token_usage.Iteration, requested: str | None, served_by: str | None
) -> bool:
    if step.type in ("advisor_message", "compaction"):
        return True
    # An attempt that was declined before producing any output is free.
    return requested != served_by and step.output_tokens > 0


def _split_step(step: token_usage.Iteration, is_largest: bool) -> token_usage.Tokens:
    written_5m, written_1h = token_usage.split_writes(step, is_largest)
    return token_usage.make_tokens(
        step.input_tokens, step.output_tokens, step.cache_read_input_tokens, written_5m, written_1h
    )


MICRO_PER_SEARCH_PRICE = 10**6 // 10**3
"""Web searches are priced in dollars per thousand."""

Classes = tuple[int, int, int, int, int, int]
"""Input, output, cache read, 5-minute cache write, 1-hour cache write, web search."""


class Cost(Struct, frozen=True, gc=False):
    """The cost of a message by class, in millionths of a dollar."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write_5m: int = 0
    cache_write_1h: int = 0
    web_search: int = 0

    @property
    def total(self) -> int:
        """Return the exact cost, rounded once; the classes always add up to it."""
        return (
            self.input
            + self.output
            + self.cache_read
            + self.cache_write_5m
            + self.cache_write_1h
            + self.web_search
        )


class Amounts(Struct, frozen=True, gc=False):
    """Exact amounts by class, in microdollars times `scale`."""

    classes: Classes
    scale: int


class Rates(Struct, frozen=True, gc=False):
    """Microdollars times `scale` per token or search; classes in `missing` have no price."""

    per_unit: Classes
    scale: int
    missing: tuple[int, ...] = ()


class Tariff(Struct, frozen=True, gc=False):
    """The base rates, and those above each prompt size, the largest first."""

    base: Rates
    above: tuple[tuple[int, Rates], ...] = ()


def make_tariff(price: price_tables.Price, factor: Decimal) -> Tariff:
    """Return the rates of a price, with token prices multiplied by `factor`."""
    tiers = [(tier.above, _make_rates(price, tier, factor)) for tier in price.tiers]
    return Tariff(_make_rates(price, None, factor), tuple(reversed(tiers)))


def multiply(tokens: token_usage.Tokens, tariff: Tariff) -> Amounts | None:
    """Return the exact amount of each class; None if a used class has no known price."""
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


def multiply_total(tokens: token_usage.Tokens, tariff: Tariff) -> int | None:
    """Return the rounded total of all classes, as `round_amounts` would; None as in `multiply`."""
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
    """Return the sum of two amounts."""
    scale = lcm(one.scale, other.scale)
    a, b = scale // one.scale, scale // other.scale
    pairs = zip(one.classes, other.classes, strict=True)
    return Amounts(_to_classes(x * a + y * b for x, y in pairs), scale)


def round_amounts(amounts: Amounts) -> Cost:
    """Round amounts to microdollars, half to even.

    The running sum is rounded, and each class is the difference to the previous sum. So classes add
    up to the rounded total, and a class without tokens costs nothing.
    """
    # Half up is a floor division of the doubled sum plus the scale; a tie has no remainder.
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
    """Divide a doubled sum plus its scale by the doubled scale, rounding half to even."""
    rounded = running // divisor
    return rounded - 1 if rounded & 1 and not running % divisor else rounded


def _find_rates(tokens: token_usage.Tokens, tariff: Tariff) -> Rates | None:
    rates = tariff.base
    if tariff.above:
        prompt = tokens.prompt
        rates = next((rates for above, rates in tariff.above if prompt > above), rates)
    return None if rates.missing and _uses_any(tokens, rates.missing) else rates


def _uses_any(tokens: token_usage.Tokens, classes: tuple[int, ...]) -> bool:
    used = structs.astuple(tokens)
    return any(used[index] for index in classes)


def _make_rates(
    price: price_tables.Price, tier: price_tables.Tier | None, factor: Decimal
) -> Rates:
    names = ("input", "output", "cache_read", "cache_write_5m", "cache_write_1h")
    prices = [_token_price(name, price, tier) for name in names]
    micro = [None if each is None else Fraction(each) * Fraction(factor) for each in prices]
    search = price.web_search
    micro.append(None if search is None else Fraction(search) * MICRO_PER_SEARCH_PRICE)
    scale = lcm(*(each.denominator for each in micro if each is not None))
    missing = tuple(index for index, each in enumerate(micro) if each is None)
    return Rates(_to_classes(int((each or 0) * scale) for each in micro), scale, missing)


def _token_price(
    name: str, price: price_tables.Price, tier: price_tables.Tier | None
) -> Decimal | None:
    tier_price: Decimal | None = getattr(tier, name, None)
    base: Decimal | None = getattr(price, name)
    return base if tier_price is None else tier_price


def _to_classes(numbers: Iterable[int]) -> Classes:
    one, two, three, four, five, six = numbers
    return one, two, three, four, five, six


GENERATED_PRICES: Final = Path(__file__).parent / "prices.json"
PRICE_OVERRIDES: Final = Path(__file__).parent / "overrides.toml"

# Bounded, because names and days come from transcripts.
CACHE_SIZE = 10_000

_FREE = Tariff(Rates((0, 0, 0, 0, 0, 0), scale=1))
_Key = tuple[str | None, str, str | None, str | None, str | None]


class Prices:
    """List prices by model and day; methods return None for what is not known."""

    def __init__(self, files: Sequence[price_tables.PriceFile]) -> None:
        """Use the prices of these files; earlier files take precedence."""
        self._table = price_tables.PriceTable(files)
        self._tariffs: dict[_Key, Tariff | None] = {}

    @classmethod
    def load(cls, user_file: Path | None = None) -> Prices:
        """Load the bundled prices, overridden by the user's own file if there is one."""
        bundled = [
            price_tables.read_bundled(PRICE_OVERRIDES),
            price_tables.read_bundled(GENERATED_PRICES),
        ]
        if user_file is None:
            return cls(bundled)
        own = price_tables.read_user_file(user_file)
        prices = cls([own, *bundled])
        prices._reject_unknown_models(own, user_file)
        return prices

    def cost(
        self,
        model: str | None,
        usage: token_usage.Usage,
        when: str | date | None,
        *,
        is_largest: bool = False,
    ) -> Cost | None:
        """Return the cost of a message, including advisors and declined attempts; None if unknown.

        `when` is the earliest timestamp of the message. `is_largest` is as in `split_usage`.
        """
        requests = split_requests(model, usage, is_largest=is_largest)
        day = _to_day(when)
        amounts = self._multiply(requests[0], day)
        for request in requests[1:]:
            part = self._multiply(request, day)
            amounts = None if amounts is None or part is None else add(amounts, part)
        return None if amounts is None else round_amounts(amounts)

    def cost_of(self, request: BilledRequest, when: str | date | None) -> Cost | None:
        """Return the cost of a single request, to account for each model separately."""
        amounts = self._multiply(request, _to_day(when))
        return None if amounts is None else round_amounts(amounts)

    def find_tariff(self, request: BilledRequest, when: str | date | None) -> Tariff | None:
        """Return the tariff of requests like this one, to price many of them."""
        return self._find_tariff(request, _to_day(when))

    def find(self, model: str | None, when: str | date | None) -> price_tables.Price | None:
        """Return the price of a model on a day, as in its price file."""
        day = _parse_day(_to_day(when))
        return None if model is None or day is None else self._table.find_price(model, day)

    def _multiply(self, request: BilledRequest, day: str) -> Amounts | None:
        tariff = self._find_tariff(request, day)
        return None if tariff is None else multiply(request.tokens, tariff)

    def _find_tariff(self, request: BilledRequest, day: str) -> Tariff | None:
        key = (request.model, day, request.speed, request.service_tier, request.inference_geo)
        try:
            return self._tariffs[key]
        except KeyError:
            return self._cache_tariff(key, request)

    def _cache_tariff(self, key: _Key, request: BilledRequest) -> Tariff | None:
        if len(self._tariffs) >= CACHE_SIZE:
            self._tariffs.clear()
        self._tariffs[key] = tariff = self._look_up(request, key[1])
        return tariff

    def _look_up(self, request: BilledRequest, day_text: str) -> Tariff | None:
        if request.model == token_usage.SYNTHETIC_MODEL:
            return _FREE
        price, day = self.find(request.model, day_text), _parse_day(day_text)
        if price is None or day is None:
            return None
        speed = self._table.find_factor(price.model, day, "speed", request.speed)
        tier = self._table.find_factor(price.model, day, "service_tier", request.service_tier)
        geo = self._table.find_factor(price.model, day, "inference_geo", request.inference_geo)
        if speed is None or tier is None or geo is None:
            return None
        return make_tariff(price, speed * tier * geo)

    def _reject_unknown_models(self, own: price_tables.PriceFile, path: Path) -> None:
        identify = self._table.identify
        unknown = [target for name, target in own.names.items() if not identify(name)]
        unknown += [name for each in own.multipliers for name in each.models if not identify(name)]
        if unknown:
            raise UsageError(
                f"Invalid price file {path}: the model {unknown[0]} has no price. "
                f"Correct the name or add [[prices]] with model = {unknown[0]!r}."
            )


def _to_day(when: str | date | None) -> str:
    """Return the day in UTC as `2026-11-15`; other text for an invalid time."""
    if isinstance(when, str):
        if when[-1:] == "Z":
            return when[:10]
        try:
            when = datetime.fromisoformat(when)
        except ValueError:
            return ""
    if isinstance(when, datetime):
        when = when.astimezone(UTC).date() if when.tzinfo else when.date()
    return when.isoformat() if when else ""


def _parse_day(day: str) -> date | None:
    try:
        return date.fromisoformat(day)
    except ValueError:
        return None
