"""Tests of recollect.usage.reports and recollect.usage.totals: rows in, report out."""

from collections.abc import Sequence
from datetime import date
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.documents.usage_groups import Group
from recollect.usage.reports import (
    ReportOrder,
    ReportRow,
    RowFilter,
    UsageQuery,
    UsageReport,
    make_report,
)
from recollect.usage.totals import (
    LedgerRow,
    SourceFile,
    Totals,
    UsageBlock,
    add_up,
    make_totals,
    split_evenly,
)
from recollect.usage.zones import Zone, load_zone

HOUR = 3600
NOON = 1_794_744_000
"""2026-11-15T12:00:00Z, a Sunday."""

UTC = load_zone("UTC")
KOLKATA = load_zone("Asia/Kolkata")
MAIN = SourceFile("/c/projects/-w-app/s1.jsonl", "-w-app", "s1", project_path="/w/app")
AGENT = SourceFile(
    "/c/projects/-w-app/s1/subagents/agent-a.jsonl", "-w-app", "s1", "subagent", "/w/app"
)
EXPLORER = SourceFile(
    "/c/projects/-w-app/s1/subagents/agent-e.jsonl", "-w-app", "s1", "subagent", "/w/app", "Explore"
)
FLAT = SourceFile("/c/projects/-w-lib/agent-f.jsonl", "-w-lib", "", "subagent", "/w/lib")


def cost(micro: int, messages: int = 1) -> Totals:
    """Return messages with this total cost and ten input tokens each."""
    return Totals(10 * messages, messages=messages, cost=micro)


def ask(group: str, zone: Zone = UTC) -> UsageQuery:
    """Return a query without filters."""
    return UsageQuery(group=Group(group), zone=zone)


def keys(report: UsageReport) -> dict[str | None, int]:
    """Return the cost of each row, in order."""
    return {row.key: row.totals.cost for row in report.rows}


def at(*moments: int) -> list[LedgerRow]:
    """Return a row at each time, with costs of 1, 2, 4, …"""
    return [LedgerRow(totals=cost(1 << at), moment=moment) for at, moment in enumerate(moments)]


@pytest.mark.parametrize(
    ("group", "expected"),
    [
        ("day", {"2026-11-14": 1, "2026-11-15": 2, "2026-11-16": 4}),
        ("week", {"2026-W46": 3, "2026-W47": 4}),
        ("month", {"2026-11": 7}),
    ],
)
def test_stretches_of_time(group: str, expected: dict[str | None, int]) -> None:
    """Weeks start on Monday, as in ISO 8601; rows are in ascending order."""
    rows = at(NOON - 24 * HOUR, NOON, NOON + 24 * HOUR)
    assert keys(make_report(rows[::-1], ask(group))) == expected


@given(
    st.lists(
        st.builds(
            LedgerRow,
            totals=st.integers(0, 1000).map(cost),
            moment=st.none() | st.integers(NOON, NOON + 90 * 24 * HOUR),
            file=st.sampled_from([None, MAIN, AGENT, EXPLORER, FLAT]),
            model=st.sampled_from([None, "a", "b"]),
            tools=st.sampled_from([None, "Bash", "Bash\nmcp__x__y"]),
            is_sidechain=st.booleans(),
        ),
        max_size=30,
    ),
    st.sampled_from(Group),
    st.sampled_from(Group),
)
def test_any_row_can_be_split_again(rows: list[LedgerRow], group: Group, other: Group) -> None:
    """Splitting a row by any other group adds up to that row."""
    for line in make_report(rows, ask(group.value)).rows:
        question = UsageQuery(group=other, zone=UTC, only=RowFilter(group, line.key))
        assert make_report(rows, question).totals == line.totals


def test_the_first_week_may_be_of_another_year() -> None:
    """A week belongs to the year of its Thursday."""
    new_year = 1_798_761_600
    assert keys(make_report(at(new_year), ask("week"))) == {"2026-W53": 1}


