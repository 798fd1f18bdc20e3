"""Tests of recollect.sources.growth: what happened to a file since its state was recorded."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from recollect.sources.growth import (
    EDGE,
    UNFINISHED,
    FileState,
    Growth,
    capture_state,
    find_growth,
    record_state,
)
from recollect.sources.safe_files import open_file
from recollect.sources.source import UNTRUSTED, is_present, is_racy, make_stamp

LINES = b"line\n" * EDGE
SECOND = 1_000_000_000
OLD = (1_700_000_000_000_000_001, 1_700_000_000_000_000_001)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file that is longer than both edges and was written long ago."""
    path = tmp_path / "file"
    path.write_bytes(LINES)
    os.utime(path, ns=OLD)
    return path


def record(path: Path, position: int = len(LINES)) -> FileState:
    """The state of a file that was read up to a position."""
    with open_file(path) as file:
        return record_state(file, capture_state(file), position)


def compare(path: Path, known: FileState) -> Growth:
    """Return the change of the file since then."""
    with open_file(path) as file:
        return find_growth(file, known, capture_state(file))


def exchange(path: Path, position: int) -> None:
    """Change a byte in place."""
    with path.open("r+b") as file:
        file.seek(position)
        file.write(b"X")


def append(path: Path) -> None:
    """Write one more line."""
    with path.open("ab") as file:
        file.write(b"more\n")


def replace_file(path: Path) -> None:
    """Replace the file with one of the same content, size and time."""
    other = path.with_suffix(".other")
    other.write_bytes(path.read_bytes())
    os.utime(other, ns=OLD)
    other.replace(path)


@pytest.mark.parametrize(
    ("change", "growth"),
    [
        (lambda _: None, Growth.UNCHANGED),
        (append, Growth.APPENDED),
        (os.utime, Growth.TOUCHED),
        (lambda path: exchange(path, len(LINES) // 2), Growth.TOUCHED),
        (lambda path: exchange(path, 0), Growth.REWRITTEN),
        (lambda path: exchange(path, EDGE - 1), Growth.REWRITTEN),
        (lambda path: exchange(path, len(LINES) - EDGE), Growth.REWRITTEN),
        (lambda path: exchange(path, len(LINES) - 1), Growth.REWRITTEN),
        (lambda path: os.truncate(path, len(LINES) - 1), Growth.REWRITTEN),
        (replace_file, Growth.REPLACED),
    ],
)
def test_a_change_is_recognised(
    path: Path, change: Callable[[Path], object], growth: Growth
) -> None:
    """By inode, size, time and the bytes at both edges."""
    known = record(path)
    change(path)
    assert compare(path, known) is growth


def test_a_torn_line_that_is_cut_off_is_no_rewrite(path: Path) -> None:
    """The bytes that were read are still there, but other changes are not ruled out."""
    append(path)
    known = record(path)
    os.truncate(path, len(LINES))
    assert compare(path, known) is Growth.TOUCHED


def test_the_time_of_a_racy_state_proves_nothing(path: Path) -> None:
    """Neither in a listing nor on the open file."""
    known = record(path)
    racy = replace(known, is_racy=True)
    assert known.is_current(known.stamp)
    assert not racy.is_current(known.stamp)
    assert racy.stamp != known.stamp
    assert compare(path, racy) is Growth.RACY


@pytest.mark.parametrize(
    ("age", "expected"),
    [(0, True), (SECOND // 20, True), (SECOND // 20 + 1, False), (-SECOND * 3600, False)],
)
def test_the_time_of_a_recent_write_is_racy(age: int, expected: bool) -> None:
    """A clock stays at one value for a twentieth of a second at most."""
    now = OLD[0]
    assert is_racy(now - age, now) is expected


def test_a_clock_of_whole_seconds_is_racy_for_longer() -> None:
    """Some file systems record every other second only."""
    written = 1_700_000_000 * SECOND
    assert is_racy(written, written + 2 * SECOND)
    assert not is_racy(written, written + 2 * SECOND + 1)


def test_a_stamp_to_remember_is_that_of_the_listing() -> None:
    """Unless the file was written a moment ago."""
    assert make_stamp((1, 2, OLD[0])) == (1, 2, OLD[0])
    assert make_stamp((1, 2, time.time_ns() // SECOND * SECOND)) == (1, 2, UNTRUSTED)


def test_a_file_that_was_read_in_part_is_continued(path: Path) -> None:
    """It is never current, whatever its size."""
    known = replace(record(path, EDGE), size=UNFINISHED)
    assert not known.is_current((known.inode, len(LINES), known.mtime_ns))
    assert compare(path, known) is Growth.APPENDED


def test_an_unknown_inode_equals_any(path: Path) -> None:
    """Listing a directory does not give it on Windows."""
    known = record(path)
    inode, size, mtime_ns = known.stamp
    assert known.is_current((0, size, mtime_ns))
    assert replace(known, inode=0).is_current((inode, size, mtime_ns))
    assert compare(path, replace(known, inode=0)) is Growth.UNCHANGED
    assert not known.is_current((inode + 1, size, mtime_ns))


def test_nothing_is_known_of_a_file_that_was_never_read(path: Path) -> None:
    """It is read from its start."""
    assert compare(path, FileState()) is Growth.REWRITTEN


def test_an_empty_file_is_gone(path: Path, tmp_path: Path) -> None:
    """Some clients empty files instead of deleting them; a broken link still counts as a file."""
    assert is_present(str(path))
    path.write_bytes(b"")
    assert not is_present(str(path))
    assert not is_present(str(tmp_path / "none"))
    assert not is_present(str(path / "below"))
