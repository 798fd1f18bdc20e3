"""Several processes at once: one writes, all others read or wait."""

import os
import signal
import time
from pathlib import Path

import pytest

from recollect.errors import IndexFailure
from recollect.store.data_directory import hold_lock
from recollect.sync.index_access import is_current
from tests.sync.history import list_children, start_sync, write_history
from tests.sync.lines import Line
from tests.sync.world import Dump, World, add_up, assert_same


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> tuple[World, Dump]:
    """A history, and the totals of its index."""
    base = tmp_path_factory.mktemp("processes")
    world = World(base, base / "data")
    write_history(world)
    return world, world.dump_fresh()


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 4])
def test_processes_that_sync_at_once_do_it_once(
    history: tuple[World, Dump], tmp_path: Path, count: int
) -> None:
    """None fails, one reads the files, and the result equals a single sync."""
    world, expected = history
    world = World(world.base, tmp_path / "data")
    processes = [start_sync(world, pool_bytes=0) for _ in range(count)]
    said = [process.communicate(timeout=60) for process in processes]
    assert [process.returncode for process in processes] == [0] * count, said
    assert sorted(out for out, _ in said) == ["0\n"] * (count - 1) + ["40\n"]
    assert_same(world.dump(), expected)


@pytest.mark.slow
def test_readers_are_neither_blocked_nor_misled(
    history: tuple[World, Dump], tmp_path: Path
) -> None:
    """While all files are read again, every query returns the same sums."""
    world, _ = history
    world = World(world.base, tmp_path / "data")
    world.sync()
    connection = world.open()
    expected = add_up(connection)
    process = start_sync(world, pool_bytes=1 << 40, commit_bytes=1 << 16, rebuild=True)
    looks = 0
    slowest = 0.0
    while process.poll() is None:
        started = time.monotonic()
        with_new_connection = world.open()
        assert add_up(with_new_connection) == expected
        assert add_up(connection) == expected
        with_new_connection.close()
        slowest = max(slowest, time.monotonic() - started)
        looks += 1
    connection.close()
    assert process.communicate() == ("40\n", "")
    assert looks > 3
    assert slowest < 60


def test_a_process_that_waits_too_long_reports_what_to_do(world: World) -> None:
    """The holder of the lock makes no progress."""
    world.data.mkdir()
    with (
        hold_lock(world.data),
        pytest.raises(IndexFailure, match=r"made no progress for 0 seconds\. Wait for it to exit"),
        hold_lock(world.data, patience=0.1),
    ):
        raise AssertionError("two hold the lock")


@pytest.mark.slow
def test_a_process_that_makes_progress_is_waited_for(world: World) -> None:
    """For any length of time."""
    world.data.mkdir()
    is_held, is_waited_for = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        with hold_lock(world.data) as lock:
            os.write(is_held[1], b".")
            os.read(is_waited_for[0], 1)
            for _ in range(60):
                time.sleep(0.1)
                lock.signal_progress()
        os._exit(0)
    os.read(is_held[0], 1)
    started = time.monotonic()
    os.write(is_waited_for[1], b".")
    with hold_lock(world.data, patience=5):
        waited = time.monotonic() - started
    assert os.waitpid(child, 0)[1] == 0
    assert waited > 5


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs a list of processes")
def test_a_worker_that_dies_is_made_up_for(history: tuple[World, Dump], tmp_path: Path) -> None:
    """Its batches are read by others."""
    world, expected = history
    world = World(world.base, tmp_path / "data")
    process = start_sync(world, pool_bytes=0)
    workers: list[int] = []
    while not workers and process.poll() is None:
        workers = list_children(process.pid)
    os.kill(workers[0], signal.SIGKILL)
    assert process.communicate(timeout=60) == ("40\n", "")
    assert_same(world.dump(), expected)


@pytest.mark.slow
@pytest.mark.parametrize("wait", [0.0, 0.02, 0.05, 0.1, 0.15])
def test_an_interrupted_sync_ends_at_once(
    history: tuple[World, Dump], tmp_path: Path, wait: float
) -> None:
    """Without output of its workers, and the next one continues."""
    world, expected = history
    world = World(world.base, tmp_path / "data")
    process = start_sync(world, pool_bytes=0, commit_bytes=1 << 19)
    time.sleep(wait)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert errors.splitlines().count("KeyboardInterrupt") <= 1
    world.sync()
    assert_same(world.dump(), expected)


def test_syncing_while_a_file_grows_is_repeated(world: World) -> None:
    """An index is up to date with what was there when it was checked, and no more."""
    world.write("p/a", Line().encode())
    found = world.find()
    world.append("p/a", Line(id="msg_2").encode())
    world.sync()
    assert not is_current(world.data, found)
    assert is_current(world.data, world.find())
