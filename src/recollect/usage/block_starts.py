"""Where 5-hour blocks start: the arithmetic alone, which a status line can afford to import."""

from collections.abc import Iterable
from typing import Final

HOUR: Final = 3600
BLOCK: Final = 5 * HOUR


def find_starts(moments: Iterable[int]) -> list[int]:
    """The starts of the blocks that messages at these moments make, in their order."""
    starts: list[int] = []
    for moment in sorted(moments):
        if not starts or moment >= starts[-1] + BLOCK:
            starts.append(moment // HOUR * HOUR)
    return starts