def test_days_of_a_zone_with_half_hours() -> None:
    """Rows of a quarter of an hour fall on the right side of midnight."""
    midnight = NOON + 6 * HOUR + 1800
    rows = at(midnight - 900, midnight)
    assert keys(make_report(rows, ask("day", KOLKATA))) == {"2026-11-15": 1, "2026-11-16": 2}


def test_the_long_day_is_one_day() -> None:
    """On the day when clocks go back, the repeated hour counts for that day."""
    start = 1_792_879_200
    rows = at(*(start + hour * HOUR for hour in range(25)), start - HOUR, start + 25 * HOUR)
    assert keys(make_report(rows, ask("day", load_zone("Europe/Berlin")))) == {
        "2026-10-24": 1 << 25,
        "2026-10-25": (1 << 25) - 1,
        "2026-10-26": 1 << 26,
    }


def test_what_has_no_time_has_a_row_of_its_own() -> None:
    """It is the last in any order, and part of the total."""
    rows = [LedgerRow(totals=cost(5)), *at(NOON, NOON + 24 * HOUR)]
    for order in (ReportOrder.ASC, ReportOrder.DESC):
        question = UsageQuery(group=Group.DAY, zone=UTC, order=order)
        report = make_report(rows, question)
        assert (report.rows[-1].key, report.totals.cost) == (None, 8)


def test_subagents_count_for_their_session() -> None:
    """A subagent without a session id is listed separately, under its own name."""
    rows = [
        LedgerRow(totals=cost(2), file=AGENT, moment=NOON),
        LedgerRow(totals=cost(1), file=MAIN, moment=NOON - HOUR),
        LedgerRow(totals=cost(9), file=FLAT, moment=NOON),
    ]
    assert make_report(rows, ask("session")).rows == (
        ReportRow(key="agent-f", totals=cost(9), project="/w/lib", first=NOON, last=NOON),
        ReportRow(key="s1", totals=cost(3, 2), project="/w/app", first=NOON - HOUR, last=NOON),
    )


def test_sessions_by_key_are_by_their_beginning() -> None:
    """Sessions are sorted by start time, because ids are random."""
    late = SourceFile("/c/projects/-w-app/a.jsonl", "-w-app", "a")
    rows = [
        LedgerRow(totals=cost(1), file=late, moment=NOON),
        LedgerRow(totals=cost(2), file=MAIN, moment=0),
    ]
    question = UsageQuery(group=Group.SESSION, zone=UTC, order=ReportOrder.ASC)
    assert [row.key for row in make_report(rows, question).rows] == ["s1", "a"]


@pytest.mark.parametrize(
    ("group", "rows", "expected"),
    [
        ("project", [LedgerRow(totals=cost(1), file=AGENT)], {"/w/app": 1}),
        ("model", [LedgerRow(totals=cost(1), model="m")], {"m": 1}),
        ("branch", [LedgerRow(totals=cost(1), branch="main")], {"main": 1}),
        ("branch", [LedgerRow(totals=cost(1), branch="")], {None: 1}),
        ("version", [LedgerRow(totals=cost(1), version="2.1.9")], {"2.1.9": 1}),
        ("entrypoint", [LedgerRow(totals=cost(1), entrypoint="cli")], {"cli": 1}),
        ("tool", [LedgerRow(totals=cost(3), tools="Bash\nRead")], {"Bash": 2, "Read": 1}),
        ("tool", [LedgerRow(totals=cost(4), tools="Task\nAgent")], {"Agent": 4}),
        ("tool", [LedgerRow(totals=cost(1), tools="")], {None: 1}),
        ("mcp-server", [LedgerRow(totals=cost(1), tools="Bash")], {None: 1}),
        (
            "mcp-server",
            [LedgerRow(totals=cost(9), tools="mcp__b_1__x\nmcp__a__y\nmcp__a__z")],
            {"a": 6, "b_1": 3},
        ),
        ("subagent", [LedgerRow(totals=cost(1), file=MAIN)], {"main": 1}),
        ("subagent", [LedgerRow(totals=cost(1), file=MAIN, is_sidechain=True)], {"subagent": 1}),
        ("subagent", [LedgerRow(totals=cost(1), file=AGENT)], {"subagent": 1}),
        ("subagent", [LedgerRow(totals=cost(1), file=EXPLORER)], {"Explore": 1}),
    ],
)
def test_keys(group: str, rows: Sequence[LedgerRow], expected: dict[str | None, int]) -> None:
    """Every message has one key in every group."""
    assert keys(make_report(rows, ask(group))) == expected


