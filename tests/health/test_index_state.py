"""Tests of recollect.health.index_state."""

import os
from pathlib import Path

import apsw
import pytest

from recollect.demo import CLAUDE_DIRECTORY
from recollect.health.index_state import examine_index
from recollect.health.report import IndexReport
from recollect.store.lock import hold_lock
from recollect.store.place import INDEX_NAME
from recollect.store.schema import SCHEMA_VERSION
from recollect.store.versions import SQLITE_VERSION, find_schema_version, is_sqlite_safe
from recollect.sync.engine import sync
from recollect.sync.level import find_transcripts

TRANSCRIPTS = find_transcripts([CLAUDE_DIRECTORY])
NOTHING = {"HOME": "/nowhere"}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A directory with an index of the demo data."""
    sync(tmp_path, TRANSCRIPTS)
    return tmp_path


def examine(directory: Path) -> IndexReport:
    """The state of the index there."""
    return examine_index(directory, TRANSCRIPTS, environment=NOTHING)


def test_a_level_index_is_sound(data: Path) -> None:
    """It holds what the transcripts hold."""
    size = sum(path.stat().st_size for path in data.glob(f"{INDEX_NAME}*"))
    assert examine(data) == IndexReport(
        path=str(data / INDEX_NAME),
        byte_count=size,
        is_sound=True,
        is_level=True,
        is_locked=False,
        schema_version=SCHEMA_VERSION,
        files=len(TRANSCRIPTS),
        files_gone=0,
        messages=53,
        problems=0,
    )


def test_a_missing_index_is_none(tmp_path: Path) -> None:
    """Nothing is made by looking."""
    report = examine(tmp_path)
    assert (report.byte_count, report.is_sound, report.schema_version) == (0, False, None)
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_index_is_not_sound(data: Path) -> None:
    """What cannot be read as an index is told as such."""
    (data / INDEX_NAME).write_bytes(b"no database" * 1000)
    report = examine(data)
    assert (report.byte_count, report.is_sound, report.is_level) == (11_000, False, False)


def test_an_index_of_a_newer_program_is_a_finding(data: Path) -> None:
    """A doctor does not stop at what other commands refuse."""
    connection = apsw.Connection(str(data / INDEX_NAME))
    connection.execute("PRAGMA user_version = 99; UPDATE meta SET value = 99 WHERE key = 'schema'")
    connection.close()
    report = examine(data)
    assert (report.is_sound, report.schema_version) == (False, 99)


@pytest.mark.skipif(os.name != "posix", reason="a process may take its own lock twice elsewhere")
def test_an_index_that_is_being_written_is_told(data: Path) -> None:
    """Somebody else holds the lock."""
    with hold_lock(data):
        assert examine(data).is_locked is True
    assert examine(data).is_locked is False


def test_the_sqlite_is_recent_enough() -> None:
    """Ours is; the one that could damage an index is not."""
    assert is_sqlite_safe(SQLITE_VERSION)
    assert [is_sqlite_safe(version) for version in ("3.51.2", "3.51.3", "3.100.0")] == [
        False,
        True,
        True,
    ]


def test_the_schema_of_no_database_is_not_known(tmp_path: Path) -> None:
    """Neither of a missing file nor of something else."""
    (tmp_path / INDEX_NAME).write_bytes(b"no database" * 1000)
    assert find_schema_version(tmp_path) is None
    assert find_schema_version(tmp_path / "missing") is None
