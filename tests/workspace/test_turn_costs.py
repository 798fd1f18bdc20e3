"""Cumulative costs of the turns of a session."""

import pytest

from recollect.demo import CLAUDE_DIRECTORY
from recollect.library.listings import iter_sessions
from recollect.library.opening import open_session, price_turn
from recollect.pricing import Prices
from recollect.workspace.turn_selection import accumulate_costs

SESSIONS = [each.id for each in iter_sessions(root=CLAUDE_DIRECTORY)]


@pytest.mark.parametrize("session_id", SESSIONS)
def test_costs_add_up(session_id: str) -> None:
    """The cost before each turn is the sum of the known costs of earlier turns."""
    session = open_session(session_id, root=CLAUDE_DIRECTORY)
    prices = Prices.load()
    costs = [price_turn(turn, prices) for turn in session.turns]
    totals = accumulate_costs(session.turns, prices)
    assert len(totals) == len(costs) + 1
    for number, total in enumerate(totals):
        known = [cost for cost in costs[:number] if cost is not None]
        assert total == (sum(known) if known or not number else None)