@given(st.integers(0, 10**9), st.integers(0, 10**6), st.integers(1, 9))
def test_a_shared_message_adds_up(tokens: int, micro: int, tools: int) -> None:
    """The remainder of a division goes to the first parts, and nothing is lost."""
    totals = Totals(input=tokens, output=7, messages=1, cost=micro)
    parts = split_evenly(totals, tools)
    assert (len(parts), add_up(parts)) == (tools, totals)
    assert all(one.input >= other.input for one, other in pairwise(parts))


def test_blocks_have_their_times() -> None:
    """Each block knows when it started and how long nothing happened before it."""
    rows = at(NOON, NOON + 4 * HOUR, NOON + 9 * HOUR)
    report = make_report(rows, ask("block"))
    assert keys(report) == {"2026-11-15T12:00:00Z": 3, "2026-11-15T21:00:00Z": 4}
    assert [row.block for row in report.rows] == [
        UsageBlock(NOON),
        UsageBlock(NOON + 9 * HOUR, idle_before=4 * HOUR),
    ]


def test_filters_do_not_move_blocks() -> None:
    """Blocks are those of the whole account, even if only part of it is counted."""
    rows = [
        LedgerRow(totals=cost(1), moment=NOON, model="opus"),
        LedgerRow(totals=cost(2), moment=NOON + 4 * HOUR, model="haiku"),
    ]
    question = UsageQuery(group=Group.BLOCK, zone=UTC, model="haiku")
    assert keys(make_report(rows, question)) == {"2026-11-15T12:00:00Z": 2}


@pytest.mark.parametrize(
    ("since", "until", "expected"),
    [
        (None, None, 7),
        (date(2026, 11, 15), None, 6),
        (None, date(2026, 11, 15), 3),
        (date(2026, 11, 15), date(2026, 11, 15), 2),
        (date(2026, 11, 17), None, 0),
    ],
)
def test_dates_are_inclusive(since: date | None, until: date | None, expected: int) -> None:
    """Both days count; messages without a time do not."""
    rows = at(NOON - 24 * HOUR, NOON, NOON + 24 * HOUR)
    if since or until:
        rows.append(LedgerRow(totals=cost(100)))
    question = UsageQuery(group=Group.MODEL, zone=UTC, since=since, until=until)
    assert make_report(rows, question).totals.cost == expected


