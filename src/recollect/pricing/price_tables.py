"""Price files, and the lookup of prices and multipliers by model and day.

The generated table, our overrides and the user's file have the same format. Numbers are decimals in
dollars per million tokens, as published, never floats. An earlier file takes precedence over a
later one, and within a file the newest price that has started. Nothing is guessed: a model, speed,
service tier or region that no file has is unknown. Model names are normalised across clouds and
routers, but short names such as `opus` have no price, because their meaning changes over time.
"""

import re
import tomllib
from collections.abc import Iterable, Sequence
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Literal

import msgspec

from recollect.errors import UsageError

_CONTEXT_SUFFIX = "[1m]"
_PROVIDER = re.compile(r"^.*anthropic[./]")
_REVISION = re.compile(r"-v\d+(:\d+)?$")
_DATE = re.compile(r"-\d{8}$")


def normalise_model(name: str) -> str:
    """Return a name without context suffix, provider, region and revision, but with its date."""
    name = name.strip().removesuffix(_CONTEXT_SUFFIX)
    name = _PROVIDER.sub("", name)
    return _REVISION.sub("", name).replace("@", "-")


def list_lookup_names(name: str) -> tuple[str, str, str]:
    """Return the names to look up a model by, the most exact one first."""
    normal = normalise_model(name)
    return name.strip(), normal, _DATE.sub("", normal)


# Far above any price: a typo in an exponent must not make exact arithmetic take hours.
MAX_VALUE = 1_000_000
MAX_DECIMALS = 12

Field = Literal["speed", "service_tier", "inference_geo"]


