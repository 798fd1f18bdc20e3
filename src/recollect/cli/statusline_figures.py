"""The figures of a status line: from Claude Code's JSON on standard input and from the index.

Every input field is optional and untrusted: versions differ, and a line without a field is better
than no line. Uses plain tuples and the standard library's JSON, since importing msgspec would take
longer than everything else here. The index is read without updating it, which would take too long;
the cost of the session is the client's own if there is one, which is always current.
"""

import json
import math
import os
import select
import sys
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from typing import Final, NamedTuple

from recollect.quantities import MICRO
from recollect.sources.source import find_stamp, is_same
from recollect.store.data_directory import INDEX_NAME
from recollect.store.quick_totals import QuickTotals, TotalsQuery, TotalsSum, read_quick_totals
from recollect.usage.zones import BLOCK, HOUR, Zone, find_block_starts

MAX_BYTES: Final = 1_000_000
TIMEOUT_SECONDS: Final = 1.0
"""How long to wait for a client that keeps the pipe open."""

_MAX_VALUE: Final = 1e12
_PERCENT: Final = 100
_USAGE: Final = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_PROJECTS: Final = "projects"
_MIN_SECRET: Final = 16
"""Minimum length of a secret in a name."""


class StatusInput(NamedTuple):
    """What the client reports about the current session."""

    model: str | None = None
    context_percent: float | None = None
    cost: int | None = None
    """Micro-dollars, as reported by the client."""
    session_id: str = ""
    transcript: str = ""
    limit_percent: float | None = None
    limit_end: int | None = None
    """When the 5-hour limit resets, as a Unix timestamp."""
    week_percent: float | None = None
    week_end: int | None = None
    """When the 7-day limit resets."""

    @property
    def root(self) -> str | None:
        """The Claude directory of the transcript."""
        projects = os.path.dirname(os.path.dirname(self.transcript))
        root, name = os.path.split(projects)
        return root if name == _PROJECTS and os.path.isabs(root) else None


def read_input() -> bytes:
    """Read standard input; empty if it is a terminal or closed. Stops after a timeout."""
    if sys.stdin is None or sys.stdin.closed or sys.stdin.isatty():
        return b""
    descriptor, deadline, pieces = sys.stdin.fileno(), time.monotonic() + TIMEOUT_SECONDS, [b""]
    while sum(map(len, pieces)) < MAX_BYTES and _is_ready(descriptor, deadline):
        piece = os.read(descriptor, MAX_BYTES)
        if not piece:
            break
        pieces.append(piece)
    return b"".join(pieces)


def _is_ready(descriptor: int, deadline: float) -> bool:
    if os.name == "nt":
        # Windows can only poll sockets; there the client's own timeout applies.
        return True
    return bool(select.select([descriptor], [], [], max(deadline - time.monotonic(), 0))[0])