@pytest.mark.parametrize(
    ("project", "model", "expected"),
    [("", "", 15), ("APP", "", 3), ("-w-lib", "", 4), ("elsewhere", "", 4), ("", "OPUS", 5)],
)
def test_parts_of_names_are_enough(project: str, model: str, expected: int) -> None:
    """A project matches by its working directory, that of a message, and its encoded name."""
    rows = [
        LedgerRow(totals=cost(1), file=MAIN, model="claude-opus-5-5"),
        LedgerRow(totals=cost(2), file=AGENT, model="claude-haiku-4-5"),
        LedgerRow(totals=cost(4), file=FLAT, model="claude-opus-4-1", cwd="/elsewhere"),
        LedgerRow(totals=cost(8)),
    ]
    question = UsageQuery(group=Group.MODEL, zone=UTC, project=project, model=model)
    assert make_report(rows, question).totals.cost == expected


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        (None, ["2.1.10", "2.1.9", "2.1.100", None]),
        (ReportOrder.ASC, ["2.1.9", "2.1.10", "2.1.100", None]),
        (ReportOrder.DESC, ["2.1.100", "2.1.10", "2.1.9", None]),
        (ReportOrder.COST_ASC, [None, "2.1.100", "2.1.9", "2.1.10"]),
        (ReportOrder.COST_DESC, ["2.1.10", "2.1.9", "2.1.100", None]),
    ],
)
def test_orders(order: ReportOrder | None, expected: list[str | None]) -> None:
    """Numbers in names are compared as numbers, and an unknown cost is the lowest."""
    rows = [
        LedgerRow(totals=cost(4), version="2.1.9"),
        LedgerRow(totals=cost(9), version="2.1.10"),
        LedgerRow(totals=cost(0), version="2.1.100"),
        LedgerRow(totals=Totals(messages=1, unpriced=1)),
    ]
    question = UsageQuery(group=Group.VERSION, zone=UTC, order=order)
    assert [row.key for row in make_report(rows, question).rows] == expected


def test_a_name_may_be_one_long_number() -> None:
    """A branch of thousands of digits is a name like any other."""
    names = ["9" * 6000, "1" * 6000]
    rows = [LedgerRow(totals=cost(1), branch=name) for name in names]
    question = UsageQuery(group=Group.BRANCH, zone=UTC, order=ReportOrder.ASC)
    assert [row.key for row in make_report(rows, question).rows] == names[::-1]


def test_the_breakdown_is_by_model() -> None:
    """Each row has its models, highest cost first."""
    rows = [
        LedgerRow(totals=cost(1), moment=NOON, model="haiku"),
        LedgerRow(totals=cost(5), moment=NOON, model="opus"),
        LedgerRow(totals=cost(1), moment=NOON + HOUR, model="haiku"),
    ]
    question = UsageQuery(group=Group.DAY, zone=UTC, breakdown=True)
    assert make_report(rows, question).rows == (
        ReportRow(
            key="2026-11-15",
            totals=cost(7, 3),
            models=(
                ReportRow(key="opus", totals=cost(5)),
                ReportRow(key="haiku", totals=cost(2, 2)),
            ),
        ),
    )


def test_unpriced_models_are_named() -> None:
    """Messages without a price are counted by model, those of no model under an empty name."""
    rows = [
        LedgerRow(totals=Totals(messages=3, unpriced=2), model="glm"),
        LedgerRow(totals=Totals(messages=4, unpriced=4)),
        LedgerRow(totals=cost(1), model="opus"),
    ]
    report = make_report(rows, ask("day"))
    assert (report.unpriced, report.totals) == (
        {"": 4, "glm": 2},
        Totals(10, messages=8, cost=1, unpriced=6),
    )


ROWS = st.lists(
    st.builds(
        LedgerRow,
        totals=st.builds(make_totals, st.tuples(*[st.integers(0, 1000)] * 9)),
        moment=st.none() | st.integers(NOON - 10**7, NOON),
        file=st.sampled_from([None, MAIN, AGENT, EXPLORER, FLAT]),
        model=st.sampled_from([None, "opus", "haiku"]),
        tools=st.sampled_from([None, "", "Bash", "Bash\nRead", "mcp__a__b"]),
        is_sidechain=st.booleans(),
    ),
    max_size=20,
)


@given(ROWS, st.sampled_from(list(Group)), st.sampled_from([None, *ReportOrder]))
def test_rows_add_up_to_the_total(
    rows: list[LedgerRow], group: Group, order: ReportOrder | None
) -> None:
    """In every group and order each message is in one row, and each row the sum of its models."""
    question = UsageQuery(group=group, zone=KOLKATA, order=order, breakdown=True)
    report = make_report(rows, question)
    assert add_up(row.totals for row in report.rows) == report.totals
    assert report.totals == add_up(row.totals for row in rows)
    assert all(add_up(model.totals for model in row.models) == row.totals for row in report.rows)
