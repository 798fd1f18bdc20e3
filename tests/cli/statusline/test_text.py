"""Tests of recollect.cli.statusline."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.cli.statusline import NOTHING, count_columns, make_line
from recollect.cli.statusline_figures import (
    CurrentBlock,
    IndexState,
    StatusInput,
    StatuslineFigures,
)
from recollect.render.terminal import measure
from recollect.store.quick_totals import TotalsSum

NOW = 1_794_470_400
STATUS = StatusInput(model="Opus 4.5", context_percent=41.7)
FULL = StatuslineFigures(
    status=STATUS,
    state=IndexState.CURRENT,
    session=TotalsSum(1_234_500, 0),
    is_session_from_client=True,
    today=TotalsSum(8_100_000, 2),
    block=CurrentBlock(
        NOW - 7_200, NOW + 10_800, TotalsSum(3_200_000, 0), 41.2, is_from_client=True
    ),
)
LONG = "Opus 4.5 | context 42% | session $1.23 | today ≥$8.10 | block $3.20 41% used, 3h 00m left"
EMPTY = StatuslineFigures(StatusInput(), IndexState.CURRENT, None, False, None, None)


@pytest.mark.parametrize(
    ("columns", "line"),
    [
        (200, LONG),
        (60, "Opus 4.5 | 42% | $1.23 | today ≥$8.10 | 5h $3.20 41% 3h00m"),
        (40, "Opus 4.5 | 42% | $1.23 | today ≥$8.10"),
        (20, "Opus 4.5 | 42%"),
        (8, "Opus 4.5"),
        (5, "Op….5"),
    ],
)
def test_a_line_gives_way_from_its_end(columns: int, line: str) -> None:
    """Labels are shortened first, then the last parts are dropped, then the model is cut."""
    assert make_line(FULL, NOW, columns) == line


def test_a_block_may_be_known_by_its_end_alone() -> None:
    """Without an index the client's own limit is still shown."""
    block = CurrentBlock(NOW - 7_200, NOW + 10_800, None, None, is_from_client=True)
    figures = EMPTY._replace(block=block)
    assert [make_line(figures, NOW, columns) for columns in (80, 10)] == [
        "block 3h 00m left",
        "5h 3h00m",
    ]


@pytest.mark.parametrize(
    ("state", "line"),
    [
        (IndexState.MISSING, "Opus 4.5 | context 42% | today: run `recollect index` once"),
        (IndexState.UNREADABLE, "Opus 4.5 | context 42% | today: see `recollect doctor`"),
    ],
)
def test_a_line_explains_why_a_day_has_no_cost(state: IndexState, line: str) -> None:
    """The line says what is missing and what to do about it."""
    assert make_line(EMPTY._replace(status=STATUS, state=state), NOW, 80) == line


def test_a_line_is_never_empty() -> None:
    """If nothing is known, the line says so."""
    assert make_line(EMPTY, NOW, 80) == NOTHING


def test_a_hostile_model_cannot_drive_the_terminal() -> None:
    """Its name is printed safely."""
    figures = EMPTY._replace(status=StatusInput(model="\x1b]0;owned\x07\nOpus"))
    assert make_line(figures, NOW, 80) == "␛]0;owned\u2039U+0007\u203a\u2039U+000A\u203aOpus"


@given(st.integers(1, 120))
def test_a_line_always_fits(columns: int) -> None:
    """The line is a single line within the width, and not empty."""
    line = make_line(FULL, NOW, columns)
    assert 0 < measure(line) <= columns


@pytest.mark.parametrize(
    ("stated", "columns"), [("60", 60), ("", 1000), ("0", 1000), ("-5", 1000), ("wide", 1000)]
)
def test_only_a_number_is_a_width(stated: str, columns: int) -> None:
    """Without a width from the client, the whole line is printed."""
    assert count_columns({"COLUMNS": stated}) == columns
