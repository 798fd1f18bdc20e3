"""Cost of a command from start to end: `python -m benchmarks.cli`.

User plus system CPU time of fresh processes, on a made-up history of 2,000 sessions with an index
that is up to date; for the picker, the wall time until its list is on the screen. A budget is what
we promise; the best run is compared with it, because on a busy machine the median measures other
programs.
"""

import argparse
import fcntl
import json
import os
import pty
import random
import resource
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from msgspec import Struct

from benchmarks.library import make_session
from benchmarks.text import Text

_ROOT = Path(__file__).resolve().parent.parent
SESSIONS = 2_000
SESSION_BYTES = 40_000
RUNS = 20
_MILLISECONDS = 1000


class Measured(Struct, frozen=True):
    """A command with its best and median run, in milliseconds."""

    command: str
    best: float
    median: float
    budget: float | None
    """The promised limit, if there is one."""
    clock: str = "of CPU"


COMMANDS: Mapping[str, float | None] = {
    "--version": 120,
    "--help": 120,
    "list": 150,
    "statusline": 100,
    "usage": None,
    "usage session": None,
}
"""Commands with their budgets in milliseconds."""

PICKER = "alone, first paint"
PICKER_BUDGET = 400
PAINTED = b" sessions, everywhere"
"""The end of the line below the list, which is printed last."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Return the exit code: 1 if a budget is exceeded."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cli", description=__doc__)
    parser.add_argument("--sessions", type=int, default=SESSIONS, help="2,000 by default")
    parser.add_argument("--runs", type=int, default=RUNS, help="of each command, 20 by default")
    parser.add_argument("--json", action="store_true", help="print one JSON object a line")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="recollect-benchmark-") as folder:
        results = run(Path(folder), options.sessions, options.runs)
    for result in results:
        print(msgspec.json.encode(result).decode() if options.json else format_result(result))
    return int(any(each.budget is not None and each.best > each.budget for each in results))


def run(folder: Path, sessions: int, runs: int) -> list[Measured]:
    """Measure all commands on a history created in `folder`."""
    environment = make_home(folder, sessions)
    status = make_status(folder)
    # The first runs read the files, which is not the usual cost of a command.
    for words in (["index"], ["list"]):
        _measure_cpu(words, environment, b"")
    measured = [
        measure(command, runs, environment, status if command == "statusline" else b"")
        for command in COMMANDS
    ]
    paints = [_time_first_paint(environment) for _ in range(runs)]
    picker = Measured(PICKER, min(paints), statistics.median(paints), PICKER_BUDGET, "wall time")
    return [*measured, picker]


def make_home(folder: Path, sessions: int) -> dict[str, str]:
    """Create a home directory with sessions and return an environment that uses it."""
    rng = random.Random(1)
    text = Text(rng)
    for number in range(sessions):
        make_session(rng, text, number, SESSION_BYTES).save(folder / ".claude")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CLAUDE")}
    return {
        **kept,
        **dict.fromkeys(("RECOLLECT_CONFIG", "RECOLLECT_DATA_DIR", "RECOLLECT_PRICES"), ""),
        "HOME": str(folder),
        "USERPROFILE": str(folder),
        "LOCALAPPDATA": str(folder),
        "XDG_DATA_HOME": str(folder / "data"),
        "XDG_CONFIG_HOME": str(folder / "config"),
        "RECOLLECT_NOW": datetime.now(UTC).isoformat(),
    }


def make_status(folder: Path) -> bytes:
    """Return the status line input for one of the sessions."""
    transcript = next(folder.glob(".claude/projects/*/*.jsonl"))
    status = {
        "session_id": transcript.stem,
        "transcript_path": str(transcript),
        "model": {"display_name": "Opus 4.5"},
        "cost": {"total_cost_usd": 1.25},
        "context_window": {"used_percentage": 42},
    }
    return json.dumps(status).encode()


def measure(command: str, runs: int, environment: Mapping[str, str], data: bytes) -> Measured:
    """Run a command several times and return its cost."""
    spent = [_measure_cpu(command.split(), environment, data) for _ in range(runs)]
    return Measured(command, min(spent), statistics.median(spent), COMMANDS[command])


def _measure_cpu(words: Sequence[str], environment: Mapping[str, str], data: bytes) -> float:
    command = [sys.executable, "-m", "recollect", *words]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=_ROOT, env=environment, input=data, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds * _MILLISECONDS


def _time_first_paint(environment: Mapping[str, str]) -> float:
    """Return the milliseconds until the picker shows its list in a terminal."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 110, 0, 0))
    before = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "recollect"],
        cwd=_ROOT,
        env={**environment, "TERM": "xterm-256color"},
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
    )
    os.close(slave)
    try:
        seen = b""
        while PAINTED not in seen:
            seen += os.read(master, 65536)
        return (time.perf_counter() - before) * _MILLISECONDS
    finally:
        process.kill()
        process.wait()
        os.close(master)


def format_result(result: Measured) -> str:
    """Format a result as one line."""
    budget = "" if result.budget is None else f", budget {result.budget:.0f}"
    return (
        f"recollect {result.command}: best {result.best:.0f} ms {result.clock}, "
        f"median {result.median:.0f}{budget}"
    )


if __name__ == "__main__":
    sys.exit(main())