def parse_status(data: bytes) -> StatusInput:
    """Parse the client's JSON; an empty status if it is invalid."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return StatusInput()
    return StatusInput(
        model=_mask(_text(document, "model", "display_name") or _text(document, "model", "id")),
        context_percent=_find_context(document),
        cost=_scale(_number(document, "cost", "total_cost_usd")),
        session_id=_text(document, "session_id") or "",
        transcript=_text(document, "transcript_path") or "",
        limit_percent=_number(document, "rate_limits", "five_hour", "used_percentage"),
        limit_end=_find_moment(document, "rate_limits", "five_hour", "resets_at"),
        week_percent=_number(document, "rate_limits", "seven_day", "used_percentage"),
        week_end=_find_moment(document, "rate_limits", "seven_day", "resets_at"),
    )


def _mask(model: str | None) -> str | None:
    if model is None or len(model) < _MIN_SECRET:
        return model
    from recollect.redact.quick_masks import mask_name  # only for a name that may contain a secret

    return mask_name(model)


def _find_context(document: object) -> float | None:
    stated = _number(document, "context_window", "used_percentage")
    if stated is not None:
        return stated
    size = _number(document, "context_window", "context_window_size")
    used = [_number(document, "context_window", "current_usage", name) for name in _USAGE]
    if not size or size < 0 or used == [None] * len(_USAGE):
        return None
    return sum(tokens or 0 for tokens in used) * _PERCENT / size


def _find_moment(document: object, *names: str) -> int | None:
    """Return a Unix timestamp, which versions write as a number or as a string."""
    number, text = _number(document, *names), _text(document, *names)
    if number is not None:
        return int(number)
    try:
        moment = datetime.fromisoformat(text or "")
        return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
    except (ValueError, OverflowError):
        return None


def _scale(dollars: float | None) -> int | None:
    return None if dollars is None else round(dollars * MICRO)


def _text(document: object, *names: str) -> str | None:
    value = _find(document, *names)
    # A path cannot contain NUL, and system calls with one raise.
    return value.replace("\x00", "") if isinstance(value, str) else None


def _number(document: object, *names: str) -> float | None:
    value = _find(document, *names)
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > _MAX_VALUE:
        return None
    return value if math.isfinite(value) else None


def _find(document: object, *names: str) -> object:
    for name in names:
        document = document.get(name) if isinstance(document, dict) else None
    return document


# Blocks are contiguous as long as there is no pause of five hours.
LOOKBACK_HOURS: Final = 30 * 24


class IndexState(Enum):
    """The state of the index, for this line."""

    CURRENT = "current"
    BEHIND = "behind"
    MISSING = "missing"
    UNREADABLE = "unreadable"


class CurrentBlock(NamedTuple):
    """The current 5-hour block."""

    start: int
    end: int
    sum: TotalsSum | None
    percent: float | None
    is_from_client: bool


class StatuslineFigures(NamedTuple):
    """All figures of a line; None if unknown."""

    status: StatusInput
    state: IndexState
    session: TotalsSum | None
    is_session_from_client: bool
    today: TotalsSum | None
    block: CurrentBlock | None


def find_figures(
    status: StatusInput, directory: Path, zone: Zone, now: datetime
) -> StatuslineFigures:
    """Return the figures of a session at the time `now`."""
    moment = int(now.timestamp())
    totals = read_quick_totals(directory, _ask(status, moment))
    hours = {} if totals is None else totals.hours
    past = {hour * HOUR: found for hour, found in hours.items() if hour * HOUR <= moment}
    day = zone.find_day(moment)
    own = None if status.cost is None else TotalsSum(status.cost, 0)
    return StatuslineFigures(
        status=status,
        state=_find_state(totals, status, directory),
        session=own or (totals.session if totals else None),
        is_session_from_client=own is not None,
        today=totals and _add(past[start] for start in past if zone.find_day(start) == day),
        block=_find_reported_block(status, totals and past, moment) or _find_block(past, moment),
    )


def _ask(status: StatusInput, moment: int) -> TotalsQuery:
    root = status.root
    return TotalsQuery(
        since=moment // HOUR - LOOKBACK_HOURS,
        # The index has the directory as it was given, or its real path.
        place="" if root is None else _mark(root),
        real_place="" if root is None else _mark(os.path.realpath(root)),
        session_id=status.session_id,
        transcript=status.transcript,
    )


def _mark(root: str) -> str:
    return os.path.join(root, "")


def _find_state(totals: QuickTotals | None, status: StatusInput, directory: Path) -> IndexState:
    if totals is None:
        is_there = (directory / INDEX_NAME).exists()
        return IndexState.UNREADABLE if is_there else IndexState.MISSING
    listed = find_stamp(status.transcript)
    # Without a transcript, which may not exist yet, the index cannot be outdated.
    is_current = listed is None or is_same(totals.stamp, listed)
    return IndexState.CURRENT if is_current else IndexState.BEHIND


def _find_reported_block(
    status: StatusInput, past: dict[int, TotalsSum] | None, moment: int
) -> CurrentBlock | None:
    """Return the block reported by the client; like every block it starts on a full hour."""
    end = status.limit_end
    if end is None or not moment < end <= moment + BLOCK:
        return None
    start = (end - BLOCK) // HOUR * HOUR
    found = None if past is None else _add(past[each] for each in past if each >= start)
    return CurrentBlock(start, end, found, status.limit_percent, is_from_client=True)


def _find_block(past: dict[int, TotalsSum], moment: int) -> CurrentBlock | None:
    start = (find_block_starts(past) or [moment - BLOCK])[-1]
    if moment >= start + BLOCK:
        return None
    total = _add(past[each] for each in past if each >= start)
    return CurrentBlock(start, start + BLOCK, total, None, is_from_client=False)


def _add(sums: Iterable[TotalsSum]) -> TotalsSum:
    cost = unpriced = 0
    for each in sums:
        cost, unpriced = cost + each.cost, unpriced + each.unpriced
    return TotalsSum(cost, unpriced)
