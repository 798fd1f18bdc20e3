"""Tests of recollect.render.terminal.terminal_turns."""

from datetime import UTC, timedelta, timezone, tzinfo

import pytest

from recollect.render.terminal.terminal_turns import show_moment, show_span

WEST = timezone(timedelta(hours=-8))


@pytest.mark.parametrize(
    ("timestamp", "zone", "shown"),
    [
        ("2026-11-13T12:34:56.789Z", UTC, "2026-11-13 12:34"),
        ("2026-11-13T04:00:00Z", WEST, "2026-11-12 20:00"),
        ("0001-01-01T00:00:00Z", WEST, "0001-01-01 00:00"),
        ("soon", UTC, ""),
        (None, UTC, ""),
    ],
)
def test_a_moment_is_that_of_the_clock(timestamp: str | None, zone: tzinfo, shown: str) -> None:
    """Times are those of the wall; what is no time shows nothing, and none is too early."""
    assert show_moment(timestamp, zone) == shown


@pytest.mark.parametrize(
    ("start", "end", "shown"),
    [
        ("2026-11-13T12:00:00Z", "2026-11-13T13:30:00Z", "2026-11-13 12:00 to 13:30"),
        ("2026-11-13T12:00:00Z", "2026-11-14T01:00:00Z", "2026-11-13 12:00 to 2026-11-14 01:00"),
        ("2026-11-13T12:00:00Z", "2026-11-13T12:00:30Z", "2026-11-13 12:00"),
        (None, "2026-11-13T12:00:00Z", "2026-11-13 12:00"),
        (None, None, ""),
    ],
)
def test_a_span_names_the_day_once(start: str | None, end: str | None, shown: str) -> None:
    """From when to when, as short as it can be said."""
    assert show_span(start, end, UTC) == shown
