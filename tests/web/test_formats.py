"""Figures as people read them."""

import pytest

from recollect.web.formats import (
    count_days_left,
    show_base_name,
    show_exact_money,
    show_rate,
    show_time,
)

NOON = 1_794_744_000
"""2026-11-15T12:00:00Z."""


@pytest.mark.parametrize(
    ("moment", "days"),
    [
        ("2026-11-15T12:00:00+00:00", 0),
        ("2026-11-16T11:59:59+00:00", 0),
        ("2026-11-16T12:00:00+00:00", 1),
        ("2026-11-22T13:00:00+01:00", 7),
        ("2026-11-01T00:00:00+00:00", 0),
        ("9999-12-31T23:59:59+00:00", 2_912_124),
    ],
)
def test_days_left(moment: str, days: int) -> None:
    """Whole days only, and none for what is over."""
    assert count_days_left(moment, NOON) == days


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/home/mina/projects/tidepool", "tidepool"),
        ("/home/mina/projects/tidepool/", "tidepool"),
        (r"C:\Users\mina\notes", "notes"),
        ("-home-mina-notes", "-home-mina-notes"),
        ("/", "/"),
        ("", ""),
        ("/home/mina/文档/菜谱", "菜谱"),
    ],
)
def test_base_names(path: str, name: str) -> None:
    """The last part of a path, whichever system it is of."""
    assert show_base_name(path) == name


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "—"),
        (0.00764, "$0.0076"),
        (1234.5, "$1,234.5000"),
        (-0.5, "\N{MINUS SIGN}$0.5000"),
        (-0.00000001, "$0.0000"),
    ],
)
def test_exact_money(value: float | None, shown: str) -> None:
    """Enough digits to add up, a sign for less, and no minus before nothing."""
    assert show_exact_money(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"), [(0.2, "$0.2"), (20, "$20"), (0.015, "$0.015"), (1500, "$1,500")]
)
def test_rates(value: float, shown: str) -> None:
    """As many digits as it takes."""
    assert show_rate(value) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (None, ""),
        ("2026-11-12T06:00:00.000Z", "2026-11-12 06:00"),
        ("2026-11-12T06:00:00", "2026-11-12 06:00"),
        ("not a moment at all, but long", "not a moment at "),
    ],
)
def test_times_of_records(text: str | None, shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A moment is shown where the server runs, and any other text as far as there is room."""
    monkeypatch.setenv("TZ", "UTC")
    assert show_time(text) == shown
