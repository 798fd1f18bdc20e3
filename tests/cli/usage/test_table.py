"""Tests of recollect.cli.usage_text."""

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.cli.usage_text import TableLine, choose_decimals, iter_usage_table, show_cost
from recollect.render.terminal import measure
from recollect.usage.totals import Totals, make_totals

LARGE = Totals(
    1_234_567,
    7_654_321,
    987_654_321,
    12_345_678,
    0,
    0,
    messages=1_234,
    cost=1_234_567_890,
    unpriced=0,
)
SMALL = Totals(2, 3, 0, 0, 0, 0, messages=1, cost=617_283_945, unpriced=0)
LINES = [
    TableLine("2026-11-14", LARGE),
    TableLine("  (nothing)"),
    TableLine("2026-11-15", SMALL, client_cost=5_000_000),
    TableLine("Total", LARGE + SMALL, is_strong=True),
]


def draw(columns: int, lines: list[TableLine] = LINES) -> list[str]:
    """The table without colours."""
    return [click.unstyle(line) for line in iter_usage_table("Day", lines, columns)]


@pytest.mark.parametrize(
    ("totals", "shown"),
    [
        (Totals(), "$0.00"),
        (Totals(messages=2, cost=1_234_567), "$1.23"),
        (Totals(messages=2, cost=1_234_567, unpriced=1), "≥ $1.23"),
        (Totals(messages=2, unpriced=2), "unknown"),
    ],
)
def test_what_is_known_of_a_cost(totals: Totals, shown: str) -> None:
    """An unknown price is never shown as nothing."""
    assert show_cost(totals, 2) == shown


def test_small_costs_have_more_places() -> None:
    """If no cost in a table reaches a dollar, cents are too coarse."""
    assert [choose_decimals([999_999]), choose_decimals([5, 1_000_000]), choose_decimals([])] == [
        4,
        2,
        4,
    ]


def test_a_wide_terminal_has_full_numbers_and_bars() -> None:
    """Bars compare costs, and the total has none."""
    lines = [line for line in LINES if line.client_cost is None]
    assert draw(110, lines) == [
        "Day         Messages      Input     Output  Cache write   Cache read       Cost",
        "2026-11-14     1,234  1,234,567  7,654,321   12,345,678  987,654,321  $1,234.57  "
        + "█" * 24,
        "  (nothing)",
        "Total          1,235  1,234,569  7,654,324   12,345,678  987,654,321  $1,851.85",
    ]


def test_the_figure_of_the_client_is_next_to_ours() -> None:
    """Only rows that have one show it, and the column is there only if one of them does."""
    assert [line.split()[-1] for line in draw(100)] == ["Code's", "-", "(nothing)", "$5.00", "-"]


def test_columns_give_way_in_steps() -> None:
    """First the numbers get short, then the messages go, then all tokens become one column."""
    plain = [TableLine("2026-11-14", LARGE)]
    assert [draw(columns, plain)[0] for columns in (80, 60, 52, 36)] == [
        "Day         Messages      Input     Output  Cache write   Cache read       Cost",
        "Day         Msgs  Input  Output  Write    Read       Cost",
        "Day         Input  Output  Write    Read       Cost",
        "Day         Tokens       Cost",
    ]


def test_numbers_can_be_short_in_a_wide_terminal() -> None:
    """`--compact` abbreviates numbers, and bars are still shown."""
    lines = iter_usage_table("Day", [TableLine("2026-11-14", LARGE)], 120, is_compact=True)
    assert list(lines)[1] == (
        "2026-11-14  1.2K   1.2M    7.7M  12.3M  987.7M  $1,234.57  " + "█" * 24
    )


def test_a_long_name_is_cut_in_its_middle() -> None:
    """Both ends of a name are more informative than its middle."""
    line = TableLine("/home/mina/projects/tidepool/packages/server", SMALL)
    assert draw(60, [line])[1] == "/home/mina/pro…cts/tidepool/packages/server       5  $617.28"


def test_nothing_to_compare_has_no_bars() -> None:
    """Without a cost there is nothing to draw."""
    assert draw(200, [TableLine("a", Totals(messages=1, unpriced=1))])[1].endswith("unknown")


def test_headings_and_totals_stand_out() -> None:
    """Titles and the total are bold, remarks faint, and rows plain."""
    lines = list(iter_usage_table("Day", LINES, 80))
    assert [line[:4] for line in lines] == ["\x1b[1m", "2026", "\x1b[2m", "2026", "\x1b[1m"]


TOTALS = st.builds(make_totals, st.tuples(*[st.integers(0, 10**15)] * 9))
TABLE_LINES = st.builds(
    TableLine, st.text(alphabet="abc漢字", max_size=60), TOTALS, st.none(), st.booleans()
)


@given(st.lists(TABLE_LINES, min_size=1), st.integers(60, 200))
def test_no_line_is_too_long(lines: list[TableLine], columns: int) -> None:
    """The table fits the terminal, whatever is counted."""
    assert max(measure(line) for line in draw(columns, lines)) <= columns
