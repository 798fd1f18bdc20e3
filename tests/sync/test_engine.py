"""Tests of recollect.sync.sync_engine: what a sync does and reports."""

import os
import shutil
import stat
import time
from dataclasses import replace
from pathlib import Path

import pytest

from recollect.errors import UsageError
from recollect.sources.source import is_racy
from recollect.store.catalog import load_files
from recollect.store.schema import read_meta
from recollect.sync.index_access import is_current
from recollect.sync.sync_engine import SyncProgress, SyncReport, sync
from recollect.sync.workers import Limits
from tests.sync.lines import PRICED, Line, user_line
from tests.sync.world import World, add_up, assert_same

LINE = Line()


def totals(world: World) -> tuple[object, ...]:
    """Return the counted totals."""
    connection = world.open()
    try:
        return add_up(connection)
    finally:
        connection.close()


def outputs(world: World) -> dict[str, int]:
    """Return the counted output tokens by file name."""
    hours = world.dump()["hours"]
    return {Path(row[0]).stem: sum(r[9] for r in hours if r[0] == row[0]) for row in hours}


def gone(world: World) -> list[str]:
    """Return the names of the files that are marked as deleted."""
    return [Path(row[0]).stem for row in world.dump()["files"] if row[-1]]


def test_a_first_sync_counts_what_is_there(world: World) -> None:
    """Tokens by class, cost by the list price of the day, and how many messages have none."""
    other = Line(id="msg_2", model="proxy", output=7, searches=1)
    world.write("p/a", LINE.encode() + other.encode() + user_line("hello"))
    size = world.path("p/a").stat().st_size
    assert world.sync() == SyncReport(files_read=1, bytes_read=size)
    assert totals(world) == (2, 20, 27, 0, 0, 0, 1, 10 * 3 + 20 * 15, 1)


def test_a_second_sync_reads_nothing(world: World) -> None:
    """It changes nothing either."""
    world.write("p/a", LINE.encode())
    world.sync()
    before = world.dump()
    assert world.sync() == SyncReport()
    assert world.dump() == before


def test_only_what_was_appended_is_read(world: World) -> None:
    """The lines of one message become one row, whenever they were written."""
    world.write("p/a", replace(LINE, output=1).encode())
    world.sync()
    line = LINE.encode()
    world.append("p/a", line)
    assert world.sync() == SyncReport(files_read=1, bytes_read=len(line))
    assert totals(world)[:3] == (1, 10, 20)


def test_a_torn_line_counts_once_it_is_whole(world: World) -> None:
    """Reading resumes at its start."""
    line = LINE.encode()
    world.write("p/a", user_line("first") + line[:50])
    world.sync()
    assert totals(world)[0] is None
    world.append("p/a", line[50:])
    assert world.sync().bytes_read == len(line)
    assert totals(world)[0] == 1


def test_a_whole_line_without_its_end_counts(world: World) -> None:
    """Until it is removed: the client truncates the file to remove last lines."""
    first, second = Line(output=1).encode(), Line(output=81).encode()
    world.write("p/a", first + second[:-1])
    world.sync()
    assert totals(world)[2] == 81
    world.write("p/a", first + user_line("something longer than the line that was taken back" * 9))
    world.sync()
    assert totals(world)[2] == 1


def test_same_size_and_other_content_is_seen_by_its_time(world: World) -> None:
    """The time may be later or earlier."""
    world.write("p/a", Line(output=11).encode())
    world.sync()
    path = world.write("p/a", Line(output=12).encode())
    world.sync()
    assert totals(world)[2] == 12
    path.write_bytes(Line(output=13).encode())
    os.utime(path, ns=(1_600_000_000_000_000_001,) * 2)
    world.sync()
    assert totals(world)[2] == 13


def test_a_change_within_the_same_tick_of_the_clock_is_seen(world: World) -> None:
    """A file that was just written is read again until its time is past."""
    path = world.write("p/a", Line(output=11).encode(), is_old=False)
    written = _sync_within_a_tick(world, path)
    path.write_bytes(Line(output=12).encode())
    os.utime(path, ns=(written, written))
    assert not is_current(world.data, world.find())
    world.sync()
    assert totals(world)[2] == 12


