"""Generate the built-in price table: `python -m tools.generate_prices`.

Uses the Claude models of the installed `genai-prices`. Existing prices are never changed: a new
price is added with today as its first day, so that the cost of an old message stays the same.
Models that genai-prices drops are kept, because transcripts still name them.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import genai_prices
import msgspec
from genai_prices import data
from genai_prices.types import (
    ClauseEquals,
    ClauseOr,
    ClauseStartsWith,
    MatchLogic,
    ModelPrice,
    Provider,
    StartDateConstraint,
    TieredPrices,
)
from msgspec.structs import replace

from recollect.pricing.price_tables import Price, PriceFile, read_bundled, sort_newest_first
from recollect.pricing.prices import GENERATED_PRICES

PRICE_KEYS = {
    "input": "input_mtok",
    "output": "output_mtok",
    "cache_read": "cache_read_mtok",
    "cache_write_5m": "cache_write_mtok",
    "cache_write_1h": "cache_write_1h_mtok",
    "web_search": "web_searches_kcount",
}

# Some rules have the start of a name, such as `claude-sonnet-4@` and `claude-sonnet-4-2025`.
WHOLE_NAME = re.compile(r"[a-z0-9.-]+(?<!-\d{4})")

_encode = msgspec.json.Encoder(decimal_format="number").encode


def build(day: date, previous: PriceFile) -> PriceFile:
    """Return the table as of `day`, with everything in `previous`."""
    provider = find_provider()
    prices = tuple(_merge(previous.prices, list(_iter_prices(provider)), day))
    names = dict(sorted((previous.names | _collect_names(provider)).items()))
    if (prices, names) == (previous.prices, previous.names):
        return previous
    source = f"genai-prices {genai_prices.__version__}"
    return PriceFile(source=source, day=day, names=names, prices=prices)


def find_provider() -> Provider:
    """Return the Anthropic provider of genai-prices."""
    return next(provider for provider in data.providers if provider.id == "anthropic")


def to_json(table: PriceFile) -> str:
    """Format the table with one price or name per line, for readable diffs."""
    names = ",\n".join(f"{_dump(name)}: {_dump(model)}" for name, model in table.names.items())
    prices = ",\n".join(_dump(price) for price in table.prices)
    return (
        f'{{\n"source": {_dump(table.source)},\n"day": {_dump(table.day)},\n'
        f'"names": {{\n{names}\n}},\n"prices": [\n{prices}\n]\n}}\n'
    )


def main(target: Path = GENERATED_PRICES) -> None:
    """Update the table at `target`."""
    previous = read_bundled(target) if target.exists() else PriceFile()
    table = build(datetime.now(tz=UTC).date(), previous)
    target.write_text(to_json(table), encoding="utf-8")
    print(f"{target.name}: {table.source}, {len(table.prices)} prices, {len(table.names)} names")


def _dump(value: object) -> str:
    return _encode(value).decode()


def _iter_prices(provider: Provider) -> Iterator[Price]:
    for model in provider.models:
        if isinstance(model.prices, ModelPrice):
            yield _convert(model.id, None, model.prices)
            continue
        for entry in model.prices:
            if not isinstance(entry.constraint, StartDateConstraint | None):
                raise TypeError(f"{model.id} has a price by the time of day, which is not read yet")
            first_day = entry.constraint.start_date if entry.constraint else None
            yield _convert(model.id, first_day, entry.prices)


def _convert(model: str, first_day: date | None, stated: ModelPrice) -> Price:
    values = {name: getattr(stated, key) for name, key in PRICE_KEYS.items()}
    base = {name: _price_at(value, 0) for name, value in values.items()}
    if _thresholds(values.pop("web_search")):
        raise TypeError(f"{model} has searches by prompt length, which are not read yet")
    starts = {start for value in values.values() for start in _thresholds(value)}
    tiers = [
        {"above": start, **{name: _price_at(value, start + 1) for name, value in values.items()}}
        for start in sorted(starts)
    ]
    return msgspec.convert({"model": model, "first_day": first_day, **base, "tiers": tiers}, Price)


def _thresholds(value: Decimal | TieredPrices | None) -> list[int]:
    return [tier.start for tier in value.tiers] if isinstance(value, TieredPrices) else []


def _price_at(value: Decimal | TieredPrices | None, prompt: int) -> Decimal | None:
    """Choose a tier like genai-prices: the last one whose start the whole prompt exceeds."""
    if not isinstance(value, TieredPrices):
        return value
    passed = [tier.price for tier in value.tiers if prompt > tier.start]
    return passed[-1] if passed else value.base


def _merge(old: Sequence[Price], new: Sequence[Price], day: date) -> Iterator[Price]:
    for model in sorted({price.model for price in (*old, *new)}):
        kept = [price for price in old if price.model == model]
        found = [price for price in new if price.model == model]
        yield from _merge_model(kept, found, day)


def _merge_model(kept: list[Price], found: list[Price], day: date) -> list[Price]:
    """Return all previous prices, then future ones, then today's if it is new."""
    if not kept or not found:
        return kept or found
    known = {price.first_day for price in kept}
    later = [price for price in found if price.first_day and price.first_day > day]
    merged = kept + [price for price in later if price.first_day not in known]
    before, now = _in_force(kept, day), _in_force(found, day)
    if now and (before is None or replace(now, first_day=before.first_day) != before):
        merged.append(replace(now, first_day=day))
    return sorted(merged, key=lambda price: price.first_day or date.min)


def _in_force(prices: Iterable[Price], day: date) -> Price | None:
    return next((price for price in sort_newest_first(prices) if price.applies_on(day)), None)


def _collect_names(provider: Provider) -> dict[str, str]:
    """Return other names of each model, if the rules of genai-prices list them."""
    return {
        name: model.id
        for model in provider.models
        for name in _literals(model.match)
        if name != model.id and WHOLE_NAME.fullmatch(name) and provider.find_model(name) is model
    }


def _literals(match: MatchLogic) -> Iterator[str]:
    if isinstance(match, ClauseOr):
        for part in match.or_:
            yield from _literals(part)
    elif isinstance(match, ClauseEquals):
        yield match.equals
    elif isinstance(match, ClauseStartsWith):
        yield match.starts_with


if __name__ == "__main__":
    main()
