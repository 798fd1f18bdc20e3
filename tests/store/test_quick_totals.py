"""Tests of recollect.store.quick_totals."""

import os
import shutil
from pathlib import Path
from typing import Any

import apsw
import pytest

from recollect.demo import CLAUDE_DIRECTORY
from recollect.locations import discover_root
from recollect.store.data_directory import INDEX_NAME
from recollect.store.quick_totals import TotalsQuery, TotalsSum, read_quick_totals
from recollect.sync.sync_engine import sync

DAY = 2_057 * 24  # hours up to an arbitrary day long before the demo data
SESSION = "94791a87-9d13-410a-a632-25a9b25c1b45"


@pytest.fixture
def index(tmp_path: Path) -> Path:
    """A directory with an index of the demo data."""
    directory = tmp_path / "data"
    sync(directory, discover_root(CLAUDE_DIRECTORY).transcripts)
    return directory


def read(index: Path, query: str) -> list[tuple[Any, ...]]:
    """Return the totals by SQL, without our code."""
    connection = apsw.Connection(str(index / INDEX_NAME))
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def test_hours_are_those_of_the_table(index: Path) -> None:
    """Without a path everything that counts is returned, by hour."""
    rows = read(index, "SELECT hour, sum(cost), sum(unpriced) FROM hours GROUP BY hour")
    totals = read_quick_totals(index, TotalsQuery(since=DAY))
    assert totals is not None
    assert totals.hours == {hour: TotalsSum(*sums) for hour, *sums in rows}


def test_only_files_in_the_place_count(index: Path) -> None:
    """Either spelling of the directory works; other files do not count."""
    everything = read_quick_totals(index, TotalsQuery(since=DAY))
    root, elsewhere = f"{CLAUDE_DIRECTORY}{os.sep}", f"{index}{os.sep}"
    assert read_quick_totals(index, TotalsQuery(DAY, root, elsewhere)) == everything
    assert read_quick_totals(index, TotalsQuery(DAY, elsewhere, root)) == everything
    nothing = read_quick_totals(index, TotalsQuery(DAY, elsewhere, elsewhere))
    assert nothing is not None
    assert nothing.hours == {}


def test_one_of_several_directories_is_summed_separately(tmp_path: Path, index: Path) -> None:
    """Costs of other Claude directories in the index are left out."""
    only = read_quick_totals(index, TotalsQuery(DAY))
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(
        CLAUDE_DIRECTORY / "projects" / "-home-mina------", elsewhere / "projects" / "p"
    )
    for path in elsewhere.rglob("*.jsonl"):
        path.write_text(path.read_text("utf-8").replace('"id":"msg_', '"id":"msg_x'), "utf-8")
    roots = (CLAUDE_DIRECTORY, elsewhere)
    sync(index, [each for root in roots for each in discover_root(root).transcripts])
    both = read_quick_totals(index, TotalsQuery(DAY))
    asked = read_quick_totals(index, TotalsQuery(DAY, f"{CLAUDE_DIRECTORY}{os.sep}", "/nowhere/"))
    assert asked == only
    assert both is not None
    assert both != only


def test_a_session_is_summed_with_its_subagents(index: Path) -> None:
    """The cost of a session is that of all files that belong to it."""
    (expected,) = read(
        index,
        "SELECT sum(cost), sum(unpriced) FROM hours JOIN files ON files.id = file_id "
        f"WHERE session_id = '{SESSION}'",
    )
    totals = read_quick_totals(index, TotalsQuery(DAY, session_id=SESSION))
    assert totals is not None
    assert totals.session == expected


def test_a_transcript_is_reported_as_it_was_read(index: Path) -> None:
    """Size and time are those of the file when it was last read."""
    (path,) = CLAUDE_DIRECTORY.rglob(f"{SESSION}.jsonl")
    totals = read_quick_totals(index, TotalsQuery(DAY, transcript=str(path)))
    assert totals is not None
    status = path.stat()
    assert totals.stamp == (status.st_ino, status.st_size, status.st_mtime_ns)


def test_what_is_not_known_is_none(index: Path) -> None:
    """An unknown session has no cost, an unknown transcript no stamp."""
    totals = read_quick_totals(index, TotalsQuery(DAY, session_id="x", transcript="/x"))
    assert totals is not None
    assert (totals.session, totals.stamp) == (None, None)


@pytest.mark.parametrize("content", [None, b"", b"no database at all" * 100])
def test_an_index_that_cannot_be_read_is_none(tmp_path: Path, content: bytes | None) -> None:
    """A missing, empty or foreign file gives None, and no error."""
    if content is not None:
        (tmp_path / INDEX_NAME).write_bytes(content)
    assert read_quick_totals(tmp_path, TotalsQuery(DAY)) is None


def test_an_index_of_another_version_is_none(index: Path) -> None:
    """Tables of other versions are not read."""
    read(index, "UPDATE meta SET value = '999' WHERE key = 'schema'")
    assert read_quick_totals(index, TotalsQuery(DAY)) is None


def test_a_damaged_index_is_none_or_an_answer(index: Path) -> None:
    """Whichever byte is wrong, nothing is raised."""
    path = index / INDEX_NAME
    data = bytearray(path.read_bytes())
    for place in range(0, len(data), len(data) // 60):
        (index / INDEX_NAME).write_bytes(data[:place] + b"\xa5\x5a" + data[place + 2 :])
        for suffix in ("-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        read_quick_totals(index, TotalsQuery(DAY))


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_index_is_read(index: Path) -> None:
    """If SQLite cannot create its own files, the index is read without them."""
    for suffix in ("-wal", "-shm"):
        (index / f"{INDEX_NAME}{suffix}").unlink(missing_ok=True)
    index.chmod(0o500)
    try:
        assert read_quick_totals(index, TotalsQuery(DAY)) is not None
    finally:
        index.chmod(0o700)


def test_an_index_that_is_being_written_is_read(index: Path) -> None:
    """A writer in the middle of its work does not keep a status line waiting."""
    writer = apsw.Connection(str(index / INDEX_NAME))
    writer.execute("BEGIN IMMEDIATE; DELETE FROM hours")
    try:
        totals = read_quick_totals(index, TotalsQuery(DAY))
    finally:
        writer.execute("ROLLBACK")
        writer.close()
    assert totals is not None
    assert totals.hours != {}
