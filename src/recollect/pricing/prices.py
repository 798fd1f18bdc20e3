"""The price list: look up the price of a message by its day and compute its cost.

Lookups are cached, because a history has few models and days but many messages. The day is that of
the message, in UTC, not that of its session, because prices may change during a session.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Final

from recollect.errors import UsageError
from recollect.pricing.cost import (
    Amounts,
    BilledRequest,
    Cost,
    Rates,
    Tariff,
    add,
    make_tariff,
    multiply,
    round_amounts,
    split_requests,
)
from recollect.pricing.price_tables import (
    SYNTHETIC,
    Price,
    PriceFile,
    PriceTable,
    read_bundled,
    read_user_file,
)
from recollect.records.usage import Usage

GENERATED_PRICES: Final = Path(__file__).parent / "prices.json"
PRICE_OVERRIDES: Final = Path(__file__).parent / "overrides.toml"

# Bounded, because names and days come from transcripts.
CACHE_SIZE = 10_000

_FREE = Tariff(Rates((0, 0, 0, 0, 0, 0), scale=1))
_Key = tuple[str | None, str, str | None, str | None, str | None]


class Prices:
    """List prices by model and day; methods return None for what is not known."""

    def __init__(self, files: Sequence[PriceFile]) -> None:
        """Use the prices of these files; earlier files take precedence."""
        self._table = PriceTable(files)
        self._tariffs: dict[_Key, Tariff | None] = {}

    @classmethod
    def load(cls, user_file: Path | None = None) -> Prices:
        """Load the bundled prices, overridden by the user's own file if there is one."""
        bundled = [read_bundled(PRICE_OVERRIDES), read_bundled(GENERATED_PRICES)]
        if user_file is None:
            return cls(bundled)
        own = read_user_file(user_file)
        prices = cls([own, *bundled])
        prices._reject_unknown_models(own, user_file)
        return prices

    def cost(
        self,
        model: str | None,
        usage: Usage,
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

    def find(self, model: str | None, when: str | date | None) -> Price | None:
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
        if request.model == SYNTHETIC:
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

    def _reject_unknown_models(self, own: PriceFile, path: Path) -> None:
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
