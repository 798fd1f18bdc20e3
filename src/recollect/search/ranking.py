"""How well texts and sessions match: pure functions and their few weights.

The score of a text depends on its kind (a prompt is more relevant than a tool result), on the share
of the query that it contains, weighted by rarity, and on the density of the query in it. The score
of a session depends on its best text, and on the share of the query that its texts contain
together. The newer of two equal ones comes first. docs/dev/decisions/0014-ranking.md explains the
weights.
"""

import math
from collections.abc import Iterable
from typing import Final

from recollect.documents.kinds import TextKind

WEIGHTS: Final[dict[int, float]] = {
    TextKind.TITLE: 1.5,
    TextKind.PROMPT: 1.5,
    TextKind.QUEUED: 1.5,
    TextKind.REPLY: 1.2,
    TextKind.SUMMARY: 1.0,
    TextKind.COMMAND: 1.0,
    TextKind.TOOL_INPUT: 1.0,
    TextKind.THINKING: 0.8,
    TextKind.TOOL_RESULT: 0.7,
    TextKind.NOTICE: 0.5,
    TextKind.OTHER: 0.5,
}

WHOLE: Final = 1.0
FORM: Final = 0.8
CORRECTED: Final = 0.6
INSIDE: Final = 0.5
"""The weight of a word that is found as written, in another form, corrected, or in a longer
word."""

_BASE: Final = 0.3
"""The score of the least dense text; the densest has one more."""

_NEAR_BONUS: Final = 0.5
_RECENCY_BONUS: Final = 0.05
_HALF_LIFE: Final = 30 * 24 * 3600
"""Seconds after which the recency bonus has halved."""

_TOGETHER: Final = 0.25
"""The weight of all texts of a session together, relative to the best of them."""

_TYPICAL_LENGTH: Final = 4096
"""Typical length of a record in bytes."""


def weigh_by_rarity(found: int, total: int) -> float:
    """Return the weight of a word that is in `found` of `total` texts."""
    return math.log(1 + total / max(found, 1))


def estimate_density(length: float) -> float:
    """Return the density of a word in a text whose record has this many bytes."""
    return 1 / (1.3 + 0.9 * length / _TYPICAL_LENGTH)


def score_roughly(part: int, coverage: float, magnitude: int) -> float:
    """Return the score of a text by the length of its record, before its words are counted."""
    return WEIGHTS[part] * coverage**2 * (_BASE + estimate_density(4.0**magnitude))


def score_text(
    part: int, coverage: float, density: float, age: int, *, is_near: bool = False
) -> float:
    """Return the score of a text; `age` is in seconds."""
    return (
        WEIGHTS[part] * (_BASE + density) + _NEAR_BONUS * is_near
    ) * coverage**2 + _RECENCY_BONUS * _HALF_LIFE / (_HALF_LIFE + max(age, 0))


def score_session(scores: Iterable[float], coverage: float) -> float:
    """Return the score of a session from those of its texts, and what they contain together."""
    return max(scores, default=0.0) + _TOGETHER * coverage**2
