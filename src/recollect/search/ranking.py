"""Which of the texts that were found a person would want to see first.

Only texts that fulfil the query are ranked, so that the order is a matter of taste: how much of the
text is about it, who wrote it, and how long ago. The weights were set by hand.
"""

from collections.abc import Collection
from typing import Final

from recollect.store.text import Part
from recollect.store.text_queries import FoundText

_WEIGHTS: Final[dict[int, float]] = {
    Part.TITLE: 1.5,
    Part.PROMPT: 1.4,
    Part.REPLY: 1.2,
    Part.SUMMARY: 1.0,
    Part.COMMAND: 1.0,
    Part.THINKING: 0.9,
    Part.TOOL_INPUT: 0.9,
    Part.TOOL_RESULT: 0.7,
    Part.NOTICE: 0.5,
    Part.OTHER: 0.5,
}
_PHRASE: Final = 0.5
_RECENT: Final = 0.5
_HALF_LIFE: Final = 30 * 24 * 3600
"""Seconds after which half of what recency counts for is gone."""


def rate(text: FoundText, now: int, phrases: Collection[int]) -> float:
    """How well a text answers, the more the better; `phrases` hold the words in their order."""
    age = max(now - text.second, 0)
    recency = _HALF_LIFE / (_HALF_LIFE + age)
    return (
        _WEIGHTS[text.part] * (0.3 + text.density)
        + _RECENT * recency
        + _PHRASE * (text.id in phrases)
    )
