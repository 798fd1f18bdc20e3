"""What a run took: turns, replies, tokens, money and time, from what the client told at its ends.

The client may end several turns in one run. Its running totals include subagents, and in newer
versions also what a resumed session had used before; those versions say what is new since the last
end, and only that is added up. Costs are the client's own word.
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct, structs

from recollect.records.state import ModelUsage
from recollect.records.stream.result import Result
from recollect.records.tokens import Tokens, make_tokens, split_usage


class RunFigures(Struct, frozen=True, kw_only=True):
    """The figures of one run; None is what the client did not tell."""

    turns: int
    replies: int
    tool_calls: int
    tokens: Tokens
    cost_usd: float | None
    duration_ms: float | None


def build_figures(results: Sequence[Result], replies: int, tool_calls: int) -> RunFigures:
    """The figures of a run that told `results`; one that told none was one turn all the same."""
    durations = [each.duration_ms for each in results if each.duration_ms is not None]
    fresh = [use for each in results for use in each.model_usage_since_last_result.values()]
    return RunFigures(
        turns=max(len(results), 1),
        replies=replies,
        tool_calls=tool_calls,
        tokens=_add(map(_split, fresh)) if fresh else _read_totals(results),
        cost_usd=_add_costs(fresh) if fresh else _read_cost(results),
        duration_ms=sum(durations) if durations else None,
    )


def _read_totals(results: Sequence[Result]) -> Tokens:
    last = results[-1].model_usage if results else {}
    if last:
        return _add(map(_split, last.values()))
    return _add(split_usage(each.usage) for each in results if each.usage)


def _read_cost(results: Sequence[Result]) -> float | None:
    told = [each.total_cost_usd for each in results if each.total_cost_usd is not None]
    return told[-1] if told else None


def _add_costs(used: Iterable[ModelUsage]) -> float | None:
    told = [use.cost_usd for use in used if use.cost_usd is not None]
    return sum(told) if told else None


def _split(use: ModelUsage) -> Tokens:
    written = use.cache_creation_input_tokens
    hour = min(use.cache_creation_ephemeral_1h_input_tokens, written)
    return make_tokens(
        use.input_tokens,
        use.output_tokens,
        use.cache_read_input_tokens,
        written - hour,
        hour,
        use.web_search_requests,
    )


def _add(counts: Iterable[Tokens]) -> Tokens:
    rows = [structs.astuple(each) for each in counts]
    return Tokens(*map(sum, zip(*rows, strict=True)))
