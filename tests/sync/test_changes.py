"""Tests of recollect.sync.index_access: planning a sync."""

from pathlib import Path

from msgspec.structs import replace

from recollect.locations import Transcript
from recollect.sources.source import is_present
from recollect.store.catalog import FileRow
from recollect.sync.index_access import ReadTask, SyncPlan, find_changed, make_plan
from tests.sync.lines import Line
from tests.sync.world import World


def describe(found: Transcript) -> FileRow:
    """Return the row of a completely read file."""
    return FileRow(
        path=str(found.path),
        project=found.project_dir.name,
        kind=found.kind.value,
        session_id=found.session_id or "",
        agent_id=found.agent_id,
        agent_type=None,
        began=None,
        device=found.device,
        inode=found.inode,
        size=found.size,
        mtime_ns=found.mtime_ns,
        position=found.size,
        head_hash=b"h",
        tail_hash=b"t",
        is_racy=False,
    )


def known_as(number: int, row: FileRow) -> dict[str, tuple[int, FileRow]]:
    """Return an index with one file."""
    return {row.path: (number, row)}


def test_what_is_as_it_was_is_left_out(world: World) -> None:
    """Files with another inode, size or time are changed; others are new or deleted."""
    for name in ("p/a", "p/b", "p/c"):
        world.write(name, Line().encode())
    found = {transcript.file: transcript for transcript in world.find()}
    a, b, c = map(str, map(world.path, ("p/a", "p/b", "p/c")))
    state = (found[a].inode, found[a].size, found[a].mtime_ns)
    grown = (found[b].inode, found[b].size - 1, found[b].mtime_ns)
    states = {a: state, b: grown, "/gone": state}
    changed, left = find_changed(found.values(), states)
    assert ({transcript.file for transcript in changed}, left) == ({b, c}, ["/gone"])


def test_nothing_has_to_be_done_about_known_files(world: World) -> None:
    """A different device number is not a change: it may change at every boot."""
    world.write("p/a", Line().encode())
    (found,) = world.find()
    row = describe(found)
    assert make_plan([found], known_as(1, row)).is_empty
    assert make_plan([found], known_as(1, replace(row, device=99))).is_empty


def test_changed_and_new_files_are_read(world: World) -> None:
    """By inode, size, time, and whether the state was racy."""
    world.write("p/a", Line().encode())
    (found,) = world.find()
    row = describe(found)
    assert make_plan([found], {}) == SyncPlan(tasks=(ReadTask(found),))
    for changed in (
        replace(row, inode=1),
        replace(row, size=1),
        replace(row, mtime_ns=1),
        replace(row, is_racy=True),
    ):
        assert make_plan([found], known_as(1, changed)) == SyncPlan(
            tasks=(ReadTask(found, 1, changed),)
        )


def test_rebuild_reads_known_files_from_their_start(world: World) -> None:
    """Their recorded state is ignored."""
    world.write("p/a", Line().encode())
    (found,) = world.find()
    plan = make_plan([found], known_as(1, describe(found)), rebuild=True)
    assert plan == SyncPlan(tasks=(ReadTask(found, 1),))


def test_vanished_files_are_marked_once(world: World) -> None:
    """They are unmarked when they exist again unchanged."""
    path = world.write("p/a", Line().encode())
    (found,) = world.find()
    row = describe(found)
    path.rename(world.base / "kept")
    assert make_plan([], known_as(1, row)) == SyncPlan(gone=(1,))
    marked = replace(row, is_gone=True)
    assert make_plan([], known_as(1, marked)).is_empty
    (world.base / "kept").rename(path)
    assert make_plan([found], known_as(1, marked)) == SyncPlan(returned=(1,))


def test_files_that_were_not_looked_for_are_not_gone(world: World) -> None:
    """They are below another root."""
    world.write("p/a", Line().encode())
    (found,) = world.find()
    assert make_plan([], known_as(1, describe(found))).is_empty


def test_moved_files_are_recognised(world: World) -> None:
    """They are also read if their state was racy."""
    world.write("p/a", Line().encode())
    (found,) = world.find()
    row = describe(found)
    world.path("p/a").rename(world.path("q/a"))
    (moved,) = world.find()
    assert make_plan([moved], known_as(1, row)) == SyncPlan(moved=(ReadTask(moved, 1, row),))
    racy = replace(row, is_racy=True)
    task = ReadTask(moved, 1, racy)
    assert make_plan([moved], known_as(1, racy)) == SyncPlan(tasks=(task,), moved=(task,))


def test_a_file_that_changed_while_it_moved_is_another(world: World) -> None:
    """The data of its old path is kept, because it may be another file."""
    world.write("p/a", Line().encode())
    (found,) = world.find()
    world.path("p/a").rename(world.path("q/a"))
    world.append("q/a", Line(id="msg_2").encode())
    (moved,) = world.find()
    assert make_plan([moved], known_as(1, describe(found))) == SyncPlan(
        tasks=(ReadTask(moved),), gone=(1,)
    )


def test_without_inodes_nothing_is_taken_for_moved(world: World) -> None:
    """Some systems have none, and equal size and time are not proof."""
    world.write("p/a", Line().encode())
    (found,) = world.find()
    row = replace(describe(found), inode=0, device=0)
    world.path("p/a").rename(world.path("q/a"))
    (moved,) = world.find()
    assert make_plan([moved], known_as(1, row)) == SyncPlan(tasks=(ReadTask(moved),), gone=(1,))


def test_what_is_present_holds_something(tmp_path: Path) -> None:
    """An empty file may remain of a deleted session."""
    full, empty = tmp_path / "full", tmp_path / "empty"
    full.write_text("x", encoding="utf-8")
    empty.touch()
    places = (full, empty, tmp_path / "missing", full / "below")
    assert [is_present(str(place)) for place in places] == [True, False, False, False]
