"""Which price and which factors hold for a model on a day, over several price files.

Knows precedence: an earlier file wins over a later one, and within a file the newest price that
has begun. Refuses to guess: a model, a speed, a service tier or a geography that no file names has
no price, because any number would look like knowledge.
"""

from collections.abc import Iterable, Sequence
from datetime import date
from decimal import Decimal

from recollect.pricing.names import spellings
from recollect.pricing.price_file import Field, Multiplier, Price, PriceFile, newest_first

ONE = Decimal(1)


class PriceTable:
    """Price files laid over each other; the first has the last word."""

    def __init__(self, files: Sequence[PriceFile]) -> None:
        """Sort the entries of all files into the order in which they are tried."""
        self._names: dict[str, str] = {}
        self._prices: dict[str, list[Price]] = {}
        self._multipliers = [entry for file in files for entry in _newest_factors(file)]
        for file in reversed(files):
            self._lay_over(file)

    def _lay_over(self, file: PriceFile) -> None:
        own: dict[str, list[Price]] = {}
        for price in newest_first(file.prices):
            own.setdefault(self._names.get(price.model, price.model), []).append(price)
        for model, prices in own.items():
            self._prices[model] = prices + self._prices.get(model, [])
        for name, target in file.names.items():
            self._names[name] = self.identify(target) or target

    def identify(self, model: str) -> str | None:
        """The name under which prices of this model are kept; None when there is none."""
        for name in spellings(model):
            found = self._names.get(name, name)
            if found in self._prices:
                return found
        return None

    def find_price(self, model: str, day: date) -> Price | None:
        """The price of the model on that day."""
        known_as = self.identify(model)
        prices = self._prices[known_as] if known_as is not None else ()
        return next((price for price in prices if price.holds_on(day)), None)

    def find_factor(self, model: str, day: date, field: Field, value: str | None) -> Decimal | None:
        """What the model's prices are multiplied by on that day; None when it is not known."""
        if not value:
            return ONE
        for entry in self._multipliers:
            if (entry.field, entry.value) == (field, value) and self._applies(entry, model, day):
                return entry.factor
        return None

    def _applies(self, entry: Multiplier, model: str, day: date) -> bool:
        listed = not entry.models or self.identify(model) in map(self.identify, entry.models)
        return listed and entry.holds_on(day)


def _newest_factors(file: PriceFile) -> Iterable[Multiplier]:
    return sorted(file.multipliers, key=lambda entry: entry.first_day or date.min, reverse=True)
