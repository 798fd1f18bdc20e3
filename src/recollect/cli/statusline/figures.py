"""What a status line tells: the client's own figures, and those of the index as it last was.

Nothing is brought level first, because that costs more than the line may. The session's cost is
the client's, which is always current; only where it states none is the index asked.
"""

import os
from collections.abc import Iterable
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Final, NamedTuple

from recollect.cli.statusline.input import Status
from recollect.store.glance import Glance, Question, Sum, take_glance
from recollect.store.place import INDEX_NAME
from recollect.usage.block_starts import BLOCK, HOUR, find_starts
from recollect.usage.zones import Zone

# Blocks follow each other without a pause for as long as somebody works without one of five hours.
LOOKBACK_HOURS: Final = 30 * 24


class IndexState(Enum):
    """What the index is worth for this line."""

    LEVEL = "level"
    BEHIND = "behind"
    MISSING = "missing"
    UNREADABLE = "unreadable"


class Window(NamedTuple):
    """The 5-hour block that is running."""

    start: int
    end: int
    sum: Sum | None
    percent: float | None
    is_told_by_client: bool


class Figures(NamedTuple):
    """Everything that a line is made of; None is not known."""

    status: Status
    state: IndexState
    session: Sum | None
    is_session_of_client: bool
    today: Sum | None
    block: Window | None


def find_figures(status: Status, directory: Path, zone: Zone, now: datetime) -> Figures:
    """The figures for a session at the moment `now`."""
    moment = int(now.timestamp())
    glance = take_glance(directory, _ask(status, moment))
    hours = {} if glance is None else glance.hours
    past = {hour * HOUR: found for hour, found in hours.items() if hour * HOUR <= moment}
    day = zone.find_day(moment)
    own = None if status.cost is None else Sum(status.cost, 0)
    return Figures(
        status=status,
        state=_judge(glance, status, directory),
        session=own or (glance.session if glance else None),
        is_session_of_client=own is not None,
        today=glance and _add(past[start] for start in past if zone.find_day(start) == day),
        block=_find_told_block(status, glance and past, moment) or _find_block(past, moment),
    )


def _ask(status: Status, moment: int) -> Question:
    root = status.root
    return Question(
        since=moment // HOUR - LOOKBACK_HOURS,
        # The index knows a directory by the name that it was given, or by its real one.
        place="" if root is None else _mark(root),
        real_place="" if root is None else _mark(os.path.realpath(root)),
        session_id=status.session_id,
        transcript=status.transcript,
    )


def _mark(root: str) -> str:
    return os.path.join(root, "")  # noqa: PTH118 - a Path drops the separator at the end


def _judge(glance: Glance | None, status: Status, directory: Path) -> IndexState:
    if glance is None:
        is_there = (directory / INDEX_NAME).exists()
        return IndexState.UNREADABLE if is_there else IndexState.MISSING
    try:
        found = os.stat(status.transcript)  # noqa: PTH116 - it may be no path at all
    except (OSError, ValueError):
        # Nothing is written yet, so there is nothing that the index could have missed.
        return IndexState.LEVEL
    is_level = glance.state == (found.st_size, found.st_mtime_ns)
    return IndexState.LEVEL if is_level else IndexState.BEHIND


def _find_told_block(status: Status, past: dict[int, Sum] | None, moment: int) -> Window | None:
    """The block that the client tells of; it starts at a full hour, as every block does."""
    end = status.limit_end
    if end is None or not moment < end <= moment + BLOCK:
        return None
    start = (end - BLOCK) // HOUR * HOUR
    found = None if past is None else _add(past[each] for each in past if each >= start)
    return Window(start, end, found, status.limit_percent, is_told_by_client=True)


def _find_block(past: dict[int, Sum], moment: int) -> Window | None:
    start = (find_starts(past) or [moment - BLOCK])[-1]
    if moment >= start + BLOCK:
        return None
    total = _add(past[each] for each in past if each >= start)
    return Window(start, start + BLOCK, total, None, is_told_by_client=False)


def _add(sums: Iterable[Sum]) -> Sum:
    cost = unpriced = 0
    for each in sums:
        cost, unpriced = cost + each.cost, unpriced + each.unpriced
    return Sum(cost, unpriced)
