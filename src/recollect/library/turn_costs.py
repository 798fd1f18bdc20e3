"""What a turn cost: its messages, each at the price of its day.

Without its subagents, whose turns have costs of their own, and without a look at other sessions: a
copy of a message costs here what it cost where it was made. The ledger has totals over sessions.
"""

from recollect.pricing.prices import Prices
from recollect.session.turns import Turn


def price_turn(turn: Turn, prices: Prices) -> int | None:
    """Millionths of a dollar; None when the price of a message is not known."""
    total = 0
    for message in turn.messages:
        if message.usage is None or message.is_synthetic:
            continue
        cost = prices.cost(message.model, message.usage, message.timestamp, is_largest=True)
        if cost is None:
            return None
        total += cost.total
    return total
