"""Feed broken lines to the reader: `python -m fuzz.lines --lines 1000000`.

Each batch of lines is read in random chunks and checked against the laws; expensive laws are
checked on some batches only. The first line that breaks a law is printed with the seed that
reproduces it.
"""

import argparse
import random
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.memory import current_memory
from fuzz import laws, runs
from fuzz.mutations import make_line
from recollect.reader.line_blocks import MAX_LINE
from recollect.records.envelope import Blank, Damaged, Oversized, Record, Torn, Unknown

BATCH = 200
SHORT_LIMIT = 2000
"""A limit on line length that many of the lines exceed."""

MAX_GROWTH = 4_000_000
"""Bytes by which a process may grow in the second half of its run."""

# Not `splitlines`, which also splits at a lone carriage return.
_LINE = re.compile(rb"[^\n]*\n|[^\n]+")
_IRREGULAR = (Unknown, Damaged, Torn, Blank, Oversized)


@dataclass(slots=True)
class Tally:
    """What one process did; `failure` says how to reproduce it."""

    lines: int = 0
    read_seconds: float = 0.0
    slowest: float = 0.0
    outcomes: Counter[str] = field(default_factory=Counter)
    memory: list[int] = field(default_factory=list)
    failure: str = ""

    def add(self, records: list[Record], seconds: float) -> None:
        """Count the records of one batch and the time to read them."""
        self.outcomes.update(map(_describe, records))
        self.read_seconds += seconds
        self.slowest = max(self.slowest, seconds)


def main(arguments: Sequence[str] | None = None) -> int:
    """Return the exit code: 1 if a law was broken or memory grew."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.lines", description=__doc__)
    parser.add_argument("--lines", type=int, default=100_000, help="lines to make (%(default)s)")
    runs.add_seed(parser)
    runs.add_jobs(parser)
    options = parser.parse_args(arguments)
    start = time.perf_counter()
    tallies = runs.split(fuzz, options.lines, options.seed, options.jobs)
    print(format_tallies(tallies, options.seed, time.perf_counter() - start))
    return runs.report(
        failure for tally in tallies if (failure := tally.failure or _find_growth(tally))
    )


def fuzz(lines: int, seed: str) -> Tally:
    """Read batches of broken lines until `lines` were read, or one broke a law."""
    tally = Tally()
    batches = -(-lines // BATCH)
    with tempfile.TemporaryDirectory(prefix="recollect-fuzz-") as folder:
        path = Path(folder) / "batch.jsonl"
        for number in range(batches):
            rng = random.Random(f"{seed}:{number}")
            made = [make_line(rng) for _ in range(min(BATCH, lines - tally.lines))]
            data = b"\n".join(made) + (b"\n" if rng.random() < 0.8 else b"")
            tally.failure = _find_failure(data, f"{seed}:{number}", path, tally)
            tally.lines += len(made)
            # The first batch fills the caches that never grow again.
            if number in {0, batches // 2, batches - 1}:
                tally.memory.append(current_memory())
            if tally.failure:
                break
    return tally


def _find_failure(data: bytes, seed: str, path: Path, tally: Tally) -> str:
    error = _try(data, seed, path, tally)
    if error is None:
        return ""
    for line in _LINE.findall(data):
        alone = _try(line, seed, path, None)
        if alone is not None:
            return f"seed {seed}: {alone!r} on this line:\n{line!r}"
    return f"seed {seed}: {error!r} on these lines:\n{data!r}"


def _try(data: bytes, seed: str, path: Path, tally: Tally | None) -> Exception | None:
    try:
        check(data, random.Random(seed), path, tally)
    except Exception as error:  # noqa: BLE001 - any exception is a finding
        return error
    return None


def check(data: bytes, rng: random.Random, path: Path, tally: Tally | None = None) -> None:
    """Check `data` against the laws; raises `LawBroken` or whatever the reader raises.

    With a tally the expensive laws are checked at random; without one all are checked.
    """
    is_sample = tally is None
    max_line = SHORT_LIMIT if rng.random() < 0.1 else MAX_LINE
    chunks = laws.cut(rng, data)
    start = time.process_time()
    records = laws.read_chunks(chunks, max_line)
    seconds = time.process_time() - start
    if tally is not None:
        tally.add(records, seconds)
    laws.check_speed(seconds, len(data))
    laws.check_tiling(records, len(data))
    laws.check_encodable(records)
    if is_sample or rng.random() < 0.1:
        laws.check_same(records, data, max_line)
    if is_sample or rng.random() < 0.05:
        laws.check_resumed(records, data, rng.randrange(len(data) + 1), max_line)
    if max_line == MAX_LINE and (is_sample or rng.random() < 0.5):
        path.write_bytes(data)
        laws.check_usage(records, path)


def _describe(record: Record) -> str:
    if isinstance(record, _IRREGULAR):
        return type(record).__name__.lower()
    return "salvaged" if record.span and record.span.damage else "known"


def _find_growth(tally: Tally) -> str:
    growth = tally.memory[-1] - tally.memory[len(tally.memory) // 2] if tally.memory else 0
    return f"memory grew by {growth} bytes in the second half" if growth > MAX_GROWTH else ""


def format_tallies(tallies: Sequence[Tally], seed: int, seconds: float) -> str:
    """Format the totals of all processes."""
    lines = sum(tally.lines for tally in tallies)
    outcomes = sum((tally.outcomes for tally in tallies), Counter[str]())
    mean = sum(tally.read_seconds for tally in tallies) / max(lines, 1) * 1e6
    slowest = max(tally.slowest for tally in tallies) / BATCH * 1e6
    memory = "; ".join(" ".join(f"{size / 1e6:.0f}" for size in tally.memory) for tally in tallies)
    counts = ", ".join(f"{name} {number}" for name, number in outcomes.most_common())
    return "\n".join(
        (
            f"{lines} lines in {seconds:.0f} s, {lines / seconds:.0f} lines/s, seed {seed}",
            f"reading: {mean:.0f} µs a line on average, {slowest:.0f} in the slowest batch",
            f"memory in MB at the start, middle and end of each process: {memory}",
            f"records: {counts}",
        )
    )


if __name__ == "__main__":
    sys.exit(main())
