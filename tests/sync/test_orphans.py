"""Helper processes end with the process that started them, however that one dies."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest

from tests.sync.history import write_history
from tests.sync.world import World

KILLS = 40
LIMIT_SECONDS = 60
MARK = "RECOLLECT_TEST_MARK"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs a list of processes"),
]

INDEX_TEXTS = """
import sys
from pathlib import Path
from recollect.search.engine import ANALYZER
from recollect.sync import text_indexer, text_plan
from recollect.sync.index_access import find_transcripts
text_plan.POOL_BYTES = 0
text_indexer.index_texts(Path(sys.argv[2]), ANALYZER, find_transcripts([Path(sys.argv[1])]))
"""
SYNC = """
import sys
from pathlib import Path
from recollect.sync.index_access import find_transcripts
from recollect.sync.sync_engine import sync
from recollect.sync.workers import Limits
limits = Limits(pool_bytes=0, batch_bytes=1 << 16)
sync(Path(sys.argv[2]), find_transcripts([Path(sys.argv[1])]), limits=limits)
"""
# With a thread beside, workers are started by another way than a fork.
SPAWNING = """
import threading, time
threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
"""
PROGRAMS = {
    "texts": ["-c", INDEX_TEXTS],
    "sync": ["-c", SYNC],
    "spawned": ["-c", SPAWNING + INDEX_TEXTS],
    "serve": ["-m", "recollect", "serve", "--print-url", "--port", "0", "--claude-dir"],
}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A history that takes a while to read."""
    base = tmp_path_factory.mktemp("orphans")
    made = World(base, base / "data")
    write_history(made)
    return made


def list_marked(mark: str) -> list[int]:
    """The processes that run with a mark in their environment."""
    found = []
    for directory in Path("/proc").iterdir():
        if directory.name.isdecimal():
            try:
                environment = (directory / "environ").read_bytes()
            except OSError:
                continue
            if f"{MARK}={mark}".encode() in environment.split(b"\0"):
                found.append(int(directory.name))
    return found


def wait_until(is_so: Callable[[], bool], what: str) -> None:
    """Wait for a state, however busy the machine is."""
    end = time.monotonic() + LIMIT_SECONDS
    while not is_so():
        assert time.monotonic() < end, what
        time.sleep(0.01)


@pytest.mark.parametrize("number", range(KILLS))
def test_helpers_end_with_their_parent(world: World, tmp_path: Path, number: int) -> None:
    """Whichever signal ends the parent alone, at whatever moment, no process is left."""
    dice = random.Random(number)
    program = PROGRAMS[[*PROGRAMS][number % len(PROGRAMS)]]
    how = (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP)[number // len(PROGRAMS) % 3]
    mark, data = uuid4().hex, tmp_path / "data"
    process = subprocess.Popen(
        [sys.executable, *program, str(world.root), *([str(data)] if "-c" in program else [])],
        env={**os.environ, MARK: mark, "RECOLLECT_DATA_DIR": str(data)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    left: list[int] = []

    def is_alone() -> bool:
        left[:] = list_marked(mark)
        return not left

    try:
        wait_until(lambda: process.poll() is not None or len(list_marked(mark)) > 1, "no helper")
        assert process.returncode in {None, 0}, "it failed before it was killed"
        time.sleep(dice.random() * 0.3)
        process.send_signal(how)
        process.wait(LIMIT_SECONDS)
        wait_until(is_alone, "helpers are left")
    finally:
        for pid in list_marked(mark):
            os.kill(pid, signal.SIGKILL)
        process.wait()
