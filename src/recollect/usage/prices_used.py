"""The list prices that counted messages were multiplied by."""

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

from recollect.pricing import Price, Prices
from recollect.store.usage_queries import Measures


class PriceUsed(Struct, frozen=True):
    """A price, and the model as its messages call it."""

    model: str
    price: Price


def find_prices(
    messages: Iterable[tuple[str | None, Measures]], user_file: Path | None = None
) -> tuple[PriceUsed, ...]:
    """The prices of messages whose cost is known, each once, by model and first day."""
    days = {
        (model, datetime.fromtimestamp(measures.time / 1000, UTC).date())
        for model, measures in messages
        if model is not None and measures.cost is not None and measures.time is not None
    }
    prices = Prices.load(user_file)
    found = {
        PriceUsed(model, price)
        for model, day in sorted(days)
        if (price := prices.find(model, day)) is not None
    }
    return tuple(sorted(found, key=lambda used: (used.model, str(used.price.first_day or ""))))
