"""Figures of one session: tokens by class, time, turns, tool calls, lines changed.

Tokens are counted once per message, by its largest usage; lines that the client made up itself
count nothing. A subagent's figures are its own session's: they are never part of its parent's.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct, structs

from recollect.records.envelope import Chain
from recollect.records.state import CostState
from recollect.records.tokens import Tokens, split_usage
from recollect.records.usage import Usage
from recollect.session.messages import Message
from recollect.session.outcomes import ToolStatus
from recollect.session.times import find_range, milliseconds_between
from recollect.session.tool_calls import ToolCall
from recollect.session.turns import Turn


class Metrics(Struct, frozen=True, kw_only=True):
    """The figures of a session."""

    tokens: Tokens
    start: str | None
    end: str | None
    duration_ms: float | None
    active_ms: float
    turns: int
    person_turns: int
    replies: int
    tool_calls: int
    tool_calls_by_name: dict[str, int]
    tool_calls_by_status: dict[str, int]
    errors: int
    """Failed tool calls and API failures."""
    lines_added: int
    lines_removed: int
    cost_state: CostState | None
    """The client's own last word on the cost, with that of the sessions it descends from."""


def count_tokens(usages: Iterable[Usage]) -> Tokens:
    """The sum of `usages`."""
    counts = [structs.astuple(split_usage(usage)) for usage in usages]
    return Tokens(*map(sum, zip(*counts, strict=True)))


def build_metrics(
    chain: Iterable[Chain],
    messages: Sequence[Message],
    turns: tuple[Turn, ...],
    tool_calls: tuple[ToolCall, ...],
    lines: tuple[int, int],
    cost_state: CostState | None,
) -> Metrics:
    """The figures of a session from its views; `lines` are those added and removed."""
    replies = [m for m in messages if m.role == "assistant" and not m.is_synthetic]
    failures = sum(message.failure is not None for message in messages)
    usages = [message.usage for message in replies if message.usage]
    statuses = Counter(call.status for call in tool_calls)
    start, end = find_range(link.timestamp for link in chain)
    return Metrics(
        tokens=count_tokens(usages),
        start=start,
        end=end,
        duration_ms=milliseconds_between(start, end),
        active_ms=sum(turn.active_ms or 0 for turn in turns),
        turns=len(turns),
        person_turns=sum(turn.is_by_person for turn in turns),
        replies=len(replies),
        tool_calls=len(tool_calls),
        tool_calls_by_name=dict(sorted(Counter(call.name for call in tool_calls).items())),
        tool_calls_by_status={status.value: statuses[status] for status in ToolStatus},
        errors=statuses[ToolStatus.FAILED] + failures,
        lines_added=lines[0],
        lines_removed=lines[1],
        cost_state=cost_state,
    )
