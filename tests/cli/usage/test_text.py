"""Tests of recollect.cli.usage_text: a report as a person sees it."""

import click
import pytest
from msgspec.structs import replace

from recollect.cli.usage_text import iter_usage
from recollect.documents.usage_groups import Group
from recollect.render.terminal import measure
from recollect.usage.reports import ReportOrder, UsageQuery, make_report
from recollect.usage.totals import (
    BurnRate,
    LedgerRow,
    SourceFile,
    Totals,
    UsageBlock,
    measure_burn_rate,
)
from recollect.usage.zones import load_zone

HOUR = 3600
NOON = 1_794_744_000
BERLIN = load_zone("Europe/Berlin")
ROWS = [
    LedgerRow(
        totals=Totals(
            1_234, 56_789, 9_876_543, 123_456, 7_890, 2, messages=12, cost=12_345_678, unpriced=0
        ),
        moment=NOON,
        model="claude-opus-5-5",
    ),
    LedgerRow(
        totals=Totals(700, 3_000, messages=7, unpriced=7), moment=NOON + 24 * HOUR, model="glm-4.6"
    ),
    LedgerRow(
        totals=Totals(70, 300, messages=2, cost=4_000_000),
        moment=NOON + 24 * HOUR,
        model="claude-opus-5-5",
    ),
]


def draw(rows: list[LedgerRow], question: UsageQuery, columns: int = 80) -> str:
    """The report without colours."""
    lines = iter_usage(make_report(rows, question), columns)
    return click.unstyle("\n".join(lines))


def test_a_report_names_its_zone_and_what_its_costs_are() -> None:
    """An estimate must not look like a bill, nor a day like one in another zone."""
    question = UsageQuery(group=Group.DAY, zone=BERLIN)
    assert draw(ROWS, question) == (
        "Usage by day. Costs are a list-price estimate, not a bill. Times are in\n"
        "Europe/Berlin.\n"
        "\n"
        "Day         Messages  Input  Output  Cache write  Cache read      Cost\n"
        "2026-11-15        12  1,234  56,789      131,346   9,876,543    $12.35\n"
        "2026-11-16         9    770   3,300            0           0   ≥ $4.00\n"
        "Total             21  2,004  60,089      131,346   9,876,543  ≥ $16.35\n"
        "\n"
        "7 messages without a known price: glm-4.6 7. Costs with ≥ leave them out; see\n"
        "docs/pricing.md to add a price."
    )


def test_a_breakdown_is_below_its_row() -> None:
    """The models of a row are indented, the costliest first."""
    question = UsageQuery(group=Group.DAY, zone=BERLIN, breakdown=True, order=ReportOrder.DESC)
    assert draw(ROWS, question, 60).split("\n")[3:9] == [
        "Day                Input  Output   Write  Read      Cost",
        "2026-11-16           770    3.3K       0     0   ≥ $4.00",
        "  claude-opus-5-5     70     300       0     0     $4.00",
        "  glm-4.6            700    3.0K       0     0   unknown",
        "2026-11-15          1.2K   56.8K  131.3K  9.9M    $12.35",
        "  claude-opus-5-5   1.2K   56.8K  131.3K  9.9M    $12.35",
    ]


@pytest.mark.parametrize(
    ("order", "labels"),
    [
        (ReportOrder.ASC, ["2026-11-15 13:00", "  (idle for 19 hours)", "2026-11-16 13:00"]),
        (ReportOrder.DESC, ["2026-11-16 13:00", "  (idle for 19 hours)", "2026-11-15 13:00"]),
        (ReportOrder.COST_DESC, ["2026-11-15 13:00", "2026-11-16 13:00"]),
    ],
)
def test_time_without_blocks_is_shown_where_it_was(order: ReportOrder, labels: list[str]) -> None:
    """Gaps are between the blocks around them, and left out if blocks are not in order."""
    question = UsageQuery(group=Group.BLOCK, zone=BERLIN, order=order)
    lines = draw(ROWS, question, 120).split("\n")[3 : 3 + len(labels)]
    assert [line[:24].rstrip() for line in lines] == labels


