"""Prices as they are written down: the generated table, our overrides and a user's own file.

All three have the same shape and are read by the same code. Numbers are decimals in dollars per
million tokens, as providers publish them, and never binary floats. A file may not state two prices
of one model for the same first day: a new price gets a new day, and the old one stays.
"""

import tomllib
from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from recollect.errors import UsageError

# Far beyond any price: a slip in an exponent must not keep exact arithmetic busy for hours.
LARGEST = 1_000_000
PLACES = 12

Field = Literal["speed", "service_tier", "inference_geo"]


class Tier(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Prices of a whole request with more than `above` prompt tokens; None is as below it."""

    above: int
    input: Decimal | None = None
    output: Decimal | None = None
    cache_read: Decimal | None = None
    cache_write_5m: Decimal | None = None
    cache_write_1h: Decimal | None = None

    def __post_init__(self) -> None:
        """Refuse numbers that are no price."""
        _check_numbers(self.input, self.output, self.cache_read)
        _check_numbers(self.cache_write_5m, self.cache_write_1h)
        if self.above < 0:
            raise ValueError("`above` is a number of tokens and cannot be negative")


class Price(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a model costs from `first_day` to `last_day`, both inclusive and in UTC.

    Dollars per million tokens, and per thousand searches; None is a class without a known price.
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
        """Refuse numbers that are no price, and an order that hides one."""
        _check_numbers(self.input, self.output, self.cache_read)
        _check_numbers(self.cache_write_5m, self.cache_write_1h, self.web_search)
        _check_days(self.first_day, self.last_day)
        if [tier.above for tier in self.tiers] != sorted({tier.above for tier in self.tiers}):
            raise ValueError("tiers must be in ascending order of `above`")

    def holds_on(self, day: date) -> bool:
        """True when this is a price of that day."""
        return _is_within(day, self.first_day, self.last_day)


class Multiplier(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """By what the token prices are multiplied when a field of the usage has a certain value."""

    field: Field
    value: str
    factor: Decimal
    models: tuple[str, ...] = ()
    first_day: date | None = None
    last_day: date | None = None
    source: str = ""

    def __post_init__(self) -> None:
        """Refuse a number that is no factor."""
        _check_numbers(self.factor)
        _check_days(self.first_day, self.last_day)

    def holds_on(self, day: date) -> bool:
        """True when the factor applies on that day."""
        return _is_within(day, self.first_day, self.last_day)


class PriceFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything in one file; `names` leads from other spellings to the model of a price."""

    source: str = ""
    day: date | None = None
    names: dict[str, str] = {}
    prices: tuple[Price, ...] = ()
    multipliers: tuple[Multiplier, ...] = ()

    def __post_init__(self) -> None:
        """Refuse two prices that claim the same first day."""
        seen: set[tuple[str, date | None]] = set()
        for price in self.prices:
            if (price.model, price.first_day) in seen:
                day = price.first_day or "no first day"
                raise ValueError(f"two prices of {price.model} with {day}")
            seen.add((price.model, price.first_day))


def read_bundled(path: Path) -> PriceFile:
    """A price file that comes with the package."""
    if path.suffix == ".json":
        return msgspec.json.decode(path.read_bytes(), type=PriceFile)
    return _parse_toml(path.read_text(encoding="utf-8"))


def read_user_file(path: Path) -> PriceFile:
    """The prices that a user wrote down; raises `UsageError` with what to mend."""
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
            f"The price file {path} cannot be used: {error}. docs/pricing.md shows the format."
        ) from error


def _parse_toml(text: str) -> PriceFile:
    return msgspec.convert(tomllib.loads(text, parse_float=Decimal), PriceFile)


def _check_numbers(*numbers: Decimal | None) -> None:
    for number in numbers:
        if number is not None and not _is_plausible(number):
            raise ValueError(
                f"{number} is not a number from 0 to {LARGEST} with up to {PLACES} decimal places"
            )


def _is_plausible(number: Decimal) -> bool:
    exponent = number.as_tuple().exponent
    # Text instead of an exponent marks infinity and not-a-number.
    return isinstance(exponent, int) and exponent >= -PLACES and 0 <= number <= LARGEST


def _check_days(first: date | None, last: date | None) -> None:
    if first and last and last < first:
        raise ValueError("`last_day` is before `first_day`")


def _is_within(day: date, first: date | None, last: date | None) -> bool:
    return (first is None or first <= day) and (last is None or day <= last)


def newest_first(prices: Iterable[Price]) -> list[Price]:
    """The prices in the order in which they are tried for a day."""
    return sorted(prices, key=lambda price: price.first_day or date.min, reverse=True)
