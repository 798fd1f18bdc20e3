"""The cost of a message at the list price of its day.

Knows prices by day, tiers and multipliers, and nothing about sessions or files. Prices are bundled
with each release, so nothing is fetched at run time. Costs are estimates from list prices, not what
a subscriber pays.
"""

from recollect.pricing.price_tables import Price, Tier, normalise_model
from recollect.pricing.prices import BilledRequest, Cost, Prices, split_requests
from recollect.records.token_usage import SYNTHETIC_MODEL, Tokens, split_usage

__all__ = [
    "SYNTHETIC_MODEL",
    "BilledRequest",
    "Cost",
    "Price",
    "Prices",
    "Tier",
    "Tokens",
    "normalise_model",
    "split_requests",
    "split_usage",
]