def _sync_within_a_tick(world: World, path: Path) -> int:
    """Touch and sync until both happened so quickly that the file was read while still racy."""
    while True:
        written = time.time_ns()
        os.utime(path, ns=(written, written))
        world.sync()
        if is_racy(written, time.time_ns()):
            return written


def test_a_time_in_the_future_does_not_make_a_file_change_forever(world: World) -> None:
    """A wrong clock must not cause a file to be read at every query."""
    path = world.write("p/a", LINE.encode())
    os.utime(path, ns=(4_000_000_000_000_000_001,) * 2)
    world.sync()
    assert world.sync() == SyncReport()


def test_another_file_in_the_same_place_is_read_whole(world: World) -> None:
    """Even one that is larger and has the same time."""
    path = world.write("p/a", LINE.encode())
    world.sync()
    state = path.stat()
    other = path.with_suffix(".new")
    other.write_bytes(Line(id="msg_2").encode() + Line(id="msg_3").encode())
    os.utime(other, ns=(state.st_mtime_ns,) * 2)
    other.replace(path)
    assert world.sync().files_read == 1
    assert [row[2] for row in world.dump()["messages"]] == ["msg_2", "msg_3"]


def test_a_cut_file_counts_what_is_left(world: World) -> None:
    """Even if it has grown again before the next sync."""
    first = LINE.encode()
    world.write("p/a", first + Line(id="msg_2").encode())
    world.sync()
    world.write("p/a", first)
    world.sync()
    assert totals(world)[0] == 1
    world.write("p/a", first + Line(id="msg_3").encode() + Line(id="msg_4").encode())
    world.sync()
    assert [row[2] for row in world.dump()["messages"]] == ["msg_1", "msg_3", "msg_4"]


def test_a_vanished_file_keeps_what_it_counted(world: World) -> None:
    """It is marked as deleted, and unmarked when it exists again."""
    path = world.write("p/a", LINE.encode())
    world.sync()
    before = totals(world)
    path.rename(world.base / "kept")
    assert world.sync() == SyncReport(files_gone=1)
    assert world.sync() == SyncReport()
    assert (gone(world), totals(world)) == (["a"], before)
    (world.base / "kept").rename(path)
    assert world.sync() == SyncReport()
    assert (gone(world), totals(world)) == ([], before)


def test_an_emptied_file_counts_as_gone(world: World) -> None:
    """Resuming leaves empty files behind, which are not transcripts."""
    world.write("p/a", LINE.encode())
    world.sync()
    world.write("p/a", b"")
    assert world.sync() == SyncReport(files_gone=1)
    assert (gone(world), totals(world)[0]) == (["a"], 1)


def test_files_below_another_root_are_left_alone(world: World, tmp_path: Path) -> None:
    """Syncing one Claude directory does not affect the files of another."""
    world.write("p/a", LINE.encode())
    world.sync()
    other = World(tmp_path / "other", world.data)
    other.write("p/b", Line(id="msg_2").encode())
    other.sync()
    assert gone(world) == []
    assert totals(world)[0] == 2
    assert is_current(world.data, world.find())
    assert is_current(world.data, other.find())


def test_a_moved_file_is_not_read_again(world: World) -> None:
    """It belongs to its new project, and counts as before."""
    world.write("p/a", LINE.encode())
    world.sync()
    world.path("p/a").rename(world.path("q/a"))
    assert world.sync() == SyncReport()
    assert [row[:2] for row in world.dump()["files"]] == [("claude/projects/q/a.jsonl", "q")]
    assert_same(world.dump(), world.dump_fresh())


def begin(time: str) -> bytes:
    """Return the first line of a headless client's file."""
    return f'{{"type":"queue-operation","timestamp":"{time}","sessionId":"x"}}\n'.encode()


