"""Export a long session, compared with claude-code-log, and many sessions: `python -m
benchmarks.export`.

Both programs export the same transcript in the same run, one after the other; CPU time counts all
processes. claude-code-log is installed from PyPI into a temporary environment, unless `--peer
DIRECTORY` specifies one that has it, or is empty. `--sessions` exports that many sessions into a
directory and measures the memory for it.
"""

import argparse
import os
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.library import make_session
from benchmarks.peer import Peer, install
from benchmarks.processes import Run, run_program
from benchmarks.text import Text
from benchmarks.web import make_history

LONG_BYTES = 55_000_000
"""With its subagents; the transcript itself has 50 MB."""
SESSION_BYTES = 500_000
MAX_MEMORY = 400
MIN_RATIO = 5


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--bytes", type=int, default=LONG_BYTES)
    parser.add_argument("--sessions", type=int, default=400)
    parser.add_argument("--peer", type=Path)
    options = parser.parse_args(arguments)
    with TemporaryDirectory(prefix="recollect-export-") as folder:
        for line in measure_long(Path(folder), options.bytes, options.rounds, options.peer):
            print(line, flush=True)
        for line in measure_many(Path(folder), options.sessions):
            print(line, flush=True)
    return 0


def measure_long(folder: Path, size: int, rounds: int, where: Path | None) -> Iterator[str]:
    """Yield time and size of one page by each program, best of all rounds."""
    long = make_history(folder / "long", 0, size)
    home = folder / "home"
    home.mkdir()
    peer = find_peer(folder, home, where)
    ours: list[Run] = []
    theirs: list[Run] = []
    for _ in range(rounds):
        ours.append(export(folder, [str(long)], folder / "ours.html"))
        if peer:
            theirs.append(peer.export(long, folder / "theirs.html"))
    best = min(ours, key=lambda run: run.seconds)
    yield describe("recollect, one page", best, folder / "ours.html")
    # Separately: monitoring the memory of several processes takes much of a core.
    watched = export(folder, [str(long)], folder / "ours.html", with_memory=True)
    yield f"recollect, one page: memory {watched.peak_memory / 1e6:.0f} MB"
    if not theirs:
        yield "claude-code-log is left out: it is not installed"
        return
    other = min(theirs, key=lambda run: run.seconds)
    yield describe("claude-code-log, one page", other, folder / "theirs.html")
    cpu = other.cpu_seconds / best.cpu_seconds
    yield f"faster by {other.seconds / best.seconds:.1f} (goal {MIN_RATIO}), CPU {cpu:.1f}"


def find_peer(folder: Path, home: Path, where: Path | None) -> Peer | None:
    """Return claude-code-log, from an existing environment or installed now."""
    if where is None:
        return install(folder / "peer")
    program = where / "bin" / "claude-code-log"
    return Peer(program, "given", home) if program.exists() else None


def measure_many(folder: Path, count: int) -> Iterator[str]:
    """Yield the memory for many sessions."""
    rng = random.Random(1)
    text = Text(rng)
    root = folder / "many"
    for number in range(count):
        make_session(rng, text, number, SESSION_BYTES).save(root)
    target = folder / "pages"
    run = export(folder, ["--all", "--claude-dir", str(root)], target, with_memory=True)
    size = sum(path.stat().st_size for path in target.iterdir()) / 1e6
    yield (
        f"recollect, {count} sessions: {run.seconds:.1f} s, CPU {run.cpu_seconds:.1f} s, "
        f"{size:.0f} MB, memory {run.peak_memory / 1e6:.0f} MB (goal {MAX_MEMORY})"
    )


def export(
    folder: Path, arguments: Sequence[str], target: Path, *, with_memory: bool = False
) -> Run:
    """Run `recollect export` as a user would."""
    command = [sys.executable, "-m", "recollect", "export", *arguments, "--format", "html"]
    environment = {
        **os.environ,
        "HOME": str(folder / "home"),
        "RECOLLECT_DATA_DIR": str(folder / "d"),
    }
    environment.pop("CLAUDE_CONFIG_DIR", None)
    options = ["--force", "-o", str(target)]
    return run_program([*command, *options], environment, with_memory=with_memory)


def describe(name: str, run: Run, page: Path) -> str:
    """Return one line about a run."""
    size = page.stat().st_size / 1e6
    return f"{name}: {run.seconds:.1f} s, CPU {run.cpu_seconds:.1f} s, {size:.1f} MB"


if __name__ == "__main__":
    sys.exit(main())
