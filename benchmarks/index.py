"""Speed and reliability of the index: `python -m benchmarks.index [--sizes 1g,4g]`.

Compares reports with ccusage, a peer written in Rust, on the same files: runs alternate, and the
best of each counts, because other programs share the machine. Every figure is printed with its
goal. Needs npm to install the peer; without it there are no ratios.
"""

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec
from msgspec import Struct

from benchmarks.corpus import make_reference
from benchmarks.library import make_session
from benchmarks.processes import Run, run_program
from benchmarks.text import Text

PEER = "ccusage@20.0.24"
SESSIONS, SESSION_BYTES = 2_000, 20_000
LINE_BYTES = 1_000_000_000
KILLS, SCHEDULES = 500, 300
MEGABYTE = 1_000_000

_ROOT = Path(__file__).resolve().parent.parent
_RECOLLECT = [sys.executable, "-m", "recollect"]
_UNITS = {"m": 10**6, "g": 10**9}
_TOTALS = {
    "messages": "messages",
    "input": "input_tokens",
    "output": "output_tokens",
    "cache_read": "cache_read_tokens",
    "cache_5m": "cache_write_5m_tokens",
    "cache_1h": "cache_write_1h_tokens",
}


class Figure(Struct, frozen=True):
    """A figure and its upper limit."""

    name: str
    value: float
    unit: str = ""
    goal: float | None = None

    @property
    def is_met(self) -> bool:
        """Whether the goal is met; true if there is none."""
        return self.goal is None or self.value <= self.goal


class Sandbox:
    """A corpus, and an environment in which programs see only that corpus."""

    def __init__(self, folder: Path, root: Path) -> None:
        self.root = root
        self.data = folder / f"data-{root.name}"
        # An installed program has compiled bytecode; a checkout may not.
        self.environment = _keep_environment() | {
            "HOME": str(folder),
            "CLAUDE_CONFIG_DIR": str(root),
            "RECOLLECT_DATA_DIR": str(self.data),
            "PYTHONPYCACHEPREFIX": str(folder / "compiled"),
            "PYTHONPATH": str(_ROOT / "src"),
        }

    def recollect(self, *words: str, with_memory: bool = False) -> Run:
        """Run `recollect` with these arguments."""
        return run_program([*_RECOLLECT, *words], self.environment, with_memory=with_memory)

    def delete_index(self) -> None:
        """Delete the index."""
        shutil.rmtree(self.data, ignore_errors=True)


def _keep_environment() -> dict[str, str]:
    ours = ("RECOLLECT_", "PYTHON", "CLAUDE_")
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)}


