"""A sync that is killed at any moment loses nothing, repeats nothing and blocks nothing.

`RECOLLECT_KILLS` is the number of attempts.
"""

import os
import random
import shutil
import signal
import time
from pathlib import Path

import pytest

from recollect.store.data_directory import INDEX_NAME
from recollect.sync.sync_engine import sync
from tests.sync.history import list_children, start_sync, write_history
from tests.sync.world import Dump, World, assert_same

KILLS = int(os.environ.get("RECOLLECT_KILLS", "20"))
MAX_SECONDS = 0.25
"""Approximate duration of a sync of the whole history."""


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> tuple[World, Path, Dump]:
    """A history, an index of half of it, and the totals of a complete index."""
    base = tmp_path_factory.mktemp("killed")
    world = World(base, base / "data")
    write_history(world)
    sync(base / "half", world.find()[::2])
    return world, base / "half", world.dump_fresh()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(KILLS))
def test_a_killed_sync_is_made_good_by_the_next(
    history: tuple[World, Path, Dump], seed: int
) -> None:
    """From nothing, from half an index, or from the state after the last kill."""
    world, half, expected = history
    dice = random.Random(seed)
    start = dice.choice(["nothing", "half", "last"])
    if start != "last":
        shutil.rmtree(world.data, ignore_errors=True)
    if start == "half":
        shutil.copytree(half, world.data)
    process = start_sync(world, pool_bytes=dice.choice([0, 1 << 40]))
    time.sleep(dice.random() * MAX_SECONDS)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    world.sync()
    connection = world.open()
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()
    assert_same(world.dump(), expected)
    if dice.random() < 0.5:
        (world.data / INDEX_NAME).unlink()


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs a list of processes")
def test_workers_end_with_the_process_that_started_them(
    history: tuple[World, Path, Dump],
) -> None:
    """However it ends: they keep neither the lock nor memory."""
    world, _, _ = history
    shutil.rmtree(world.data, ignore_errors=True)
    process = start_sync(world, pool_bytes=0)
    deadline = time.monotonic() + 60
    workers: list[int] = []
    while not workers and process.poll() is None and time.monotonic() < deadline:
        workers = list_children(process.pid)
    process.kill()
    process.communicate()
    while any(Path(f"/proc/{worker}").exists() for worker in workers):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert workers
