"""Ctrl+C at any moment, in a terminal, where it reaches all processes of the program."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.sync.history import write_history
from tests.sync.world import World

LIMIT_SECONDS = 60
START = b"started\n"
MOMENTS = 6
TRACES = (b"Traceback", b"KeyboardInterrupt", b"Exception")

# Python's own start, in which nobody can be spared a traceback, is over when this prints.
CODE = """
import os, sys
from recollect.cli import main
os.write(1, b"started\\n")
sys.argv = ["recollect", *sys.argv[1:]]
main()
"""
# Small histories are read without helpers, and these have to have some.
WITH_HELPERS = """
from recollect.sync import text_plan
text_plan.POOL_BYTES = 0
"""
COMMANDS = {
    "search": ["search", "x"],
    "index": ["index", "--text"],
    "usage": ["usage"],
    "list": ["list"],
    "doctor": ["doctor"],
    "serve": ["serve", "--print-url", "--port", "0"],
    "follow": ["follow"],
    "statusline": ["statusline"],
}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="needs process groups"),
]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A history that takes a while to read."""
    base = tmp_path_factory.mktemp("interrupts")
    made = World(base, base / "data")
    write_history(made)
    return made


@pytest.mark.parametrize("moment", range(MOMENTS))
@pytest.mark.parametrize("name", COMMANDS)
def test_an_interrupt_of_all_processes_is_quiet(
    world: World, tmp_path: Path, name: str, moment: int
) -> None:
    """Neither the program nor a helper prints a traceback, while it loads or while it works."""
    dice = random.Random(f"{name} {moment}")
    where = [] if name == "statusline" else ["--claude-dir", str(world.root)]
    code = CODE if moment % 2 else WITH_HELPERS + CODE
    process = subprocess.Popen(
        [sys.executable, "-c", code, *COMMANDS[name], *where],
        env={**os.environ, "RECOLLECT_DATA_DIR": str(tmp_path / "data")},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert os.read(process.stdout.fileno(), len(START)) == START
    time.sleep(0.05 + dice.random() ** 2 * 1.5)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=LIMIT_SECONDS)
    # A command that was done before may have said something else.
    assert [word for word in TRACES if word in errors] == [], errors
    assert process.returncode in {0, 3, 130, -signal.SIGINT}


def test_an_interrupt_in_a_destructor_is_not_lost() -> None:
    """Python drops what a destructor raises; the program is interrupted all the same, quietly."""
    code = """
import _thread, sys, time
from recollect.cli.exit_codes import repeat_lost_interrupt
sys.unraisablehook = repeat_lost_interrupt
class Held:
    def __del__(self):
        _thread.interrupt_main()
        time.sleep(0)
try:
    Held()
    time.sleep(60)
except KeyboardInterrupt:
    print("interrupted")
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=False, timeout=LIMIT_SECONDS
    )
    assert (done.stdout, done.stderr) == (b"interrupted\n", b"")
