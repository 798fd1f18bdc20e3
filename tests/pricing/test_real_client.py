"""Our prices compared with the totals that real clients computed."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from msgspec import Struct, field

from recollect.pricing import BilledRequest, Prices, Tokens

# The day on which the clients were run.
DAY = "2026-11-14"
PRICES = Prices.load()


class ModelUsage(Struct, frozen=True, kw_only=True, rename="camel"):
    """The client's total for one model, in a `result` message or a `cost-state` record."""

    input_tokens: int
    output_tokens: int
    cache_read_input_tokens: int
    cache_creation_input_tokens: int
    hour: int = field(name="cacheCreationEphemeral1hInputTokens", default=0)
    web_search_requests: int
    dollars: float = field(name="costUSD")

    @property
    def tokens(self) -> Tokens:
        """The same by class."""
        return Tokens(
            self.input_tokens,
            self.output_tokens,
            self.cache_read_input_tokens,
            self.cache_creation_input_tokens - self.hour,
            self.hour,
            self.web_search_requests,
        )


class Line(Struct, frozen=True, rename="camel"):
    """The fields that are read of a line."""

    model_usage: dict[str, ModelUsage] = {}


def iter_totals(folder: Path) -> Iterator[tuple[str, str, ModelUsage]]:
    """Yield scenario or session, model and total, for each total that a client version wrote."""
    for path in sorted(folder.rglob("*.jsonl")):
        for line in path.read_bytes().split(b"\n"):
            if b'"modelUsage"' in line:
                for model, total in _read_totals(line):
                    yield path.stem, model, total


def _read_totals(line: bytes) -> list[tuple[str, ModelUsage]]:
    """A stream is printed line by line, or as one array."""
    lines = msgspec.json.decode(line, type=Line | list[Line])
    return [
        pair
        for each in (lines if isinstance(lines, list) else [lines])
        for pair in each.model_usage.items()
    ]


def cost_of(model: str, tokens: Tokens) -> int | None:
    """Return the microdollars if there is a price."""
    cost = PRICES.cost_of(BilledRequest(model, tokens), DAY)
    return None if cost is None else cost.total


def explain(model: str, total: ModelUsage) -> str:
    """Return the reason why our figure differs from the client's, if it does."""
    stated, ours = total.dollars * 10**6, cost_of(model, total.tokens)
    if ours is None:
        return "unknown model"
    if abs(ours - stated) <= 1:
        return "equal"
    if abs((_in_two_requests(model, total.tokens) or 0) - stated) <= 2:
        return "only together above a threshold"
    if abs((cost_of("claude-sonnet-4-5", total.tokens) or 0) - stated) <= 1:
        return "a model newer than the client"
    return "different"


def _in_two_requests(model: str, tokens: Tokens) -> int | None:
    counts = msgspec.structs.astuple(tokens)
    one = cost_of(model, Tokens(*(count // 2 for count in counts)))
    other = cost_of(model, Tokens(*(count - count // 2 for count in counts)))
    return None if one is None or other is None else one + other


def count_reasons(folder: Path) -> dict[str, int]:
    """Return the number of totals explained by each reason."""
    reasons: dict[str, int] = {}
    for _, model, total in iter_totals(folder):
        reason = explain(model, total)
        reasons[reason] = reasons.get(reason, 0) + 1
    return reasons


TOGETHER = "only together above a threshold"
EXPECTED = {
    "1.0.128": {"equal": 170, "a model newer than the client": 3},
    "2.0.77": {"equal": 182},
    "2.1.112": {"equal": 97},
    "2.1.325": {"equal": 225, TOGETHER: 4},
}


@pytest.mark.parametrize(("version", "reasons"), EXPECTED.items())
def test_our_costs_are_those_of_the_client(
    shared: Path, version: str, reasons: dict[str, int]
) -> None:
    """Each total is the client's own to a microdollar, and the exceptions have their reasons.

    A total is a sum of requests, so one that is long only as a sum has no long-context price; and
    a client that does not know a model yet prices it like its default.
    """
    assert count_reasons(shared / "real_cli" / version) == reasons


def test_the_exceptions_are_the_compacted_sessions(shared: Path) -> None:
    """The two sessions that were compacted report the sum of several prompts."""
    totals = iter_totals(shared / "real_cli" / "2.1.325" / "stream")
    odd = [(name, model) for name, model, total in totals if explain(model, total) == TOGETHER]
    assert odd == [("auto_midturn", "claude-sonnet-4-5"), ("auto_turn2", "claude-sonnet-4-5")]
