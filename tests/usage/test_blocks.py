"""Tests of recollect.usage.blocks."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from recollect.usage.block_starts import BLOCK, HOUR
from recollect.usage.blocks import Block, Pace, cut_blocks, find_block, measure_pace
from recollect.usage.totals import Totals

DAY = 24 * HOUR
MOMENTS = st.sets(st.integers(min_value=0, max_value=40 * DAY), max_size=60)


def test_a_block_starts_at_the_full_hour_and_lasts_five() -> None:
    """A message of the fifth hour is in it, one of the sixth starts the next."""
    moments = [10 * HOUR + 2700, 14 * HOUR + 3599, 15 * HOUR]
    assert cut_blocks(moments) == [Block(10 * HOUR), Block(15 * HOUR)]


def test_time_without_messages_is_told() -> None:
    """Between two blocks there may be hours in which nothing was asked."""
    assert cut_blocks([0, 7 * HOUR + 60]) == [Block(0), Block(7 * HOUR, 2 * HOUR)]


def test_without_messages_there_is_no_block() -> None:
    """No message starts no block."""
    assert cut_blocks([]) == []


@given(MOMENTS)
def test_every_message_is_in_one_block(moments: set[int]) -> None:
    """Blocks do not overlap, each has a message in its first hour, and none is left out."""
    blocks = cut_blocks(moments)
    assert all(earlier.end <= later.start for earlier, later in pairwise(blocks))
    assert all(any(0 <= moment - block.start < HOUR for moment in moments) for block in blocks)
    found = {moment: find_block(blocks, moment) for moment in moments}
    assert all(block and block.holds(moment) for moment, block in found.items())


@given(MOMENTS)
def test_hours_tell_blocks_as_well_as_seconds(moments: set[int]) -> None:
    """Cutting the hours of messages gives the blocks of the messages."""
    assert cut_blocks({moment // HOUR * HOUR for moment in moments}) == cut_blocks(moments)


def test_outside_all_blocks() -> None:
    """A moment before, between or after the blocks is in none."""
    blocks = cut_blocks([10 * HOUR, 20 * HOUR])
    assert [find_block(blocks, moment) for moment in (0, 15 * HOUR, 25 * HOUR)] == [None] * 3


def test_the_pace_goes_on_to_the_end() -> None:
    """An hour's use at its rate for the four hours that are left."""
    totals = Totals(600, 600, 0, 0, 0, 0, messages=2, cost=3_000_000, unpriced=0)
    block = Block(0)
    assert measure_pace(block, totals, 600, HOUR + 600) == Pace(
        block=block,
        elapsed_minutes=60,
        remaining_minutes=230,
        tokens_per_minute=20,
        cost_per_hour=3_000_000,
        projected_tokens=1200 + 20 * 230,
        projected_cost=3_000_000 + 50_000 * 230,
    )


def test_the_pace_of_a_moment_is_that_of_a_minute() -> None:
    """A first message a second ago does not make a rate of thousands."""
    pace = measure_pace(Block(0), Totals(60, messages=1), 0, 1)
    assert (pace.elapsed_minutes, pace.tokens_per_minute) == (1, 60)


def test_the_pace_of_an_unknown_cost_is_unknown() -> None:
    """Without a price there is a rate of tokens only."""
    pace = measure_pace(Block(0), Totals(60, messages=1, unpriced=1), 0, BLOCK - 60)
    assert (pace.cost_per_hour, pace.projected_cost, pace.projected_tokens) == (None, None, 60)
