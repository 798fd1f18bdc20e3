"""Tests of recollect.health.root_checks."""

import os
from datetime import UTC, datetime
from pathlib import Path

import apsw
import pytest

from recollect.demo import CLAUDE_DIRECTORY
from recollect.documents.health_report import (
    Expiring,
    IndexReport,
    OpcodeTimeline,
    Orphan,
    RootReport,
)
from recollect.health.root_checks import examine_index, examine_roots
from recollect.store.data_directory import (
    INDEX_NAME,
    SCHEMA_VERSION,
    SQLITE_VERSION,
    find_schema_version,
    hold_lock,
    is_sqlite_safe,
)
from recollect.sync.index_access import find_transcripts
from recollect.sync.sync_engine import sync

KEPT = "0" * 8 + "-0000-4000-8000-" + "0" * 12
GONE = "1" * 8 + "-1111-4111-8111-" + "1" * 12
WRITTEN = datetime(2026, 11, 1, 12, tzinfo=UTC)


def write(path: Path, text: str = "{}\n") -> None:
    """Write a file, with its directories, with a fixed mtime."""
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
    """Return the report on one directory."""
    (report,) = examine_roots([root], now)
    return report


def test_a_directory_is_described(root: Path) -> None:
    """Permissions and retention are reported, and nothing else if all is well."""
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
def test_a_directory_that_others_may_read_is_reported(root: Path, mode: int) -> None:
    """Any permission of group or others counts."""
    root.chmod(mode)
    report = examine(root)
    assert (report.permissions, report.is_private) == (f"{mode:04o}", False)


@pytest.mark.parametrize(("day", "due", "overdue"), [(10, 0, 0), (25, 1, 0), (30, 1, 0)])
def test_sessions_that_expire_soon_are_listed(root: Path, day: int, due: int, overdue: int) -> None:
    """Those within a week, by name and time."""
    report = examine(root, datetime(2026, 11, day, tzinfo=UTC))
    file = f"projects/p/{KEPT}.jsonl"
    assert report.expiring == (Expiring(file=file, after="2026-12-01T12:00:00Z"),) * due
    assert report.overdue == overdue


def test_sessions_that_are_overdue_are_counted(root: Path) -> None:
    """They are deleted as soon as Claude Code starts."""
    assert examine(root, datetime(2026, 12, 2, tzinfo=UTC)).overdue == 1


def test_orphans_are_listed(root: Path) -> None:
    """Directories, tasks, file backups and to-do lists of deleted sessions are listed."""
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


def test_timelines_of_opcode_are_listed_as_what_they_are(root: Path) -> None:
    """Checkpoints of opcode are not leftovers, whether their session exists or not."""
    for owner, text in ((KEPT, "{}"), (GONE, "four")):
        write(root / "projects" / "p" / ".timelines" / owner / "timeline.json", text)
    report = examine(root)
    place = "projects/p/.timelines"
    assert report.orphans == ()
    assert {each.file: each for each in report.timelines} == {
        f"{place}/{KEPT}": OpcodeTimeline(
            file=f"{place}/{KEPT}", has_session=True, files=1, byte_count=2
        ),
        f"{place}/{GONE}": OpcodeTimeline(
            file=f"{place}/{GONE}", has_session=False, files=1, byte_count=4
        ),
    }


def test_other_names_are_ignored(root: Path) -> None:
    """Tasks of a team and notes of a project belong to no session and are not orphans."""
    write(root / "tasks" / "my-team" / "1.json")
    write(root / "projects" / "p" / "memory" / "notes.md")
    write(root / "todos" / "readme.txt")
    assert examine(root).orphans == ()


def test_only_claude_directories_are_examined(root: Path) -> None:
    """Retention and permissions of a directory with loose transcripts are not checked."""
    assert examine_roots([root / "projects" / "p"], WRITTEN) == ()


TRANSCRIPTS = find_transcripts([CLAUDE_DIRECTORY])
NOTHING = {"HOME": "/nowhere"}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A directory with an index of the demo data."""
    sync(tmp_path, TRANSCRIPTS)
    return tmp_path


def examine_demo(directory: Path) -> IndexReport:
    """Return the state of the index there."""
    return examine_index(directory, TRANSCRIPTS, environment=NOTHING)


def test_a_current_index_is_sound(data: Path) -> None:
    """It matches the transcripts."""
    size = sum(path.stat().st_size for path in data.glob(f"{INDEX_NAME}*"))
    assert examine_demo(data) == IndexReport(
        path=str(data / INDEX_NAME),
        byte_count=size,
        is_sound=True,
        is_current=True,
        is_locked=False,
        schema_version=SCHEMA_VERSION,
        files=len(TRANSCRIPTS),
        files_gone=0,
        messages=53,
        problems=0,
    )


def test_a_missing_index_is_none(tmp_path: Path) -> None:
    """Checking does not create an index."""
    report = examine_demo(tmp_path)
    assert (report.byte_count, report.is_sound, report.schema_version) == (0, False, None)
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_index_is_not_sound(data: Path) -> None:
    """A file that is not an index is reported as damaged."""
    (data / INDEX_NAME).write_bytes(b"no database" * 1000)
    report = examine_demo(data)
    assert (report.byte_count, report.is_sound, report.is_current) == (11_000, False, False)


def test_an_index_of_a_newer_program_is_a_finding(data: Path) -> None:
    """Doctor reports what is an error for other commands."""
    connection = apsw.Connection(str(data / INDEX_NAME))
    connection.execute("PRAGMA user_version = 99; UPDATE meta SET value = 99 WHERE key = 'schema'")
    connection.close()
    report = examine_demo(data)
    assert (report.is_sound, report.schema_version) == (False, 99)


@pytest.mark.skipif(os.name != "posix", reason="a process may take its own lock twice elsewhere")
def test_an_index_being_written_is_reported(data: Path) -> None:
    """The lock is held by another process."""
    with hold_lock(data):
        assert examine_demo(data).is_locked is True
    assert examine_demo(data).is_locked is False


def test_the_sqlite_is_recent_enough() -> None:
    """Ours is; a version that could damage an index is not."""
    assert is_sqlite_safe(SQLITE_VERSION)
    assert [is_sqlite_safe(version) for version in ("3.51.2", "3.51.3", "3.100.0")] == [
        False,
        True,
        True,
    ]


def test_the_schema_of_no_database_is_not_known(tmp_path: Path) -> None:
    """Neither for a missing file nor for other content."""
    (tmp_path / INDEX_NAME).write_bytes(b"no database" * 1000)
    assert find_schema_version(tmp_path) is None
    assert find_schema_version(tmp_path / "missing") is None
