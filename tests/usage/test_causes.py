"""Cost by cause: parts add up, and each token has the first cause that applies."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.pricing import Prices
from recollect.records.token_usage import Tokens
from recollect.session.client_reports import ReplyNote
from recollect.store.usage_queries import LedgerEntry, Measures
from recollect.usage.causes import (
    Cause,
    CausePart,
    CauseTotals,
    ReplyCase,
    add_up_causes,
    attribute_messages,
    split_message,
)

TIME = int(datetime(2026, 11, 9, tzinfo=UTC).timestamp() * 1000)
COUNTS = st.integers(0, 400_000)
MEASURES = st.builds(
    Measures,
    tokens=st.builds(
        Tokens,
        input=COUNTS,
        output=COUNTS,
        cache_read=COUNTS,
        cache_write_5m=COUNTS,
        cache_write_1h=COUNTS,
        web_searches=st.integers(0, 3),
    ),
    cost=st.none() | st.integers(0, 10**9),
)
NOTES = st.none() | st.builds(
    ReplyNote, st.just("m"), COUNTS, st.booleans(), st.booleans(), st.booleans()
)
CASES = st.builds(ReplyCase, note=NOTES, is_subagent=st.booleans(), cached_before=COUNTS)


@given(MEASURES, CASES, st.lists(st.integers(0, 1000), min_size=6, max_size=6))
def test_parts_add_up_to_the_message(measures: Measures, case: ReplyCase, costs: list[int]) -> None:
    """No token and no millionth of a dollar is lost or counted twice."""
    if measures.cost is None or sum(costs) > measures.cost:
        costs = [0] * 6
    parts = split_message(measures, costs, case)
    assert sum(parts.values(), CausePart()) == CausePart(measures.tokens.total, measures.cost or 0)
    assert all(part.tokens >= 0 and part.cost >= 0 for part in parts.values())


def find(case: ReplyCase, **tokens: int) -> dict[str, int]:
    """The tokens by cause."""
    parts = split_message(Measures(Tokens(**tokens)), [0] * 6, case)
    return {cause.value: part.tokens for cause, part in parts.items()}


@pytest.mark.parametrize(
    ("case", "tokens", "expected"),
    [
        (ReplyCase(), {"input": 5, "output": 7}, {"other": 12}),
        (ReplyCase(is_subagent=True), {"input": 5, "output": 7}, {"subagents": 12}),
        (
            ReplyCase(note=ReplyNote("m", is_superseded=True)),
            {"input": 5, "output": 7},
            {"retries": 12},
        ),
        (
            ReplyCase(note=ReplyNote("m", follows_compaction=True), cached_before=900),
            {"input": 5, "cache_read": 10, "cache_write_5m": 300, "output": 7},
            {"compactions": 305, "other": 17},
        ),
        (
            ReplyCase(cached_before=900),
            {"input": 5, "cache_read": 100, "cache_write_1h": 850, "output": 7},
            {"cache-rebuilds": 800, "other": 162},
        ),
        (
            ReplyCase(note=ReplyNote("m", follows_error=True), cached_before=900),
            {"cache_read": 100, "cache_write_1h": 850},
            {"retries": 800, "other": 150},
        ),
        # After a rewind less is sent than before: what is not sent was not lost.
        (
            ReplyCase(cached_before=900),
            {"cache_read": 400, "input": 5},
            {"cache-rebuilds": 5, "other": 400},
        ),
        (ReplyCase(cached_before=900), {"cache_read": 900, "cache_write_5m": 50}, {"other": 950}),
        (ReplyCase(), {"cache_read": 130_000}, {"long-contexts": 30_000, "other": 100_000}),
        (ReplyCase(note=ReplyNote("m", 40)), {"output": 100}, {"thinking": 40, "other": 60}),
        (ReplyCase(note=ReplyNote("m", 400)), {"output": 100}, {"thinking": 100}),
    ],
)
def test_the_first_cause_that_applies(
    case: ReplyCase, tokens: dict[str, int], expected: dict[str, int]
) -> None:
    """Each rule by itself, and where two could apply."""
    assert find(case, **tokens) == expected


def entry(number: int, file_id: int, *, is_counted: bool = True, **tokens: int) -> LedgerEntry:
    """A row of the ledger, priced at the list price of its model."""
    own = Measures(Tokens(**tokens), cost=1000, time=TIME)
    return LedgerEntry(
        number=number,
        file_id=file_id,
        position=number,
        message_id=f"m{number}",
        request_id=None,
        model="claude-opus-5-5",
        is_sidechain=False,
        is_relayed=False,
        client_cost=None,
        is_counted=is_counted,
        own=own,
        corrected=None,
    )


def test_a_request_is_compared_with_the_one_before_it() -> None:
    """Only within the same file, copies included; a copy is not counted again."""
    entries = [
        entry(1, 1, cache_write_5m=1000),
        entry(2, 1, is_counted=False, cache_read=1000, cache_write_5m=500),
        entry(3, 1, cache_write_5m=1600),
        entry(4, 2, cache_write_5m=1600),
    ]
    found = list(attribute_messages(entries, {}, frozenset({2}), Prices.load(None)))
    assert [
        (each.entry.number, {name.value: part.tokens for name, part in each.parts.items()})
        for each in found
    ] == [
        (1, {"other": 1000}),
        (3, {"cache-rebuilds": 1500, "other": 100}),
        (4, {"subagents": 1600}),
    ]
    totals = add_up_causes(found)
    assert totals == (
        CauseTotals(cause=Cause.SUBAGENTS, part=CausePart(1600, 1000), messages=1),
        CauseTotals(cause=Cause.CACHE_REBUILDS, part=CausePart(1500, 937), messages=1),
        CauseTotals(cause=Cause.OTHER, part=CausePart(1100, 1063), messages=2),
    )
