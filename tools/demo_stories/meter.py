"""Tokens and money of made-up answers, close to what a real session would show.

The price table is a small extract for these stories only; Recollect's own is generated elsewhere.
"""

from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]

PRICES = {
    "claude-opus-5-5": (4.0, 20.0, 0.2, 5.0),
    "claude-sonnet-5-5": (2.0, 10.0, 0.1, 2.5),
    "claude-haiku-5-5": (0.1, 0.5, 0.01, 0.125),
    "claude-sonnet-4-5-20250929": (3.0, 15.0, 0.3, 3.75),
    "claude-haiku-4-5-20251001": (1.0, 5.0, 0.1, 1.25),
    "claude-sonnet-4-20250514": (3.0, 15.0, 0.3, 3.75),
}
"""Dollars per million tokens: input, output, cache read, cache write for five minutes."""

SYSTEM_TOKENS = 11_800
"""System prompt and tools, which an earlier session has usually left in the cache."""


def count_tokens(text: str) -> int:
    """About as many tokens as `text` has; Chinese needs more of them per character."""
    wide = sum(ord(character) > 0x2E80 for character in text)
    return max(1, (len(text) - wide) // 4 + wide)


@dataclass
class Context:
    """What a conversation holds at a moment: the part in the cache, and what came since."""

    cached: int = SYSTEM_TOKENS
    pending: int = 2_400

    def add(self, text: str) -> None:
        """Put more words into the conversation."""
        self.pending += count_tokens(text)

    def compact(self, summary: str) -> int:
        """Replace the conversation by its summary; the size that it had."""
        before = self.cached + self.pending
        self.cached, self.pending = SYSTEM_TOKENS, 2_400 + count_tokens(summary)
        return before


@dataclass
class Meter:
    """What a session and its subagents have used so far, by model."""

    totals: dict[str, Json] = field(default_factory=dict)

    def count(self, model: str, context: Context, output: int, thinking: int) -> Json:
        """The `usage` of one answer, which is counted and becomes part of the conversation."""
        read, written, sent = context.cached, context.pending, 3 + output % 7
        context.cached, context.pending = read + written, output
        self._add(model, (sent, output, read, written), thinking)
        return {
            "input_tokens": sent,
            "cache_creation_input_tokens": written,
            "cache_read_input_tokens": read,
            "output_tokens": output,
            "cache_creation": {
                "ephemeral_1h_input_tokens": 0,
                "ephemeral_5m_input_tokens": written,
            },
            "service_tier": "standard",
        }

    def count_unseen(self, model: str, output: int, read: int, *, searches: int = 0) -> None:
        """Count a call that leaves no record of its own: a compaction, a search."""
        self._add(model, (12, output, read, 0), 0)
        total = self.totals[model]
        total["webSearchRequests"] += searches
        total["costUSD"] = round(total["costUSD"] + searches * 0.01, 10)

    @property
    def cost(self) -> float:
        """Dollars so far."""
        return round(sum(float(total["costUSD"]) for total in self.totals.values()), 10)

    def _add(self, model: str, tokens: tuple[int, int, int, int], thinking: int) -> None:
        sent, output, read, written = tokens
        total = self.totals.setdefault(model, _nothing())
        total["inputTokens"] += sent
        total["outputTokens"] += output
        total["thinkingTokens"] += thinking
        total["cacheReadInputTokens"] += read
        total["cacheCreationInputTokens"] += written
        total["cacheCreationEphemeral5mInputTokens"] += written
        cost = sum(map(_multiply, tokens, PRICES[model])) / 1_000_000
        total["costUSD"] = round(total["costUSD"] + cost, 10)


def _multiply(one: float, other: float) -> float:
    return one * other


def _nothing() -> Json:
    return {
        "inputTokens": 0,
        "outputTokens": 0,
        "thinkingTokens": 0,
        "cacheReadInputTokens": 0,
        "cacheCreationInputTokens": 0,
        "cacheCreationEphemeral5mInputTokens": 0,
        "cacheCreationEphemeral1hInputTokens": 0,
        "webSearchRequests": 0,
        "costUSD": 0.0,
    }