def test_a_fork_owns_nothing_that_it_copied(world: World) -> None:
    """Even if it is first by name, its original was deleted, or it is not marked as a fork."""
    copied = LINE.encode() + replace(LINE, id="msg_2").encode()
    world.write("p/z", begin("2026-03-01T09:00:00.000Z") + copied)
    world.write("p/a", begin("2026-03-02T09:00:00.000Z") + copied)
    world.write("p/b", replace(LINE, forked_from="z").encode())
    world.sync()
    assert outputs(world) == {"z": 40}
    world.path("p/z").unlink()
    world.sync()
    assert outputs(world) == {"z": 40}


def test_a_start_time_that_appears_later_counts(world: World) -> None:
    """A file that has no time yet may turn out to be the original."""
    world.write("p/a", replace(LINE, time=None).encode())
    world.write("p/b", replace(LINE, time=None).encode())
    world.sync()
    assert outputs(world) == {"a": 20}
    world.append("p/b", begin("2026-03-01T09:00:00.000Z"))
    world.sync()
    assert outputs(world) == {"b": 20}
    assert_same(world.dump(), world.dump_fresh())


def test_the_type_of_a_subagent_is_kept(world: World) -> None:
    """Even if its sidecar is deleted, or the transcript."""
    path = world.write("p/s/subagents/agent-x", LINE.encode())
    meta = path.with_name("agent-x.meta.json")
    meta.write_text('{"agentType": "Explore"}', encoding="utf-8")
    world.sync()
    meta.unlink()
    world.append("p/s/subagents/agent-x", replace(LINE, id="msg_2").encode())
    world.sync()
    assert [row[5] for row in world.dump()["files"]] == ["Explore"]
    path.unlink()
    world.sync()
    assert [(row[5], row[-1]) for row in world.dump()["files"]] == [("Explore", True)]


def test_moving_a_copy_may_change_the_owner(world: World) -> None:
    """The path decides between equal copies, so they are compared again."""
    for name in ("p/a", "p/b"):
        world.write(name, LINE.encode())
    world.sync()
    assert outputs(world) == {"a": 20}
    world.path("p/a").rename(world.path("z/a"))
    world.sync()
    assert outputs(world) == {"b": 20}
    assert_same(world.dump(), world.dump_fresh())


def test_a_copy_takes_over_when_the_original_is_gone(world: World) -> None:
    """The file that still exists is explained; a manual copy is not another message."""
    world.write("p/a", LINE.encode())
    world.sync()
    shutil.copy(world.path("p/a"), world.path("z/a"))
    world.path("p/a").unlink()
    world.sync()
    assert [row[0] for row in world.dump()["hours"]] == ["claude/projects/z/a.jsonl"]
    assert totals(world)[0] == 1


def test_a_place_taken_over_by_another_file_keeps_both(world: World) -> None:
    """One was deleted, then another was moved to its path."""
    world.write("p/a", LINE.encode())
    world.write("q/a", Line(id="msg_2", output=7).encode())
    world.sync()
    world.path("p/a").unlink()
    world.sync()
    world.path("q/a").rename(world.path("p/a"))
    world.sync()
    assert totals(world)[:3] == (1, 10, 7)


def test_a_rewritten_original_leaves_the_message_to_its_copy(world: World) -> None:
    """A row that did not count counts once the one that did is deleted."""
    world.write("p/a", LINE.encode())
    world.write("p/b", replace(LINE, request=None, time="2026-03-05T10:00:00.000Z").encode())
    world.sync()
    assert outputs(world) == {"a": 20}
    world.write("p/a", user_line("nothing counts here"))
    world.sync()
    assert outputs(world) == {"b": 20}
    assert_same(world.dump(), world.dump_fresh())


def test_a_flat_subagent_belongs_to_the_session_that_its_records_name(world: World) -> None:
    """Its path does not show it."""
    world.write("p/agent-x", user_line("prompt"))
    world.sync()
    world.append("p/agent-x", Line(session="parent").encode())
    world.sync()
    assert [row[2:5] for row in world.dump()["files"]] == [("subagent", "parent", "x")]


