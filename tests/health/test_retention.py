"""Tests of recollect.health.retention."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from recollect.health.retention import (
    Retention,
    find_expiry,
    list_expiries,
    read_retention,
    read_retentions,
    select_until,
)
from recollect.locations import discover_root

WRITTEN = datetime(2026, 11, 1, 12, tzinfo=UTC)


def make_root(path: Path, settings: str | None = None) -> Path:
    """A Claude directory with these settings and two sessions, written a day apart."""
    project = path / "projects" / "p"
    (project / "one" / "subagents").mkdir(parents=True)
    names = ("one.jsonl", "two.jsonl", "one/subagents/agent-x.jsonl")
    for day, name in enumerate(names):
        (project / name).write_text("{}\n", encoding="utf-8")
        moment = (WRITTEN + timedelta(days=day)).timestamp()
        os.utime(project / name, (moment, moment))
    if settings is not None:
        (path / "settings.json").write_text(settings, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (None, Retention()),
        ("{}", Retention()),
        ("[]", Retention()),
        ('{"cleanupPeriodDays": 90}', Retention(days=90, is_set=True)),
        ('{"cleanupPeriodDays": 0.5}', Retention(days=0.5, is_set=True)),
        (
            '{"cleanupPeriodDays": 0}',
            Retention(problem="cleanupPeriodDays is not a positive number"),
        ),
        (
            '{"cleanupPeriodDays": true}',
            Retention(problem="cleanupPeriodDays is not a positive number"),
        ),
        (
            '{"cleanupPeriodDays": "9"}',
            Retention(problem="cleanupPeriodDays is not a positive number"),
        ),
        ("{", Retention(problem="settings.json is not valid JSON")),
    ],
)
def test_settings_say_how_long(tmp_path: Path, settings: str | None, expected: Retention) -> None:
    """A positive number of days is used; anything else is reported, and the default is used."""
    assert read_retention(make_root(tmp_path, settings)) == expected


def test_unreadable_settings_are_reported(tmp_path: Path) -> None:
    """A directory in place of the settings is a problem, not a missing file."""
    (tmp_path / "settings.json").mkdir()
    assert read_retention(tmp_path) == Retention(problem="settings.json cannot be read")


def test_sessions_expire_in_the_order_of_their_times(tmp_path: Path) -> None:
    """Each some days after the last change; subagents expire with their session."""
    transcripts = discover_root(make_root(tmp_path)).transcripts
    expiries = list_expiries(transcripts, Retention(days=10))
    assert [(each.transcript.path.name, each.at) for each in expiries] == [
        ("one.jsonl", WRITTEN + timedelta(days=10)),
        ("two.jsonl", WRITTEN + timedelta(days=11)),
    ]
    assert select_until(expiries, WRITTEN + timedelta(days=10)) == expiries[:1]


def test_the_end_of_the_calendar_is_far_enough(tmp_path: Path) -> None:
    """A very large number keeps everything."""
    transcripts = discover_root(make_root(tmp_path)).transcripts
    ends = {each.at for each in list_expiries(transcripts, Retention(days=99_999_999))}
    assert ends == {datetime.max.replace(tzinfo=UTC)}


def test_each_root_has_its_own_rule(tmp_path: Path) -> None:
    """A transcript follows the settings of its root, the innermost if nested."""
    outer = make_root(tmp_path / "claude", '{"cleanupPeriodDays": 10}')
    inner = make_root(outer / "inner", '{"cleanupPeriodDays": 20}')
    beside = make_root(tmp_path / "claude-2", '{"cleanupPeriodDays": 99999999}')
    retentions = read_retentions([outer, inner, beside])
    paths = [str(root / "projects" / "p" / "one.jsonl") for root in (outer, inner, beside)]
    found = [find_expiry(path, WRITTEN.timestamp(), retentions) for path in paths]
    assert found == [WRITTEN + timedelta(days=10), WRITTEN + timedelta(days=20), None]
    assert find_expiry("/elsewhere/one.jsonl", WRITTEN.timestamp(), retentions) is None
