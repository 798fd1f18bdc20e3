"""Timestamps and durations."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.session.times import find_range, merge_by_time, milliseconds_between, parse_time

NOON = "2026-01-01T12:00:00.000Z"
LATER = "2026-01-01T12:00:01.250Z"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (NOON, datetime(2026, 1, 1, 12, tzinfo=UTC)),
        (
            "2026-01-01T14:00:00+02:00",
            datetime(2026, 1, 1, 14, tzinfo=timezone(timedelta(hours=2))),
        ),
        ("2026-01-01T12:00:00", datetime(2026, 1, 1, 12, tzinfo=UTC)),
        ("yesterday", None),
        ("", None),
        (None, None),
    ],
)
def test_a_moment_has_a_time_zone(text: str | None, expected: datetime | None) -> None:
    """A timestamp without a time zone is in UTC."""
    assert parse_time(text) == expected


@given(st.text())
def test_no_text_is_refused(text: str) -> None:
    """Any value in place of a timestamp gives a time or None, never an error."""
    moment = parse_time(text)
    assert moment is None or moment.tzinfo is not None


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (NOON, LATER, 1250.0),
        (NOON, NOON, 0.0),
        (LATER, NOON, None),
        (None, NOON, None),
        (NOON, "soon", None),
    ],
)
def test_time_runs_forward(start: str | None, end: str | None, expected: float | None) -> None:
    """A duration needs two valid times in order."""
    assert milliseconds_between(start, end) == expected


def test_a_range_is_by_moment_and_not_by_text() -> None:
    """Times in several zones and any order give the earliest and latest, as written."""
    early = "2026-01-01T13:00:00+02:00"
    assert find_range([LATER, None, early, "never", NOON]) == (early, LATER)


def test_nothing_has_no_range() -> None:
    """Without a valid timestamp there is no first and no last."""
    assert find_range([None, "", "never"]) == (None, None)


def test_streams_merge_by_time() -> None:
    """Streams are interleaved, and each keeps its own order."""
    first: list[tuple[str, str | None]] = [
        ("a", "2026-01-01T10:00:00Z"),
        ("b", None),
        ("c", "2026-01-01T09:00:00Z"),
    ]
    second: list[tuple[str, str | None]] = [
        ("d", "2026-01-01T09:30:00Z"),
        ("e", "2026-01-01T11:00:00Z"),
    ]
    merged = merge_by_time([first, second], lambda pair: pair[1])
    assert [name for name, _ in merged] == ["d", "a", "b", "c", "e"]
