"""5-hour billing blocks of a subscription, and the burn rate of the current one.

A block starts at the full UTC hour of its first message and lasts five hours; the next one starts
with the first message after that. Hourly sums are therefore enough to compute blocks exactly.
Filters do not move blocks: messages that a filter excludes still start and end them.
"""

from bisect import bisect_right
from collections.abc import Collection
from itertools import pairwise

from msgspec import Struct

from recollect.usage.totals import Totals
from recollect.usage.zones import BLOCK, find_block_starts, format_moment

_MINUTE = 60


class UsageBlock(Struct, frozen=True):
    """One block; times are in seconds since 1970."""

    start: int
    idle_before: int = 0
    """Seconds since the end of the previous block."""

    @property
    def key(self) -> str:
        """Return the key of the block in a report: its start in UTC."""
        return format_moment(self.start)

    @property
    def end(self) -> int:
        """Return the end of the block (exclusive)."""
        return self.start + BLOCK

    def contains(self, moment: int) -> bool:
        """Whether the block contains `moment`."""
        return self.start <= moment < self.end


class Pace(Struct, frozen=True):
    """Burn rate of the current block, and its projected totals if the rate stays the same."""

    block: UsageBlock
    elapsed_minutes: float
    remaining_minutes: float
    tokens_per_minute: float
    cost_per_hour: int | None
    projected_tokens: int
    projected_cost: int | None


def make_blocks(moments: Collection[int]) -> list[UsageBlock]:
    """Return the blocks of messages sent at `moments`, in chronological order."""
    starts = find_block_starts(moments)
    idle = [0, *(later - earlier - BLOCK for earlier, later in pairwise(starts))]
    return [UsageBlock(start, gap) for start, gap in zip(starts, idle, strict=False)]


def find_block(blocks: list[UsageBlock], moment: int) -> UsageBlock | None:
    """Return the block that contains `moment`; None if there is none."""
    index = bisect_right(blocks, moment, key=lambda block: block.start) - 1
    return blocks[index] if index >= 0 and blocks[index].contains(moment) else None


def measure_pace(block: UsageBlock, totals: Totals, first: float, now: float) -> Pace:
    """Return the pace of a block that contains `now` and whose first message is from `first`."""
    # A rate over less than a minute would be meaningless.
    elapsed = max(now - first, _MINUTE) / _MINUTE
    remaining = max(block.end - now, 0) / _MINUTE
    cost = totals.known_cost
    return Pace(
        block=block,
        elapsed_minutes=elapsed,
        remaining_minutes=remaining,
        tokens_per_minute=totals.tokens / elapsed,
        cost_per_hour=None if cost is None else round(cost / elapsed * 60),
        projected_tokens=totals.tokens + round(totals.tokens / elapsed * remaining),
        projected_cost=None if cost is None else cost + round(cost / elapsed * remaining),
    )
