"""Tests of recollect.health.roots and recollect.health.orphans."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from recollect.health.report import Expiring, Orphan, RootReport
from recollect.health.roots import examine_roots

KEPT = "0" * 8 + "-0000-4000-8000-" + "0" * 12
GONE = "1" * 8 + "-1111-4111-8111-" + "1" * 12
WRITTEN = datetime(2026, 11, 1, 12, tzinfo=UTC)


def write(path: Path, text: str = "{}\n") -> None:
    """Make a file, with its directories, that was written at a fixed time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    os.utime(path, (WRITTEN.timestamp(), WRITTEN.timestamp()))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A private Claude directory with a session."""
    directory = tmp_path / "claude"
    write(directory / "projects" / "p" / f"{KEPT}.jsonl")
    directory.chmod(0o700)
    return directory


def examine(root: Path, now: datetime = WRITTEN) -> RootReport:
    """The report on one directory."""
    (report,) = examine_roots([root], now)
    return report


def test_a_directory_is_described(root: Path) -> None:
    """Who may enter, how long things stay, and nothing else where all is well."""
    assert examine(root) == RootReport(
        path=str(root),
        sessions=1,
        permissions="0700" if os.name == "posix" else None,
        is_private=True,
        retention_days=30,
        retention_is_set=False,
        retention_problem=None,
        expiring=(),
        overdue=0,
        next_expiry="2026-12-01T12:00:00Z",
        orphans=(),
    )


@pytest.mark.skipif(os.name != "posix", reason="the system has no such permissions")
@pytest.mark.parametrize("mode", [0o755, 0o750, 0o701])
def test_a_directory_that_others_may_enter_is_told(root: Path, mode: int) -> None:
    """Any right of the group or of others counts."""
    root.chmod(mode)
    report = examine(root)
    assert (report.permissions, report.is_private) == (f"{mode:04o}", False)


@pytest.mark.parametrize(("day", "due", "overdue"), [(10, 0, 0), (25, 1, 0), (30, 1, 0)])
def test_sessions_that_go_soon_are_listed(root: Path, day: int, due: int, overdue: int) -> None:
    """Those within a week, by name and time."""
    report = examine(root, datetime(2026, 11, day, tzinfo=UTC))
    file = f"projects/p/{KEPT}.jsonl"
    assert report.expiring == (Expiring(file=file, after="2026-12-01T12:00:00Z"),) * due
    assert report.overdue == overdue


def test_sessions_that_are_overdue_are_counted(root: Path) -> None:
    """They go as soon as Claude Code starts."""
    assert examine(root, datetime(2026, 12, 2, tzinfo=UTC)).overdue == 1


def test_what_belongs_to_no_session_is_listed(root: Path) -> None:
    """Directories, tasks, saved files and to-do lists of sessions whose transcripts are gone."""
    for owner in (KEPT, GONE):
        write(root / "projects" / "p" / owner / "tool-results" / "a.txt", "four")
        write(root / "tasks" / owner / "1.json", "ab")
        write(root / "file-history" / owner / "x@v1", "a")
        write(root / "todos" / f"{owner}-agent-{owner}.json", "[]")
    assert examine(root).orphans == (
        Orphan(file=f"file-history/{GONE}", kind="file-history", files=1, byte_count=1),
        Orphan(file=f"projects/p/{GONE}", kind="session", files=1, byte_count=4),
        Orphan(file=f"tasks/{GONE}", kind="tasks", files=1, byte_count=2),
        Orphan(file=f"todos/{GONE}-agent-{GONE}.json", kind="todo", files=1, byte_count=2),
    )


def test_other_names_are_left_alone(root: Path) -> None:
    """A team's tasks and a project's notes belong to no session and are no orphans."""
    write(root / "tasks" / "my-team" / "1.json")
    write(root / "projects" / "p" / "memory" / "notes.md")
    write(root / "todos" / "readme.txt")
    assert examine(root).orphans == ()


def test_only_claude_directories_are_examined(root: Path) -> None:
    """A directory with loose transcripts has no retention and no permissions to speak of."""
    assert examine_roots([root / "projects" / "p"], WRITTEN) == ()
