"""Cost of opening a large session and of a long list: `python -m benchmarks.library`.

Each figure comes from a fresh process, so CPU time and memory include the start of the interpreter.
There is no index: the library reads the files.
"""

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from benchmarks.memory import peak_memory
from benchmarks.session import Session
from benchmarks.text import Text
from recollect import iter_sessions, open_session

_ROOT = Path(__file__).resolve().parent.parent
SESSION_BYTES = 50_000_000
LISTED_SESSIONS = 2_000
LISTED_BYTES = 250_000
VIEWS = (
    "messages turns tool_calls branches segments subagents facts files todos tasks hooks media "
    "metadata metrics resume_chain"
).split()


class Measurement(Struct, frozen=True):
    """The data read by a fresh process, and the cost."""

    name: str
    items: int
    size: int
    cpu_seconds: float
    peak_memory: int


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures and return 0: there are no limits."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.library", description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="size of everything, 1 by default")
    parser.add_argument("--json", action="store_true", help="print one JSON object a line")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="recollect-benchmark-") as folder:
        measurements = run(Path(folder), options.scale)
    for measurement in measurements:
        print(
            msgspec.json.encode(measurement).decode()
            if options.json
            else format_measurement(measurement)
        )
    return 0


def run(folder: Path, scale: float) -> list[Measurement]:
    """Measure one large session and many small ones, generated in `folder`."""
    rng = random.Random(1)
    text = Text(rng)
    large = make_session(rng, text, 0, round(SESSION_BYTES * scale))
    large.save(folder / "large")
    for number in range(max(round(LISTED_SESSIONS * scale), 1)):
        make_session(rng, text, number, LISTED_BYTES).save(folder / "many")
    return [
        measure_in_fresh_process("open", folder / "large"),
        measure_in_fresh_process("list", folder / "many"),
    ]


def make_session(rng: random.Random, text: Text, number: int, size: int) -> Session:
    """Return a made-up session of about `size` bytes."""
    session = Session(rng, text, number, [])
    session.grow(size)
    return session


def measure_in_fresh_process(name: str, root: Path) -> Measurement:
    """Run the task with that name in a separate process and return its cost."""
    command = [sys.executable, "-m", "benchmarks.library", "--task", name, str(root)]
    done = subprocess.run(command, cwd=_ROOT, capture_output=True, check=True)
    return msgspec.json.decode(done.stdout, type=Measurement)


def open_large(root: Path) -> tuple[int, int]:
    """Open the session, build every view of it, and return its messages and bytes."""
    (listed,) = iter_sessions(root=root)
    session = open_session(listed.path)
    for view in VIEWS:
        getattr(session, view)
    return len(session.messages), listed.size


def list_many(root: Path) -> tuple[int, int]:
    """List all sessions and return their number and bytes."""
    listed = list(iter_sessions(root=root))
    return len(listed), sum(each.size for each in listed)


_TASKS: dict[str, Callable[[Path], tuple[int, int]]] = {"open": open_large, "list": list_many}


def format_measurement(measurement: Measurement) -> str:
    """Format a measurement as one line."""
    return (
        f"{measurement.name}: {measurement.items:,} items of {measurement.size / 1e6:,.0f} MB in "
        f"{measurement.cpu_seconds:.2f} s of CPU, {measurement.peak_memory / 1e6:,.0f} MB of memory"
    )


def _measure(name: str, root: Path) -> Measurement:
    items, size = _TASKS[name](root)
    return Measurement(name, items, size, time.process_time(), peak_memory())


if __name__ == "__main__":
    if sys.argv[1:2] == ["--task"]:
        print(msgspec.json.encode(_measure(sys.argv[2], Path(sys.argv[3]))).decode())
    else:
        sys.exit(main())