def test_the_current_block_has_a_pace() -> None:
    """The current block is marked, and its burn rate is below the table."""
    question = UsageQuery(group=Group.BLOCK, zone=BERLIN)
    report = make_report(ROWS[:1], question)
    burn_rate = measure_burn_rate(UsageBlock(NOON), report.totals, NOON, NOON + 2 * HOUR)
    lines = click.unstyle("\n".join(iter_usage(report, 85, burn_rate))).split("\n")
    assert lines[4:] == [
        "2026-11-15 13:00 (now)        12  1,234  56,789      131,346   9,876,543  $12.35",
        "Total                         12  1,234  56,789      131,346   9,876,543  $12.35",
        "",
        "The current block ends in 3 h 0 min. So far 83.9K tokens per minute and $6.17 per",
        "hour; projected total: 25.2M tokens and $30.86.",
    ]


def test_the_pace_of_what_has_no_price() -> None:
    """Tokens can be projected without a price, money cannot."""
    burn_rate = BurnRate(UsageBlock(NOON), 60, 61.4, 20, None, 2_000, None)
    report = make_report(ROWS[:1], UsageQuery(group=Group.BLOCK, zone=BERLIN))
    text = click.unstyle("\n".join(iter_usage(report, 200, burn_rate)))
    assert text.split("\n")[-1] == (
        "The current block ends in 1 h 1 min. So far 20 tokens per minute and unknown per hour; "
        "projected total: 2.0K tokens and unknown."
    )


def test_sessions_go_by_the_start_of_their_id() -> None:
    """Eight characters are enough to ask about a session; other names are shown whole."""
    ids = ("94791a87-9d13-410a-a632-25a9b25c1b45", "my-session")
    files = [SourceFile(f"/c/{name}.jsonl", "-w", name, project_path="/w/app") for name in ids]
    rows = [
        LedgerRow(totals=Totals(messages=1, cost=10 - at), file=file)
        for at, file in enumerate(files)
    ]
    lines = draw(rows, UsageQuery(group=Group.SESSION, zone=BERLIN)).split("\n")
    assert [line[:20].rstrip() for line in lines[3:6]] == [
        "Session",
        "94791a87  /w/app",
        "my-session  /w/app",
    ]


@pytest.mark.parametrize("columns", range(60, 201, 20))
def test_titles_are_below_their_sessions(columns: int) -> None:
    """A title is one harmless line, cut at its end, and takes no room from the figures."""
    file = SourceFile("/c/one.jsonl", "-w", "one", project_path="/w/app")
    rows = [LedgerRow(totals=Totals(messages=1, cost=10), file=file)]
    report = make_report(rows, UsageQuery(group=Group.SESSION, zone=BERLIN))
    titled = replace(report, rows=(replace(report.rows[0], title="\x1b[2J 潮\n" + "word " * 80),))
    bare, full = (
        click.unstyle("\n".join(iter_usage(each, columns))).split("\n") for each in (report, titled)
    )
    title = full.pop(full.index(next(line for line in full if line.startswith("one"))) + 1)
    assert full == bare
    assert title.startswith("  ␛[2J 潮 word word ")
    assert (title[-1], columns - 1 <= measure(title) <= columns) == ("…", True)


@pytest.mark.parametrize(
    ("group", "label"),
    [
        ("day", "(no date)"),
        ("block", "(no date)"),
        ("session", "(unknown)  (unknown)"),
        ("project", "(unknown)"),
        ("branch", "(no git branch)"),
        ("tool", "(no tool)"),
        ("mcp-server", "(no MCP server)"),
        ("version", "(unknown)"),
    ],
)
def test_missing_keys_have_a_name(group: str, label: str) -> None:
    """A row without a key says what is missing."""
    question = UsageQuery(group=Group(group), zone=load_zone("UTC"))
    row = draw([LedgerRow(totals=Totals(messages=1))], question, 120).split("\n")[3]
    assert row.startswith(f"{label}  ")


def test_names_cannot_drive_the_terminal() -> None:
    """Any branch name is printed as one line of safe text."""
    rows = [
        LedgerRow(
            totals=Totals(messages=1, unpriced=1), branch="a\x1b[2J\nb", model="m\x1b[31m\u202e"
        )
    ]
    text = "\n".join(
        iter_usage(
            make_report(rows, UsageQuery(group=Group.BRANCH, zone=BERLIN, breakdown=True)), 120
        )
    )
    plain = click.unstyle(text)
    assert [character for character in plain if character in "\x1b\u202e"] == []
    assert plain.split("\n")[3].startswith("a␛[2J‹U+000A›b  ")


def test_no_usage_is_reported() -> None:
    """An empty report has no table."""
    assert (
        draw([], UsageQuery(group=Group.DAY, zone=BERLIN), 120).split("\n")[-1]
        == "No usage in this range."
    )
