"""Tests of recollect.health.root_checks."""

from datetime import UTC, datetime
from pathlib import Path

from recollect.health.root_checks import (
    INDEX_BYTES_PER_SECOND,
    ExpiringSession,
    FirstRunOverview,
    build_first_run_overview,
)
from recollect.sync.index_access import find_transcripts
from tests.library.claude_root import FIRST, SECOND, ClaudeRoot, prompt, seconds_of, title

DAY = 24 * 3600


def look(root: ClaudeRoot, day: int) -> FirstRunOverview:
    """Return the overview this many days after the first morning."""
    now = datetime.fromtimestamp(seconds_of(day * DAY), UTC)
    return build_first_run_overview([root.path], find_transcripts([root.path]), now)


def test_the_overview_counts_everything(tmp_path: Path) -> None:
    """Sessions, projects, bytes, the oldest, and what is about to be deleted."""
    root = ClaudeRoot(tmp_path)
    root.session(FIRST, prompt("a"), title("The pond"), modified=0)
    path = root.session(SECOND, prompt("b"), project="-other", modified=20 * DAY)
    root.agent(f"{FIRST}/subagents", "a1", prompt("look"))
    size = sum(each.size for each in find_transcripts([tmp_path]))
    assert look(root, 25) == FirstRunOverview(
        sessions=2,
        projects=2,
        bytes=size,
        oldest=seconds_of(0),
        index_seconds=size / INDEX_BYTES_PER_SECOND,
        retention_days=30,
        expiring=1,
        next_expiring=(
            ExpiringSession(
                id=FIRST, title="The pond", at=datetime.fromtimestamp(seconds_of(30 * DAY), UTC)
            ),
        ),
    )
    path.unlink()
    assert look(root, 20).expiring == 0


def test_the_settings_say_how_long_sessions_are_kept(tmp_path: Path) -> None:
    """The setting is read, and nothing is written."""
    root = ClaudeRoot(tmp_path)
    root.session(FIRST, prompt("a"), modified=0)
    settings = root.write("settings.json", b'{"cleanupPeriodDays": 90}')
    before = settings.stat()
    assert [(look(root, day).retention_days, look(root, day).expiring) for day in (82, 84)] == [
        (90, 0),
        (90, 1),
    ]
    assert settings.stat().st_mtime_ns == before.st_mtime_ns


def test_an_empty_directory_has_an_overview(tmp_path: Path) -> None:
    """An empty directory has no oldest session."""
    (tmp_path / "projects").mkdir()
    seen = look(ClaudeRoot(tmp_path), 1)
    assert (seen.sessions, seen.oldest, seen.next_expiring) == (0, None, ())


def test_the_oldest_is_the_one_that_began_first(tmp_path: Path) -> None:
    """A file's time is that of its last change, or of a copy; a session's own records know better.

    A session without a time, or with one that its file cannot have, is as old as its file.
    """
    root = ClaudeRoot(tmp_path)
    root.session(FIRST, title("No time"), prompt("a", seconds=5 * DAY), modified=20 * DAY)
    assert look(root, 25).oldest == seconds_of(5 * DAY)
    root.session(SECOND, title("No time"), modified=4 * DAY)
    assert look(root, 25).oldest == seconds_of(4 * DAY)
    root.session(FIRST, prompt("from the future", seconds=90 * DAY), modified=3 * DAY)
    assert look(root, 25).oldest == seconds_of(3 * DAY)
