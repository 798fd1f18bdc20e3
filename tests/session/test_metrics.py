"""Tests of the metrics of a session."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.records.conversation_records import Assistant
from recollect.records.envelope import Chain
from recollect.records.state import CostState
from recollect.records.token_usage import CacheCreation, Tokens, Usage
from recollect.session.messages import build_messages
from recollect.session.metadata import Metrics, build_metrics, count_tokens
from recollect.session.tool_calls import build_tool_calls
from recollect.session.turns import build_turns
from tests.session.chains import attachment, in_a_row, progress, reply, result, system, use, user

NO_CALLS = {"pending": 0, "success": 0, "failed": 0, "rejected": 0, "interrupted": 0}


def figures_of(
    chain: Sequence[Chain],
    superseded: Sequence[Assistant] = (),
    lines: tuple[int, int] = (0, 0),
    cost_state: CostState | None = None,
) -> Metrics:
    """Return the metrics of a session that is not a subagent."""
    messages = build_messages(chain, superseded, is_subagent=False)
    turns = build_turns(chain, messages, ())
    calls, _ = build_tool_calls(chain)
    return build_metrics(chain, messages, turns, calls, lines, cost_state)


def test_nothing_is_zero() -> None:
    """A session without records has only zeros."""
    assert figures_of([]) == Metrics(
        tokens=Tokens(),
        start=None,
        end=None,
        duration_ms=None,
        active_ms=0,
        turns=0,
        person_turns=0,
        replies=0,
        tool_calls=0,
        tool_calls_by_name={},
        tool_calls_by_status=NO_CALLS,
        errors=0,
        lines_added=0,
        lines_removed=0,
        cost_state=None,
    )


def test_a_whole_session() -> None:
    """Times are those of all links, work is that of the turns, calls go by present names."""
    usage = {"input_tokens": 3, "output_tokens": 5, "server_tool_use": {"web_search_requests": 2}}
    refused = "Permission to use Bash with command x has been denied."
    failure = {"model": "<synthetic>", "usage": {"output_tokens": 99}}
    chain = in_a_row(
        attachment("a", "date"),
        user("b", "fix it", timestamp="2026-01-01T12:00:00Z"),
        reply("c", use("t1"), use("t2"), use("t3", "Task"), message={"usage": usage}),
        result("d", "t1", is_error=True),
        result("e", "t2", refused, is_error=True),
        result("f", "t3"),
        reply("g", "API Error", message=failure, isApiErrorMessage=True),
        system("h", "turn_duration", durationMs=1500, timestamp="2026-01-01T12:00:02Z"),
        user("i", "<task-notification>done</task-notification>"),
        reply("j", use("t4", "Read"), timestamp="2026-01-01T12:00:10Z"),
    )
    cost = CostState(total_cost_usd=1.5)
    assert figures_of(chain, lines=(7, 2), cost_state=cost) == Metrics(
        tokens=Tokens(input=3, output=5, web_searches=2),
        start="2026-01-01T12:00:00Z",
        end="2026-01-01T12:00:10Z",
        duration_ms=10_000,
        active_ms=1500,
        turns=2,
        person_turns=1,
        replies=2,
        tool_calls=4,
        tool_calls_by_name={"Agent": 1, "Bash": 2, "Read": 1},
        tool_calls_by_status={**NO_CALLS, "pending": 1, "success": 1, "failed": 1, "rejected": 1},
        errors=2,
        lines_added=7,
        lines_removed=2,
        cost_state=cost,
    )


def test_a_message_counts_once() -> None:
    """Lines of one message repeat its usage, at first with a placeholder."""
    lines = [
        reply(uuid, "x", message={"id": "m1", "usage": {"input_tokens": 9, "output_tokens": n}})
        for uuid, n in (("a", 1), ("b", 1), ("c", 81))
    ]
    assert figures_of(lines).tokens == Tokens(input=9, output=81)


def test_a_line_that_was_replaced_counts_if_it_is_larger() -> None:
    """A compaction rewrites records with zero usage, which must not hide the real usage."""
    split = {"ephemeral_5m_input_tokens": 1200}
    zeroed = reply("a", "x", message={"id": "m1", "usage": {"cache_creation": split}})
    true = {"input_tokens": 9, "output_tokens": 81, "cache_creation_input_tokens": 1200}
    first = reply("a", "x", message={"id": "m1", "usage": true})
    assert figures_of([zeroed], [first]).tokens == Tokens(input=9, output=81, cache_write_5m=1200)


def test_a_copy_with_zeroed_usage_counts_nothing() -> None:
    """In a fork only the split of cache writes was left; it was billed before."""
    split = {"ephemeral_5m_input_tokens": 1200}
    copied = reply("a", "x", message={"usage": {"cache_creation": split}})
    assert figures_of([copied]).tokens == Tokens()


def test_what_a_subagent_used_is_not_counted_again() -> None:
    """Progress records and the call's result repeat usage that the subagent's own records have."""
    nested = {"type": "assistant", "message": {"id": "m9", "usage": {"output_tokens": 5}}}
    chain = in_a_row(
        user("a"),
        reply("b", use("t1", "Agent", prompt="go")),
        progress("c", "agent_progress", message=nested),
        result("d", "t1", toolUseResult={"usage": {"output_tokens": 5}, "totalTokens": 5}),
    )
    assert figures_of(chain).tokens == Tokens()


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (
            Usage(
                input_tokens=1,
                output_tokens=2,
                cache_read_input_tokens=4,
                cache_creation_input_tokens=24,
                cache_creation=CacheCreation(
                    ephemeral_5m_input_tokens=8, ephemeral_1h_input_tokens=16
                ),
            ),
            Tokens(input=1, output=2, cache_read=4, cache_write_5m=8, cache_write_1h=16),
        ),
        (Usage(cache_creation_input_tokens=24), Tokens(cache_write_5m=24)),
        (
            Usage(
                cache_creation_input_tokens=24,
                cache_creation=CacheCreation(ephemeral_1h_input_tokens=16),
            ),
            Tokens(cache_write_5m=8, cache_write_1h=16),
        ),
        (
            Usage(
                cache_creation_input_tokens=8,
                cache_creation=CacheCreation(ephemeral_1h_input_tokens=16),
            ),
            Tokens(cache_write_1h=8),
        ),
    ],
)
def test_cache_writes_are_split_by_how_long_they_live(usage: Usage, expected: Tokens) -> None:
    """Writes not covered by the split are 5-minute writes; it never exceeds the total."""
    assert count_tokens([usage]) == expected
    assert expected.total == usage.total_tokens


COUNTS = st.integers(0, 50)
USAGES = st.builds(
    Usage,
    input_tokens=COUNTS,
    output_tokens=COUNTS,
    cache_read_input_tokens=COUNTS,
    cache_creation_input_tokens=COUNTS,
    cache_creation=st.none()
    | st.builds(CacheCreation, ephemeral_5m_input_tokens=COUNTS, ephemeral_1h_input_tokens=COUNTS),
)


@given(st.lists(USAGES))
def test_no_token_is_lost_or_made_up(usages: list[Usage]) -> None:
    """All classes together equal the tokens that the API reported, whatever the split."""
    assert count_tokens(usages).total == sum(usage.total_tokens for usage in usages)