def test_progress_is_reported(world: World) -> None:
    """The last report is that everything is done."""
    seen: list[SyncProgress] = []
    sizes = [world.write(f"p/{name}", LINE.encode() * 3).stat().st_size for name in ("a", "b", "c")]
    world.sync(on_progress=seen.append)
    assert seen[-1] == SyncProgress(3, 3, sum(sizes), sum(sizes))
    assert [step.files_done for step in seen] == [1, 2, 3]


def test_an_interrupted_first_sync_keeps_what_it_has_written(world: World) -> None:
    """The next one reads the rest, and nothing twice."""
    for number in range(6):
        world.write(f"p/{number}", Line(id=f"msg_{number}").encode())
    world.limits = Limits(commit_bytes=1)

    def interrupt(progress: SyncProgress) -> None:
        if progress.files_done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        world.sync(on_progress=interrupt)
    assert totals(world)[0] == 4
    assert world.sync().files_read == 2
    assert_same(world.dump(), world.dump_fresh())


def test_rebuild_reads_everything_again(world: World) -> None:
    """The data of deleted files is kept."""
    for name in ("p/a", "p/b"):
        world.write(name, Line(id=name).encode())
    world.sync()
    world.path("p/b").unlink()
    world.sync()
    before = world.dump()
    assert world.sync(rebuild=True).files_read == 1
    assert world.dump() == before


def test_paths_that_are_no_text_are_indexed(world: World) -> None:
    """File names are bytes, and need not be UTF-8."""
    base = Path(os.fsdecode(os.fsencode(world.base) + b"/caf\xe9"))
    odd = World(base, world.data)
    odd.write("p/a", LINE.encode())
    assert odd.sync().files_read == 1
    assert odd.sync() == SyncReport()
    assert is_current(odd.data, odd.find())
    connection = odd.open()
    assert list(load_files(connection)) == [str(odd.path("p/a"))]
    connection.close()
    odd.path("p/a").unlink()
    assert odd.sync().files_gone == 1


def test_a_vanished_file_is_no_problem(world: World) -> None:
    """It may be deleted between listing and reading."""
    world.write("p/a", LINE.encode())
    found = world.find()
    world.path("p/a").unlink()
    assert sync(world.data, found) == SyncReport()


def test_unreadable_files_are_problems_until_they_can_be_read(world: World) -> None:
    """The others are counted, and no sync is started because of them."""
    world.write("p/a", LINE.encode())
    found = world.find()
    path = world.path("p/a")
    path.rename(world.base / "kept")
    path.mkdir()
    world.write("p/b", Line(id="msg_2").encode())
    report = sync(world.data, [*found, *world.find()])
    reason = f"Not reading {path}: it is not a regular file. Specify a transcript, a .jsonl file."
    assert report.problems == ((str(path), reason),)
    assert totals(world)[0] == 1
    assert is_current(world.data, [*found, *world.find()])
    path.rmdir()
    (world.base / "kept").rename(path)
    assert not is_current(world.data, world.find())
    assert world.sync() == SyncReport(files_read=1, bytes_read=path.stat().st_size)
    assert world.dump()["problems"] == []


def test_a_problem_ends_when_its_file_does(world: World) -> None:
    """A deleted file need not be read."""
    world.write("p/a", LINE.encode())
    found = world.find()
    world.path("p/a").unlink()
    world.path("p/a").mkdir()
    assert len(sync(world.data, found).problems) == 1
    world.path("p/a").rmdir()
    assert world.sync() == SyncReport()
    assert world.dump()["problems"] == []


def test_a_problem_ends_when_its_file_is_as_it_was(world: World) -> None:
    """It was read before, so nothing has to be read to detect that."""
    path = world.write("p/a", LINE.encode())
    world.sync()
    known = world.find()
    path.rename(world.base / "kept")
    path.mkdir()
    changed = [found._replace(mtime_ns=found.mtime_ns + 1) for found in known]
    assert len(sync(world.data, changed).problems) == 1
    path.rmdir()
    (world.base / "kept").rename(path)
    assert not is_current(world.data, world.find())
    assert world.sync() == SyncReport()
    assert is_current(world.data, world.find())