def main(arguments: Sequence[str] | None = None) -> int:
    """Return the exit code: 1 if a goal was missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.index", description=__doc__)
    parser.add_argument("--sizes", default="1g,4g", help="of the corpora, such as 100m,1g")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each kind")
    parser.add_argument("--kills", type=int, default=KILLS, help="kills in the fault run")
    parser.add_argument("--line", type=int, default=LINE_BYTES, help="bytes of the longest line")
    parser.add_argument("--folder", type=Path, help="where corpora are kept for another run")
    parser.add_argument("--json", action="store_true", help="print one JSON object a line")
    options = parser.parse_args(arguments)
    is_met = True
    with _open_folder(options.folder) as folder:
        for figure in measure(folder, options):
            is_met &= figure.is_met
            print(msgspec.json.encode(figure).decode() if options.json else describe(figure))
            sys.stdout.flush()
    return 0 if is_met else 1


@contextmanager
def _open_folder(given: Path | None) -> Iterator[Path]:
    if given is not None:
        given.mkdir(parents=True, exist_ok=True)
        yield given
        return
    with tempfile.TemporaryDirectory(prefix="recollect-benchmark-") as folder:
        yield Path(folder)


def describe(figure: Figure) -> str:
    """Format a figure as one line."""
    goal = "" if figure.goal is None else f"  (goal: at most {figure.goal:g} {figure.unit})"
    missed = "" if figure.is_met else "  MISSED"
    return f"{figure.name}: {figure.value:.3f} {figure.unit}".rstrip() + goal + missed


def measure(folder: Path, options: argparse.Namespace) -> Iterator[Figure]:
    """Yield all figures as they are measured."""
    peer = install_peer(folder)
    warm: dict[str, float] = {}
    for size in options.sizes.split(","):
        sandbox = make_sandbox(folder, size)
        if sandbox is None:
            print("The corpus generator is not beside the project: nothing to measure.")
            return
        runs = take_turns(sandbox, peer, options.rounds)
        warm[size] = runs["warm"].seconds
        yield from compare(size, runs)
        yield check_totals(size, sandbox)
        yield from measure_memory(size, sandbox)
    if {"1g", "4g"} <= warm.keys():
        yield Figure("4g: warm, of warm at 1g", warm["4g"] / warm["1g"], "x", 2.5)
    yield from measure_long_line(folder, options.line)
    yield from measure_list(folder)
    yield from run_faults(options.kills)


def install_peer(folder: Path) -> list[str]:
    """Install the peer and return its command; empty if that is not possible."""
    home = folder / "peer"
    program = home / "node_modules" / ".bin" / "ccusage"
    if not program.exists():
        command = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(home), PEER]
        try:
            subprocess.run(command, capture_output=True, check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"{PEER} could not be installed ({error}): no ratios.")
            return []
    return [str(program), "daily", "--json", "--offline"]


def make_sandbox(folder: Path, size: str) -> Sandbox | None:
    """Return a corpus of that size, generating it if needed."""
    root = folder / size
    if not (root / "truth.json").is_file():
        shutil.rmtree(root, ignore_errors=True)
        if make_reference(root, round(float(size[:-1]) * _UNITS[size[-1]])) is None:
            return None
    return Sandbox(folder, root)


def take_turns(sandbox: Sandbox, peer: Sequence[str], rounds: int) -> dict[str, Run]:
    """Alternate the kinds of runs and return the best of each."""
    runs: dict[str, list[Run]] = {name: [] for name in ("cold", "warm", "appended", "peer")}
    for number in range(rounds):
        if peer:
            runs["peer"].append(run_program(peer, sandbox.environment))
        sandbox.delete_index()
        runs["cold"].append(sandbox.recollect("usage"))
        for _ in range(3):
            runs["warm"].append(sandbox.recollect("usage"))
        with _appended(sandbox, number):
            runs["appended"].append(sandbox.recollect("usage"))
        sandbox.recollect("usage")
    return {name: min(taken, key=_seconds) for name, taken in runs.items() if taken}


def _seconds(run: Run) -> float:
    return run.seconds


@contextmanager
def _appended(sandbox: Sandbox, number: int) -> Iterator[None]:
    """Append a line to a transcript, and remove it at the end."""
    path = sorted(sandbox.root.rglob("*.jsonl"))[number]
    state, size = path.stat(), path.stat().st_size
    usage = {"input_tokens": 1, "output_tokens": number}
    message = {"id": f"appended_{number}", "model": "claude-opus-4-8", "usage": usage}
    line = {"type": "assistant", "timestamp": "2026-06-01T00:00:00.000Z", "message": message}
    try:
        with path.open("ab") as file:
            file.write(json.dumps(line).encode() + b"\n")
        yield
    finally:
        os.truncate(path, size)
        os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))


def compare(size: str, runs: Mapping[str, Run]) -> Iterator[Figure]:
    """Yield times, and their ratios to those of the peer."""
    for name, run in runs.items():
        yield Figure(f"{size}: {name}, wall", run.seconds, "s")
        yield Figure(f"{size}: {name}, CPU", run.cpu_seconds, "s")
    goals = {"1g": {"cold": 0.9, "warm": 0.08}, "4g": {"warm": 0.03}}.get(size, {})
    if "peer" in runs:
        for name in ("cold", "warm"):
            ratio = runs[name].seconds / runs["peer"].seconds
            yield Figure(f"{size}: {name}, of the peer", ratio, "x", goals.get(name))
    more = (runs["appended"].seconds - runs["warm"].seconds) * 1000
    yield Figure(f"{size}: extra time after one appended line", more, "ms", 80)


def check_totals(size: str, sandbox: Sandbox) -> Figure:
    """Count the totals that differ from those of the generator."""
    truth = json.loads((sandbox.root / "truth.json").read_bytes())["total"]
    totals = json.loads(sandbox.recollect("usage", "model", "--json").output)["totals"]
    wrong = [name for name, ours in _TOTALS.items() if truth[name] != totals[ours]]
    return Figure(f"{size}: wrong totals", len(wrong), goal=0)


def measure_memory(size: str, sandbox: Sandbox) -> Iterator[Figure]:
    """Measure the memory of a first sync with all its processes, then of indexing texts."""
    sandbox.delete_index()
    run = sandbox.recollect("index", with_memory=True)
    yield Figure(f"{size}: memory while indexing", run.peak_memory / MEGABYTE, "MB", 300)
    index = sum(path.stat().st_size for path in sandbox.data.rglob("*") if path.is_file())
    yield Figure(f"{size}: index on disk", index / MEGABYTE, "MB")
    run = sandbox.recollect("index", "--text", with_memory=True)
    yield Figure(f"{size}: memory while indexing texts", run.peak_memory / MEGABYTE, "MB", 300)


def measure_long_line(folder: Path, size: int) -> Iterator[Figure]:
    """Measure the memory for a transcript of one very long line."""
    root = folder / "line"
    path = root / "projects" / "p" / "11111111-1111-4111-8111-111111111111.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.write(b'{"type":"user","message":{"role":"user","content":"')
        for _ in range(size // MEGABYTE):
            file.write(b"x" * MEGABYTE)
        file.write(b'"}}\n')
    run = Sandbox(folder, root).recollect("index", with_memory=True)
    shutil.rmtree(root)
    yield Figure(f"one line of {size:,} bytes: memory", run.peak_memory / MEGABYTE, "MB", 300)


def measure_list(folder: Path) -> Iterator[Figure]:
    """Measure the CPU time of `list` from the index, including start-up."""
    root = folder / "many"
    rng = random.Random(1)
    text = Text(rng)
    for number in range(SESSIONS):
        make_session(rng, text, number, SESSION_BYTES).save(root)
    sandbox = Sandbox(folder, root)
    sandbox.recollect("list")
    run = min((sandbox.recollect("list") for _ in range(10)), key=lambda run: run.cpu_seconds)
    shutil.rmtree(root)
    yield Figure(f"list of {SESSIONS:,} sessions, CPU", run.cpu_seconds * 1000, "ms", 150)


def run_faults(kills: int) -> Iterator[Figure]:
    """Count how often a killed sync, or a changed file, left a wrong index."""
    killed = "tests/sync/test_kill.py::test_a_killed_sync_is_made_good_by_the_next"
    for name, tests, count in (
        ("killed syncs", killed, kills),
        ("schedules of changes", "tests/sync/test_schedules.py", SCHEDULES),
    ):
        command = [sys.executable, "-m", "pytest", "-q", "-m", "", "-p", "no:cacheprovider", tests]
        environment = _keep_environment() | {"RECOLLECT_KILLS": str(count)}
        done = subprocess.run(command, cwd=_ROOT, env=environment, capture_output=True, check=False)
        passed = re.search(r"(\d+) passed", done.stdout.decode())
        wrong = count - (int(passed[1]) if passed else 0)
        yield Figure(f"{name}, of {count:,}, that left a wrong index", wrong, goal=0)


if __name__ == "__main__":
    sys.exit(main())
