"""Tests of recollect.quantities: tables of values and their texts."""

import time
from datetime import UTC, datetime, timedelta, timezone, tzinfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.quantities import (
    format_age,
    format_bytes,
    format_count,
    format_date,
    format_deletion,
    format_dollars,
    format_duration,
    format_hours,
    format_number,
    format_rate,
    format_share,
    format_short_number,
    format_time,
    format_time_range,
    format_utc,
    to_dollars,
)

NOW = datetime(2026, 11, 13, 12, tzinfo=UTC)
WEST = timezone(timedelta(hours=-8))


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0"), (999, "999"), (1_234_567, "1,234,567"), (0.6, "1")]
)
def test_numbers(number: float, text: str) -> None:
    """A number is whole, with separators."""
    assert format_number(number) == text


@pytest.mark.parametrize(
    ("number", "noun", "plural", "text"),
    [
        (0, "file", None, "0 files"),
        (1, "file", None, "1 file"),
        (1234, "file", None, "1,234 files"),
        (1, "match", "matches", "1 match"),
        (2, "match", "matches", "2 matches"),
    ],
)
def test_counts(number: int, noun: str, plural: str | None, text: str) -> None:
    """The noun agrees with its number."""
    assert format_count(number, noun, plural) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (999, "999"),
        (1_000, "1.0K"),
        (12_345, "12.3K"),
        (999_949, "999.9K"),
        (999_950, "1.0M"),
        (1_234_567_890, "1.2B"),
        (9_876_543_210_000, "9,876.5B"),
    ],
)
def test_short_numbers(number: int, text: str) -> None:
    """A short number has at most four digits until units run out."""
    assert format_short_number(number) == text


@pytest.mark.parametrize(
    ("count", "language", "text"),
    [
        (0, "en", "0 bytes"),
        (1, "en", "1 byte"),
        (999, "en", "999 bytes"),
        (1, "zh", "1 字节"),
        (999, "zh", "999 字节"),
        (1000, "en", "1.0 KB"),
        (1000, "zh", "1.0 KB"),
        (196_012, "en", "196.0 KB"),
        (999_960, "en", "1.0 MB"),
        (34_901_738, "en", "34.9 MB"),
        (5_000_000_000, "en", "5.0 GB"),
        (7_200_000_000_000, "en", "7.2 TB"),
        (7_200_000_000_000_000, "en", "7,200.0 TB"),
    ],
)
def test_sizes(count: int, language: str, text: str) -> None:
    """A size has at most three digits before the point until units run out."""
    assert format_bytes(count, language) == text


@pytest.mark.parametrize(
    ("dollars", "places", "text"),
    [
        (0, 2, "$0.00"),
        (0.004, 2, "<$0.01"),
        (0.0076, 2, "$0.01"),
        (0.01, 2, "$0.01"),
        (1234.567, 2, "$1,234.57"),
        (-1.234567, 2, "-$1.23"),
        (-0.004, 2, "$0.00"),
        (0.001234, 4, "$0.0012"),
        (0.00764, 4, "$0.0076"),
        (0.00001, 4, "<$0.0001"),
        (0.00000001, 4, "$0.0000"),
        (-0.00000001, 4, "$0.0000"),
        (-0.5, 4, "-$0.5000"),
    ],
)
def test_dollars(dollars: float, places: int, text: str) -> None:
    """Small amounts are not shown as zero, and zero has no sign."""
    assert format_dollars(dollars, places) == text


def test_dollars_are_exact_to_the_millionth() -> None:
    """No digit is lost or made up."""
    assert [to_dollars(micro) for micro in (1_234_567, 3, None)] == [1.234567, 0.000003, None]


@pytest.mark.parametrize(
    ("share", "text"), [(0, "0%"), (0.0001, "<1%"), (0.005, "<1%"), (0.0051, "1%"), (1, "100%")]
)
def test_shares(share: float, text: str) -> None:
    """A small share is not shown as zero."""
    assert format_share(share) == text


@pytest.mark.parametrize(
    ("dollars", "text"), [(0.2, "$0.2"), (20, "$20"), (0.015, "$0.015"), (1500, "$1,500")]
)
def test_rates(dollars: float, text: str) -> None:
    """A price has as many digits as it needs."""
    assert format_rate(dollars) == text