class Tier(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """Prices of a request with more than `above` prompt tokens; None means the base price."""

    above: int
    input: Decimal | None = None
    output: Decimal | None = None
    cache_read: Decimal | None = None
    cache_write_5m: Decimal | None = None
    cache_write_1h: Decimal | None = None

    def __post_init__(self) -> None:
        """Reject invalid numbers."""
        _check_numbers(self.input, self.output, self.cache_read)
        _check_numbers(self.cache_write_5m, self.cache_write_1h)
        if self.above < 0:
            raise ValueError("`above` is a number of tokens and cannot be negative")


class Price(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """The price of a model from `first_day` to `last_day`, both inclusive and in UTC.

    Dollars per million tokens, and per thousand searches; None if the price is not known.
    """

    model: str
    first_day: date | None = None
    last_day: date | None = None
    input: Decimal
    output: Decimal
    cache_read: Decimal | None = None
    cache_write_5m: Decimal | None = None
    cache_write_1h: Decimal | None = None
    web_search: Decimal | None = None
    tiers: tuple[Tier, ...] = ()
    source: str = ""

    def __post_init__(self) -> None:
        """Reject invalid numbers, days and tiers."""
        _check_numbers(self.input, self.output, self.cache_read)
        _check_numbers(self.cache_write_5m, self.cache_write_1h, self.web_search)
        _check_days(self.first_day, self.last_day)
        if [tier.above for tier in self.tiers] != sorted({tier.above for tier in self.tiers}):
            raise ValueError("tiers must be in ascending order of `above`")

    def applies_on(self, day: date) -> bool:
        """Whether the price applies on `day`."""
        return _is_within(day, self.first_day, self.last_day)


class Multiplier(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """A factor on token prices for requests with a certain value in a field of their usage."""

    field: Field
    value: str
    factor: Decimal
    models: tuple[str, ...] = ()
    first_day: date | None = None
    last_day: date | None = None
    source: str = ""

    def __post_init__(self) -> None:
        """Reject invalid numbers and days."""
        _check_numbers(self.factor)
        _check_days(self.first_day, self.last_day)

    def applies_on(self, day: date) -> bool:
        """Whether the factor applies on `day`."""
        return _is_within(day, self.first_day, self.last_day)


class PriceFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The content of a price file; `names` maps other names to the model of a price."""

    source: str = ""
    day: date | None = None
    names: dict[str, str] = {}
    prices: tuple[Price, ...] = ()
    multipliers: tuple[Multiplier, ...] = ()

    def __post_init__(self) -> None:
        """Reject two prices of a model with the same first day."""
        seen: set[tuple[str, date | None]] = set()
        for price in self.prices:
            if (price.model, price.first_day) in seen:
                day = price.first_day or "no `first_day`"
                raise ValueError(f"two prices for {price.model} with {day}")
            seen.add((price.model, price.first_day))


def read_bundled(path: Path) -> PriceFile:
    """Read a price file that is bundled with the package."""
    if path.suffix == ".json":
        return msgspec.json.decode(path.read_bytes(), type=PriceFile)
    return _parse_toml(path.read_text(encoding="utf-8"))


def read_user_file(path: Path) -> PriceFile:
    """Read the user's price file; raises `UsageError` with what to fix."""
    try:
        return _parse_toml(path.read_text(encoding="utf-8"))
    except OSError as error:
        reason = error.strerror or str(error)
        raise UsageError(f"Cannot read the price file {path}: {reason}.") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"The price file {path} is not UTF-8 text; save it as such.") from error
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"The price file {path} is not valid TOML: {error}.") from error
    except msgspec.ValidationError as error:
        raise UsageError(
            f"Invalid price file {path}: {error}. See docs/pricing.md for the format."
        ) from error


def _parse_toml(text: str) -> PriceFile:
    return msgspec.convert(tomllib.loads(text, parse_float=Decimal), PriceFile)


def _check_numbers(*numbers: Decimal | None) -> None:
    for number in numbers:
        if number is not None and not _is_plausible(number):
            raise ValueError(
                f"{number} is not a number from 0 to {MAX_VALUE} "
                f"with up to {MAX_DECIMALS} decimal places"
            )


def _is_plausible(number: Decimal) -> bool:
    exponent = number.as_tuple().exponent
    # The exponent of infinity and NaN is a string.
    return isinstance(exponent, int) and exponent >= -MAX_DECIMALS and 0 <= number <= MAX_VALUE


def _check_days(first: date | None, last: date | None) -> None:
    if first and last and last < first:
        raise ValueError("`last_day` is before `first_day`")


def _is_within(day: date, first: date | None, last: date | None) -> bool:
    return (first is None or first <= day) and (last is None or day <= last)


def sort_newest_first(prices: Iterable[Price]) -> list[Price]:
    """Return prices in the order in which they are tried for a day."""
    return sorted(prices, key=lambda price: price.first_day or date.min, reverse=True)


ONE = Decimal(1)


class PriceTable:
    """The merged entries of several price files; earlier files take precedence."""

    def __init__(self, files: Sequence[PriceFile]) -> None:
        """Sort the entries of all files by precedence."""
        self._names: dict[str, str] = {}
        self._prices: dict[str, list[Price]] = {}
        self._multipliers = [entry for file in files for entry in _sort_multipliers(file)]
        for file in reversed(files):
            self._add_file(file)

    def _add_file(self, file: PriceFile) -> None:
        own: dict[str, list[Price]] = {}
        for price in sort_newest_first(file.prices):
            own.setdefault(self._names.get(price.model, price.model), []).append(price)
        for model, prices in own.items():
            self._prices[model] = prices + self._prices.get(model, [])
        for name, target in file.names.items():
            self._names[name] = self.identify(target) or target

    def identify(self, model: str) -> str | None:
        """Return the key of this model in the table; None if it has no price."""
        for name in list_lookup_names(model):
            found = self._names.get(name, name)
            if found in self._prices:
                return found
        return None

    def find_price(self, model: str, day: date) -> Price | None:
        """Return the price of the model on `day`; None if it is not known."""
        key = self.identify(model)
        prices = self._prices[key] if key is not None else ()
        return next((price for price in prices if price.applies_on(day)), None)

    def find_factor(self, model: str, day: date, field: Field, value: str | None) -> Decimal | None:
        """Return the factor on the model's prices on `day`; None if it is not known."""
        if not value:
            return ONE
        for entry in self._multipliers:
            if (entry.field, entry.value) == (field, value) and self._applies(entry, model, day):
                return entry.factor
        return None

    def _applies(self, entry: Multiplier, model: str, day: date) -> bool:
        is_listed = not entry.models or self.identify(model) in map(self.identify, entry.models)
        return is_listed and entry.applies_on(day)


def _sort_multipliers(file: PriceFile) -> Iterable[Multiplier]:
    return sorted(file.multipliers, key=lambda entry: entry.first_day or date.min, reverse=True)
