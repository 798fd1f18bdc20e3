"""Tests of recollect.usage.totals."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from recollect.usage.totals import (
    BurnRate,
    Totals,
    UsageBlock,
    find_block,
    make_blocks,
    measure_burn_rate,
)
from recollect.usage.zones import BLOCK, HOUR

DAY = 24 * HOUR
MOMENTS = st.sets(st.integers(min_value=0, max_value=40 * DAY), max_size=60)


def test_a_block_starts_at_the_full_hour_and_lasts_five() -> None:
    """A message in the fifth hour belongs to it, one in the sixth starts the next."""
    moments = [10 * HOUR + 2700, 14 * HOUR + 3599, 15 * HOUR]
    assert make_blocks(moments) == [UsageBlock(10 * HOUR), UsageBlock(15 * HOUR)]


def test_idle_time_is_reported() -> None:
    """There may be idle hours between two blocks."""
    assert make_blocks([0, 7 * HOUR + 60]) == [UsageBlock(0), UsageBlock(7 * HOUR, 2 * HOUR)]


def test_without_messages_there_is_no_block() -> None:
    """No messages, no blocks."""
    assert make_blocks([]) == []


@given(MOMENTS)
def test_every_message_is_in_one_block(moments: set[int]) -> None:
    """Blocks do not overlap, each has a message in its first hour, and none is left out."""
    blocks = make_blocks(moments)
    assert all(earlier.end <= later.start for earlier, later in pairwise(blocks))
    assert all(any(0 <= moment - block.start < HOUR for moment in moments) for block in blocks)
    found = {moment: find_block(blocks, moment) for moment in moments}
    assert all(block and block.contains(moment) for moment, block in found.items())


@given(MOMENTS)
def test_hours_are_enough_to_compute_blocks(moments: set[int]) -> None:
    """Blocks computed from hours are those computed from messages."""
    assert make_blocks({moment // HOUR * HOUR for moment in moments}) == make_blocks(moments)


def test_outside_all_blocks() -> None:
    """Times before, between and after blocks belong to none."""
    blocks = make_blocks([10 * HOUR, 20 * HOUR])
    assert [find_block(blocks, moment) for moment in (0, 15 * HOUR, 25 * HOUR)] == [None] * 3


def test_the_pace_is_projected_to_the_end() -> None:
    """The usage of one hour is extrapolated to the remaining four."""
    totals = Totals(600, 600, 0, 0, 0, 0, messages=2, cost=3_000_000, unpriced=0)
    block = UsageBlock(0)
    assert measure_burn_rate(block, totals, 600, HOUR + 600) == BurnRate(
        block=block,
        elapsed_minutes=60,
        remaining_minutes=230,
        tokens_per_minute=20,
        cost_per_hour=3_000_000,
        projected_tokens=1200 + 20 * 230,
        projected_cost=3_000_000 + 50_000 * 230,
    )


def test_the_pace_is_measured_over_at_least_a_minute() -> None:
    """A first message a second ago does not give an absurdly high rate."""
    burn_rate = measure_burn_rate(UsageBlock(0), Totals(60, messages=1), 0, 1)
    assert (burn_rate.elapsed_minutes, burn_rate.tokens_per_minute) == (1, 60)


def test_the_pace_of_an_unknown_cost_is_unknown() -> None:
    """Without a price only the token rate is known."""
    burn_rate = measure_burn_rate(UsageBlock(0), Totals(60, messages=1, unpriced=1), 0, BLOCK - 60)
    assert (burn_rate.cost_per_hour, burn_rate.projected_cost, burn_rate.projected_tokens) == (
        None,
        None,
        60,
    )
