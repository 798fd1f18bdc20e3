"""What turns cost."""

from recollect.library.turn_costs import price_turn
from recollect.pricing.prices import Prices
from recollect.records.decoding import decode_record
from recollect.session.session import Session


def _reply(message_id: str, model: str, output: int) -> bytes:
    return (
        f'{{"type":"assistant","uuid":"{message_id}","timestamp":"2026-11-01T00:00:00Z","message":'
        f'{{"id":"{message_id}","role":"assistant","model":"{model}","content":[],'
        f'"usage":{{"input_tokens":100000,"output_tokens":{output}}}}}}}'
    ).encode()


PROMPT = b'{"type":"user","uuid":"p","message":{"role":"user","content":"go"}}'


def _price(*lines: bytes) -> int | None:
    records = (decode_record(line) for line in (PROMPT, *lines))
    session = Session(record for record in records if record is not None)
    return price_turn(session.turns[0], Prices.load())


def test_a_message_counts_once_with_its_largest_usage() -> None:
    """Three dollars a million tokens in, fifteen out; the lines of a message are one request."""
    model = "claude-sonnet-4-5"
    one = _price(_reply("m", model, 1), _reply("m", model, 100_000))
    assert one == 300_000 + 1_500_000
    assert _price(_reply("m", model, 100_000), _reply("n", model, 100_000)) == 2 * one


def test_an_unknown_price_is_no_price() -> None:
    """A sum without one of its parts would be wrong, and zero would be too."""
    assert _price(_reply("m", "claude-sonnet-4-5", 1), _reply("n", "who-knows", 1)) is None


def test_lines_that_the_client_made_up_cost_nothing() -> None:
    """No request was made for them."""
    assert _price(_reply("m", "<synthetic>", 1)) == 0
