"""A generated history that takes a while to read, and processes that read it."""

import os
import random
import subprocess
import sys
from pathlib import Path

from tests.sync.lines import PRICED, Line, user_line
from tests.sync.world import World

FILES = 40
MESSAGES = 60
WORDS = 3000
READY = b"ready\n"

# Signals when everything is loaded, so that only the sync follows.
CODE = """
import os
import sys
from pathlib import Path
from recollect.sync.index_access import find_transcripts
from recollect.sync.sync_engine import sync
from recollect.sync.workers import Limits
root, data, pool, commit, rebuild = sys.argv[1:]
found = find_transcripts([Path(root)])
limits = Limits(pool_bytes=int(pool), batch_bytes=1 << 19, commit_bytes=int(commit))
os.write(1, b"ready\\n")
report = sync(Path(data), found, limits=limits, rebuild=rebuild == "rebuild")
print(report.files_read, flush=True)
"""


def write_history(world: World) -> None:
    """Write sessions with messages over several lines, some copied into other sessions."""
    dice = random.Random(1)
    previous = b""
    for number in range(FILES):
        lines = [previous] if number % 5 == 4 else []
        for message in range(MESSAGES):
            line = Line(
                id=f"msg_{number}_{message}",
                request=f"req_{number}_{message}",
                model=dice.choice(PRICED),
                time=f"2026-03-{number % 28 + 1:02}T10:{message % 60:02}:00.000Z",
                input=dice.randrange(1000),
                output=dice.randrange(1000),
                tools=dice.choice([(), ("Bash",), ("Read",)]),
            )
            lines += [line.encode(), user_line("x" * dice.randrange(WORDS)), line.encode()]
        previous = b"".join(lines[-9:])
        world.write(f"project{number % 3}/session{number}", b"".join(lines))


def start_sync(
    world: World, *, pool_bytes: int, commit_bytes: int = 1 << 20, rebuild: bool = False
) -> "subprocess.Popen[str]":
    """Start a process that syncs this world."""
    limits = [str(pool_bytes), str(commit_bytes), "rebuild" if rebuild else ""]
    process = subprocess.Popen(
        [sys.executable, "-c", CODE, str(world.root), str(world.data), *limits],
        env=dict(os.environ),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        # A separate process group, so that it can be interrupted like in a terminal.
        start_new_session=True,
    )
    assert process.stdout is not None
    # Not by a line: what is read ahead of it would be lost to `communicate`.
    assert os.read(process.stdout.fileno(), len(READY)) == READY
    return process


def list_children(pid: int) -> list[int]:
    """Return the child processes of a process."""
    listed = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(child) for child in listed.read_text(encoding="ascii").split()]
