"""Tests of the costs of turns and sessions."""

from recollect.demo import CLAUDE_DIRECTORY
from recollect.library.opening import open_session, price_at_list, price_turn
from recollect.pricing.prices import Prices
from recollect.records.decoding import decode_record
from recollect.session.session import Session


def _reply(message_id: str, model: str, output: int) -> bytes:
    return (
        f'{{"type":"assistant","uuid":"{message_id}","timestamp":"2026-11-01T00:00:00Z","message":'
        f'{{"id":"{message_id}","role":"assistant","model":"{model}","content":[],'
        f'"usage":{{"input_tokens":100000,"output_tokens":{output}}}}}}}'
    ).encode()


MODEL = "claude-sonnet-4-5"
PROMPT = b'{"type":"user","uuid":"p","message":{"role":"user","content":"go"}}'


def _price(*lines: bytes) -> int | None:
    records = (decode_record(line) for line in (PROMPT, *lines))
    session = Session(record for record in records if record is not None)
    return price_turn(session.turns[0], Prices.load())


def test_a_message_counts_once_with_its_largest_usage() -> None:
    """Three dollars per million input tokens, fifteen for output; a message is one request."""
    one = _price(_reply("m", MODEL, 1), _reply("m", MODEL, 100_000))
    assert one == 300_000 + 1_500_000
    assert _price(_reply("m", MODEL, 100_000), _reply("n", MODEL, 100_000)) == 2 * one


def test_an_unknown_price_is_no_price() -> None:
    """A sum without one of its parts would be wrong."""
    assert _price(_reply("m", MODEL, 1), _reply("n", "who-knows", 1)) is None


def test_lines_that_the_client_made_up_cost_nothing() -> None:
    """Synthetic messages are not requests."""
    assert _price(_reply("m", "<synthetic>", 1)) == 0


def test_a_session_that_was_opened_knows_its_list_price() -> None:
    """It is the sum of its turns, without subagents."""
    session = open_session("theme interface", root=[CLAUDE_DIRECTORY])
    prices = Prices.load()
    costs = [price_turn(turn, prices) or 0 for turn in session.turns]
    assert session.metrics.list_price_usd == sum(costs) / 1_000_000 > 0
    (subagent,) = session.subagents
    assert subagent.session.metrics.list_price_usd not in (None, session.metrics.list_price_usd)


def test_a_session_without_prices_has_no_list_price() -> None:
    """Records do not contain prices; the caller may supply them."""
    records = [record for record in map(decode_record, (PROMPT, _reply("m", MODEL, 1))) if record]
    assert Session(records).metrics.list_price_usd is None
    assert Session(records, prices=price_at_list).metrics.list_price_usd == 0.300015


def test_a_session_with_an_unknown_price_has_no_list_price() -> None:
    """A sum without one of its parts would be wrong here too."""
    record = decode_record(_reply("m", "who-knows", 1))
    assert record is not None
    assert Session([record], prices=price_at_list).metrics.list_price_usd is None
