"""The 5-hour blocks of a subscription, and how fast the current one is filling.

A block starts at the full hour, in UTC, of its first message and lasts five hours; the next one
starts with the first message after that. So hours tell blocks exactly, and no message is needed.
Blocks are those of all messages: what a filter leaves out still starts and ends them.
"""

from bisect import bisect_right
from collections.abc import Collection
from itertools import pairwise

from msgspec import Struct

from recollect.usage.block_starts import BLOCK, find_starts
from recollect.usage.totals import Totals
from recollect.usage.zones import format_moment

_MINUTE = 60


class Block(Struct, frozen=True):
    """One block, in seconds since 1970."""

    start: int
    idle_before: int = 0
    """Seconds since the end of the block before it."""

    @property
    def key(self) -> str:
        """What it is called in a report: its start in UTC."""
        return format_moment(self.start)

    @property
    def end(self) -> int:
        """When it ends, which is no part of it."""
        return self.start + BLOCK

    def holds(self, moment: int) -> bool:
        """Whether the moment is within it."""
        return self.start <= moment < self.end


class Pace(Struct, frozen=True):
    """How fast the current block is filling, and what it comes to at its end if that goes on."""

    block: Block
    elapsed_minutes: float
    remaining_minutes: float
    tokens_per_minute: float
    cost_per_hour: int | None
    projected_tokens: int
    projected_cost: int | None


def cut_blocks(moments: Collection[int]) -> list[Block]:
    """The blocks that messages at these moments make, in their order."""
    starts = find_starts(moments)
    idle = [0, *(later - earlier - BLOCK for earlier, later in pairwise(starts))]
    return [Block(start, gap) for start, gap in zip(starts, idle, strict=False)]


def find_block(blocks: list[Block], moment: int) -> Block | None:
    """The block that holds a moment."""
    place = bisect_right(blocks, moment, key=lambda block: block.start) - 1
    return blocks[place] if place >= 0 and blocks[place].holds(moment) else None


def measure_pace(block: Block, totals: Totals, first: float, now: float) -> Pace:
    """The pace of a block that holds `now` and whose first message was written at `first`."""
    # A rate over less than a minute would be a guess.
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
