"""Tokens → money: what a message cost at the list price of its day.

Knows prices, their days, their tiers and the factors on them; refuses to know sessions and files.
Prices come from a table that is made at release time, so that nothing is fetched at run time. They
are list prices: an estimate, and not the bill of anyone who has a subscription.
"""

from recollect.pricing.cost import Cost
from recollect.pricing.names import SYNTHETIC, normalise_model
from recollect.pricing.price_file import Price, Tier
from recollect.pricing.prices import Prices
from recollect.pricing.tokens import Request, split_requests
from recollect.records.tokens import Tokens, split_usage

__all__ = [
    "SYNTHETIC",
    "Cost",
    "Price",
    "Prices",
    "Request",
    "Tier",
    "Tokens",
    "normalise_model",
    "split_requests",
    "split_usage",
]
