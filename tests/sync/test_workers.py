"""Tests of recollect.sync.workers and of how work is cut up for them."""

import threading
from pathlib import Path

import pytest

from recollect.sync.usage_counting import Job
from recollect.sync.workers import Limits, make_batches, read_batches
from recollect.worker_processes import is_forking
from tests.sync.lines import Line
from tests.sync.world import World, assert_same


def test_large_files_come_first_and_batches_are_even() -> None:
    """So that no worker is left alone with the largest file at the end."""
    jobs = [Job(str(size)) for size in (1, 7, 3, 9, 2)]
    batches = make_batches(jobs, [int(job.path) for job in jobs], 10)
    assert [[job.path for job in batch] for batch in batches] == [["9", "7"], ["3", "2", "1"]]


def test_a_session_and_its_subagents_are_read_together() -> None:
    """By the size of all of it, so that messages repeated between its files are counted once."""
    sized = {"a": ("one", 6), "b": ("two", 9), "c": ("one", 5), "d": ("", 1)}
    jobs = [Job(path, session=session) for path, (session, _) in sized.items()]
    batches = make_batches(jobs, [size for _, size in sized.values()], 10)
    assert [[job.path for job in batch] for batch in batches] == [["a", "c"], ["b", "d"]]


def test_every_file_is_read_once(world: World) -> None:
    """Results come in any order, each with the path it belongs to."""
    paths = [
        str(world.write(f"p/{number}", Line(id=f"msg_{number}").encode())) for number in range(9)
    ]
    batches = [[Job(path) for path in paths[start : start + 2]] for start in range(0, 9, 2)]
    found = [read for extracts in read_batches(batches, ()) for read in extracts]
    expected = [(path, f"msg_{number}") for number, path in enumerate(paths)]
    assert sorted((read.path, read.rows[0].message_id) for read in found) == expected


def test_unreadable_files_are_reported_by_workers_too(world: World, tmp_path: Path) -> None:
    """A problem is a result like any other."""
    (tmp_path / "folder.jsonl").mkdir()
    good = str(world.write("p/a", Line().encode()))
    jobs = [Job(str(tmp_path / "folder.jsonl")), Job(str(tmp_path / "missing")), Job(good)]
    (found,) = read_batches([jobs], ())
    assert [(read.problem is None, read.is_gone) for read in found] == [
        (False, False),
        (True, True),
        (True, False),
    ]


@pytest.mark.slow
def test_a_process_with_threads_spawns_workers(world: World) -> None:
    """A fork might inherit a lock that is never released; the result is the same."""
    for number in range(6):
        world.write(f"p/{number}", Line(id=f"msg_{number}").encode())
    expected = world.dump_fresh()
    world.limits = Limits(pool_bytes=0, batch_bytes=1)
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        assert not is_forking()
        world.sync()
    finally:
        done.set()
        thread.join()
    assert_same(world.dump(), expected)
