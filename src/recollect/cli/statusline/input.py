"""What Claude Code tells a status line on standard input, as far as one is made of it.

Every field is optional and none is believed: versions differ, and a line that is blank because of
a missing field is worse than one without it. Plain tuples and the standard library's JSON, because
what the rest of the program uses would cost more to import than everything else here.
"""

import json
import math
import os
import select
import sys
import time
from datetime import UTC, datetime
from typing import Final, NamedTuple

MICRO: Final = 1_000_000
MOST_BYTES: Final = 1_000_000
PATIENCE_SECONDS: Final = 1.0
"""How long a client that keeps the pipe open is waited for."""

_LARGEST: Final = 1e12
_PERCENT: Final = 100
_USAGE: Final = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_PROJECTS: Final = "projects"


class Status(NamedTuple):
    """What the client says about the session that runs."""

    model: str | None = None
    context_percent: float | None = None
    cost: int | None = None
    """Micro-dollars, by the client's own count."""
    session_id: str = ""
    transcript: str = ""
    limit_percent: float | None = None
    limit_end: int | None = None
    """When the 5-hour limit starts anew, in seconds since 1970."""

    @property
    def root(self) -> str | None:
        """The Claude directory that the transcript lies in."""
        projects = os.path.dirname(os.path.dirname(self.transcript))  # noqa: PTH120 - no Path yet
        root, name = os.path.split(projects)
        return root if name == _PROJECTS and os.path.isabs(root) else None  # noqa: PTH117


def read_input() -> bytes:
    """What is on standard input; nothing when that is a terminal, closed, or keeps us waiting."""
    if sys.stdin is None or sys.stdin.closed or sys.stdin.isatty():
        return b""
    descriptor, deadline, pieces = sys.stdin.fileno(), time.monotonic() + PATIENCE_SECONDS, [b""]
    while sum(map(len, pieces)) < MOST_BYTES and _is_ready(descriptor, deadline):
        piece = os.read(descriptor, MOST_BYTES)
        if not piece:
            break
        pieces.append(piece)
    return b"".join(pieces)


def _is_ready(descriptor: int, deadline: float) -> bool:
    if os.name == "nt":
        # Windows can wait for sockets only; there the client's own deadline has to do.
        return True
    return bool(select.select([descriptor], [], [], max(deadline - time.monotonic(), 0))[0])


def parse_status(data: bytes) -> Status:
    """The fields of the client's JSON; an empty status if it is none."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return Status()
    return Status(
        model=_text(document, "model", "display_name") or _text(document, "model", "id"),
        context_percent=_find_context(document),
        cost=_scale(_number(document, "cost", "total_cost_usd")),
        session_id=_text(document, "session_id") or "",
        transcript=_text(document, "transcript_path") or "",
        limit_percent=_number(document, "rate_limits", "five_hour", "used_percentage"),
        limit_end=_find_moment(document, "rate_limits", "five_hour", "resets_at"),
    )


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
    """A moment in seconds since 1970; versions wrote it as a number and as a text."""
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
    # A NUL can be part of no path, and asking the system about one raises.
    return value.replace("\x00", "") if isinstance(value, str) else None


def _number(document: object, *names: str) -> float | None:
    value = _find(document, *names)
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > _LARGEST:
        return None
    return value if math.isfinite(value) else None


def _find(document: object, *names: str) -> object:
    for name in names:
        document = document.get(name) if isinstance(document, dict) else None
    return document
