"""The clock of the command line."""

from datetime import UTC, datetime, timedelta

import pytest

from recollect.cli.clock import NOW_VARIABLE, read_clock
from recollect.errors import UsageError


def test_without_a_setting_the_clock_is_the_real_one() -> None:
    """Two readings around the real time enclose it."""
    before = datetime.now(UTC)
    assert before <= read_clock() <= before + timedelta(minutes=5)


@pytest.mark.parametrize("stated", ["2026-11-13T12:00:00Z", "2026-11-13T13:00:00+01:00"])
def test_a_stated_time_is_taken(monkeypatch: pytest.MonkeyPatch, stated: str) -> None:
    """Any time zone works, and both of these are the same moment."""
    monkeypatch.setenv(NOW_VARIABLE, stated)
    assert read_clock() == datetime(2026, 11, 13, 12, tzinfo=UTC)


def test_a_stated_time_without_a_zone_is_utc(monkeypatch: pytest.MonkeyPatch) -> None:
    """A setting means the same on every machine."""
    monkeypatch.setenv(NOW_VARIABLE, "2026-11-13T12:00:00")
    assert read_clock() == datetime(2026, 11, 13, 12, tzinfo=UTC)


def test_a_time_that_is_none_is_a_wrong_request(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message shows the right format."""
    monkeypatch.setenv(NOW_VARIABLE, "noon")
    with pytest.raises(UsageError) as error:
        read_clock()
    assert (
        str(error.value) == "RECOLLECT_NOW: 'noon' is not a valid time (try 2026-11-13T12:00:00Z)."
    )