@pytest.mark.parametrize(
    ("milliseconds", "english", "chinese"),
    [
        (0, "0 ms", "0 毫秒"),
        (999, "999 ms", "999 毫秒"),
        (999.7, "1.0 s", "1.0 秒"),
        (1_450, "1.4 s", "1.4 秒"),
        (59_960, "1 min 0 s", "1 分 0 秒"),
        (61_000, "1 min 1 s", "1 分 1 秒"),
        (3_599_600, "1 h 0 min", "1 小时 0 分"),
        (7_260_000, "2 h 1 min", "2 小时 1 分"),
        (90_000_000, "1 d 1 h", "1 天 1 小时"),
        (99_999_999_999, "1,157 d 9 h", "1,157 天 9 小时"),
    ],
)
def test_durations(milliseconds: float, english: str, chinese: str) -> None:
    """A duration has its one or two largest units, in the language of the reader."""
    assert (format_duration(milliseconds), format_duration(milliseconds, "zh")) == (
        english,
        chinese,
    )


@given(st.integers(min_value=0, max_value=10**12))
def test_a_duration_never_overflows_its_unit(milliseconds: int) -> None:
    """No text has 60 seconds, 60 minutes or 24 hours instead of the next unit."""
    words = format_duration(milliseconds).split(" ")
    limits = {"ms": 1000, "s": 60, "min": 60, "h": 24}
    for number, unit in zip(words[::2], words[1::2], strict=True):
        assert float(number.replace(",", "")) < limits.get(unit, 10**9)


@pytest.mark.parametrize(
    ("seconds", "text"), [(-5, "0h 00m"), (59, "0h 00m"), (300, "0h 05m"), (8_100, "2h 15m")]
)
def test_hours(seconds: int, text: str) -> None:
    """The time left in a block is never negative."""
    assert format_hours(seconds) == text


@pytest.mark.parametrize(
    ("moment", "zone", "text"),
    [
        (datetime(2026, 11, 13, 12, 34, 56, tzinfo=UTC), UTC, "2026-11-13 12:34"),
        (datetime(2026, 11, 13, 4, tzinfo=UTC), WEST, "2026-11-12 20:00"),
        (datetime(1, 1, 1, tzinfo=UTC), WEST, "0001-01-01 00:00"),
        (NOW.timestamp(), UTC, "2026-11-13 12:00"),
        (1e18, UTC, ""),
        (None, UTC, ""),
    ],
)
def test_times(moment: datetime | float | None, zone: tzinfo, text: str) -> None:
    """Times are in the given zone; a missing time is an empty string."""
    assert format_time(moment, zone) == text


def test_times_are_local_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a zone, days and times are local."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        texts = (format_date(NOW.timestamp()), format_time(NOW + timedelta(hours=4)))
    time.tzset()
    assert texts == ("2026-11-13", "2026-11-14 01:00")


@pytest.mark.parametrize(
    ("start", "end", "text"),
    [
        (NOW, NOW + timedelta(minutes=90), "2026-11-13 12:00 to 13:30"),
        (NOW, NOW + timedelta(hours=13), "2026-11-13 12:00 to 2026-11-14 01:00"),
        (NOW, NOW + timedelta(seconds=30), "2026-11-13 12:00"),
        (None, NOW, "2026-11-13 12:00"),
        (None, None, ""),
    ],
)
def test_time_ranges(start: datetime | None, end: datetime | None, text: str) -> None:
    """A range repeats the day only if it ends on another one."""
    assert format_time_range(start, end, UTC) == text


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (NOW, "2026-11-13T12:00:00Z"),
        (NOW.replace(tzinfo=WEST, microsecond=999_999), "2026-11-13T20:00:00Z"),
        (1_794_744_000, "2026-11-15T12:00:00Z"),
        (-1, "1969-12-31T23:59:59Z"),
    ],
)
def test_times_in_documents(moment: datetime | int, text: str) -> None:
    """A time is written as in records, to the second."""
    assert format_utc(moment) == text


@pytest.mark.parametrize(
    ("minutes", "text"),
    [
        (-5, "just now"),
        (0.5, "just now"),
        (1, "1 min ago"),
        (59, "59 min ago"),
        (60, "1 h ago"),
        (23 * 60, "23 h ago"),
        (24 * 60, "1 d ago"),
        (6 * 24 * 60, "6 d ago"),
        (7 * 24 * 60, "1 w ago"),
        (34 * 24 * 60, "4 w ago"),
        (35 * 24 * 60, "2026-10-09"),
    ],
)
def test_ages(minutes: float, text: str) -> None:
    """An age beyond five weeks is a date; a clock that went back gives no negative age."""
    assert format_age(NOW.timestamp() - minutes * 60, NOW) == text


@pytest.mark.parametrize(
    ("hours", "text"),
    [(-1, "at its next start"), (1, "within a day"), (25, "in 1 day"), (50, "in 2 days")],
)
def test_deletions(hours: int, text: str) -> None:
    """Claude Code deletes an expired session when it starts, not before."""
    assert format_deletion(NOW + timedelta(hours=hours), NOW) == text
