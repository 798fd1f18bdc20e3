"""How fast a large session opens and a long list appears: `python -m benchmarks.library`.

Each figure comes from a fresh process, so that CPU time and memory are those of a first look, the
start of the interpreter included. Nothing is indexed: the library reads the files.
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


class Look(Struct, frozen=True):
    """What a fresh process did: how much it looked at, and what that cost."""

    name: str
    items: int
    size: int
    cpu_seconds: float
    peak_memory: int


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code, always 0: what is too slow is for the reader of the figures to say."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.library", description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="size of everything, 1 by default")
    parser.add_argument("--json", action="store_true", help="print one JSON object a line")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="recollect-benchmark-") as folder:
        looks = run(Path(folder), options.scale)
    for look in looks:
        print(msgspec.json.encode(look).decode() if options.json else format_look(look))
    return 0


def run(folder: Path, scale: float) -> list[Look]:
    """The figures for one large session and for many small ones, made in `folder`."""
    rng = random.Random(1)
    text = Text(rng)
    large = make_session(rng, text, 0, round(SESSION_BYTES * scale))
    large.save(folder / "large")
    for number in range(max(round(LISTED_SESSIONS * scale), 1)):
        make_session(rng, text, number, LISTED_BYTES).save(folder / "many")
    return [
        look_in_fresh_process("open", folder / "large"),
        look_in_fresh_process("list", folder / "many"),
    ]


def make_session(rng: random.Random, text: Text, number: int, size: int) -> Session:
    """A made-up session of about `size` bytes."""
    session = Session(rng, text, number, [])
    session.grow(size)
    return session


def look_in_fresh_process(name: str, root: Path) -> Look:
    """What the look of that name costs a process that does nothing else."""
    command = [sys.executable, "-m", "benchmarks.library", "--look", name, str(root)]
    done = subprocess.run(command, cwd=_ROOT, capture_output=True, check=True)
    return msgspec.json.decode(done.stdout, type=Look)


def open_large(root: Path) -> tuple[int, int]:
    """Messages and bytes of the session, after every view of it has been made."""
    (listed,) = iter_sessions(root=root)
    session = open_session(listed.path)
    for view in VIEWS:
        getattr(session, view)
    return len(session.messages), listed.size


def list_many(root: Path) -> tuple[int, int]:
    """Sessions and bytes of a list of all sessions."""
    listed = list(iter_sessions(root=root))
    return len(listed), sum(each.size for each in listed)


_LOOKS: dict[str, Callable[[Path], tuple[int, int]]] = {"open": open_large, "list": list_many}


def format_look(look: Look) -> str:
    """One line for people."""
    return (
        f"{look.name}: {look.items:,} items of {look.size / 1e6:,.0f} MB in "
        f"{look.cpu_seconds:.2f} s of CPU, {look.peak_memory / 1e6:,.0f} MB of memory"
    )


def _look(name: str, root: Path) -> Look:
    items, size = _LOOKS[name](root)
    return Look(name, items, size, time.process_time(), peak_memory())


if __name__ == "__main__":
    if sys.argv[1:2] == ["--look"]:
        print(msgspec.json.encode(_look(sys.argv[2], Path(sys.argv[3]))).decode())
    else:
        sys.exit(main())