def write_prices(path: Path, output: str) -> Path:
    """Write a user's price file."""
    path.write_text(
        f'[[prices]]\nmodel = "{PRICED[0]}"\ninput = 1.0\noutput = {output}\n', encoding="utf-8"
    )
    return path


def test_new_prices_change_costs_without_reading_any_file(world: World, tmp_path: Path) -> None:
    """Including those of copies and advisors, as if all files had been read with them."""
    world.write("p/a", LINE.encode() + Line(id="msg_2", advisor=50).encode())
    world.write("p/b", replace(LINE, output=81, time="2026-03-01T09:00:00.000Z").encode())
    world.write("p/c", Line(id="msg_3", output=0, input=0, split=(1200, 0)).encode())
    world.sync()
    prices = write_prices(tmp_path / "prices.toml", "2.0")
    assert not is_current(world.data, world.find(), prices=prices)
    assert world.sync(prices=prices) == SyncReport()
    assert is_current(world.data, world.find(), prices=prices)
    fresh = World(world.base, world.base / "fresh")
    fresh.sync(prices=prices)
    assert_same(world.dump(), fresh.dump())
    write_prices(prices, "3.0")
    assert not is_current(world.data, world.find(), prices=prices)
    assert world.sync() == SyncReport()
    assert_same(world.dump(), world.dump_fresh())


def test_a_bad_price_file_changes_nothing(world: World, tmp_path: Path) -> None:
    """It is reported before the index is changed."""
    (tmp_path / "prices.toml").write_text("no toml", encoding="utf-8")
    world.write("p/a", LINE.encode())
    with pytest.raises(UsageError, match="not valid TOML"):
        world.sync(prices=tmp_path / "prices.toml")
    with pytest.raises(UsageError, match="Cannot read the price file"):
        world.sync(prices=tmp_path / "missing.toml")
    assert not world.data.exists()


def test_everything_that_is_made_is_private(world: World) -> None:
    """Directories and files are accessible only by their owner, even during a sync."""
    modes: dict[str, str] = {}

    def look(_: object) -> None:
        modes.update(
            (path.name, stat.filemode(path.stat().st_mode)) for path in world.base.glob("data/**/*")
        )

    world.data = world.base / "data" / "deep" / "er"
    previous = os.umask(0)
    try:
        for name in ("a", "b"):
            world.write(f"p/{name}", Line(id=name).encode())
        world.limits = Limits(commit_bytes=1)
        world.sync(on_progress=look)
    finally:
        os.umask(previous)
    files = ("index.db", "index.db-shm", "index.db-wal", "index.lock")
    assert modes == {"deep": "drwx------", "er": "drwx------"} | dict.fromkeys(files, "-rw-------")


def test_nothing_is_written_into_a_claude_directory(world: World) -> None:
    """Not even if the user requests it."""
    world.write("p/a", LINE.encode())
    before = sorted(path.stat().st_mtime_ns for path in world.root.rglob("*"))
    world.data = world.root / "recollect"
    with pytest.raises(UsageError, match=r"belongs to Claude Code\. Set RECOLLECT_DATA_DIR"):
        world.sync()
    assert sorted(path.stat().st_mtime_ns for path in world.root.rglob("*")) == before


def test_reading_leaves_transcripts_as_they_are(world: World) -> None:
    """Content, time and permissions."""
    path = world.write("p/a", LINE.encode())
    path.chmod(0o400)
    before = (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_mode, path.stat().st_ino)
    world.sync()
    state = path.stat()
    assert (path.read_bytes(), state.st_mtime_ns, state.st_mode, state.st_ino) == before


def test_the_index_is_looked_at_as_a_whole_once_a_day(world: World) -> None:
    """The day of the last check is stored."""
    world.write("p/a", LINE.encode())
    world.sync()
    connection = world.open()
    assert len(read_meta(connection, "checked") or "") == len("2026-11-15")
    connection.close()
