"""Correctness and cost of following: `python -m benchmarks.follow`.

A separate process writes the files, so that writing and following are never in step, and the cost
is measured on a process that only follows. `schedules` plays random truncations, rewrites and
replacements; `million` follows a file that grows in torn pieces; `latency` and `polling` measure
the time from a write to its event; `many` follows a hundred sessions that grow at once.
"""

import argparse
import asyncio
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path

import msgspec
from msgspec import Struct

from recollect.library.listings import locate_session
from recollect.live.follow import FollowOptions, follow
from recollect.live.followed_files import RootScope, SessionScope
from recollect.live.live_events import Appended, CaughtUp, Reset
from recollect.reader.transcript_reader import read_transcript
from recollect.records.conversation_records import User
from recollect.records.envelope import Torn
from tests.live.schedules import Reader, Schedule

_ROOT = Path(__file__).resolve().parent.parent
RECORDS = 1_000_000
SCHEDULES = 1_000
MINUTES = 5.0
SESSIONS = 100
RECORDS_A_SECOND = 200
LATENCY_SECONDS = 30
SAMPLE_SECONDS = 5.0
PATIENCE_SECONDS = 30.0
FLAT_SHARE = 1.05
PROJECT = "-home-mina-pond"
PARTS = ("schedules", "million", "latency", "polling", "many")


class Result(Struct, frozen=True, kw_only=True):
    """The outcome and the figures of one part."""

    name: str
    has_passed: bool
    figures: dict[str, float]


def main(arguments: Sequence[str] | None = None) -> int:
    """Return the exit code: 0 if every part passed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.follow", description=__doc__)
    parser.add_argument("--only", choices=PARTS, action="append", help="run this part; repeatable")
    parser.add_argument("--records", type=int, default=RECORDS, help="lines of the growing file")
    parser.add_argument("--schedules", type=int, default=SCHEDULES, help="how many to play")
    parser.add_argument("--minutes", type=float, default=MINUTES, help="how long many grow")
    parser.add_argument("--json", action="store_true", help="print one JSON object a line")
    options = parser.parse_args(arguments)
    runs = {
        "schedules": lambda folder: play_schedules(folder, options.schedules),
        "million": lambda folder: follow_torn_file(folder, options.records),
        "latency": lambda folder: measure_latency(folder, LATENCY_SECONDS, poll=False),
        "polling": lambda folder: measure_latency(folder, LATENCY_SECONDS, poll=True),
        "many": lambda folder: follow_many(folder, options.minutes * 60),
    }
    has_passed = True
    for name in options.only or PARTS:
        with tempfile.TemporaryDirectory(prefix="recollect-benchmark-") as folder:
            result = runs[name](Path(folder))
        has_passed = has_passed and result.has_passed
        print(msgspec.json.encode(result).decode() if options.json else format_result(result))
    return 0 if has_passed else 1


def format_result(result: Result) -> str:
    """Format a result as one line."""
    figures = ", ".join(f"{name} {value:,.6g}" for name, value in result.figures.items())
    return f"{result.name}: {'ok' if result.has_passed else 'FAILED'}; {figures}"


def play_schedules(folder: Path, count: int) -> Result:
    """Play random schedules, read at random moments, and compare with a fresh read at the end."""
    differing = 0
    start = time.perf_counter()
    for seed in range(count):
        path = folder / f"{seed}.jsonl"
        rng = random.Random(seed)
        reader = Reader(path)
        for _ in Schedule(path, random.Random(seed)).play(25):
            for _ in range(rng.randrange(3)):
                reader.look()
        reader.settle()
        fresh = [record for record in read_transcript(path) if not isinstance(record, Torn)]
        differing += reader.records != fresh
        path.unlink()
    seconds = time.perf_counter() - start
    figures = {"schedules": count, "differing": differing, "seconds": seconds}
    return Result(name="schedules", has_passed=not differing, figures=figures)


def follow_torn_file(folder: Path, count: int) -> Result:
    """Follow a file that grows in pieces torn anywhere; every record must come in order."""
    scope = _make_session(folder)
    start = time.perf_counter()
    cpu = time.process_time()
    with _start_writer("torn", folder, str(count)):
        seen, out_of_order = asyncio.run(_count_in_order(scope, count))
    figures = {
        "records": seen,
        "out_of_order": out_of_order,
        "seconds": time.perf_counter() - start,
        "cpu_seconds": time.process_time() - cpu,
    }
    return Result(name="million", has_passed=seen == count and not out_of_order, figures=figures)


async def _count_in_order(scope: SessionScope, count: int) -> tuple[int, int]:
    seen = out_of_order = 0
    async with aclosing(follow(scope, "start")) as events:
        async for event in events:
            if isinstance(event, Reset):
                out_of_order += 1
            if isinstance(event, Appended) and isinstance(event.record, User):
                out_of_order += event.record.uuid != f"u{seen}"
                seen += 1
                if seen == count:
                    break
    return seen, out_of_order


def measure_latency(folder: Path, seconds: int, *, poll: bool) -> Result:
    """Measure the time from a write to its event, at a steady rate."""
    scope = _make_session(folder)
    count = seconds * RECORDS_A_SECOND
    with _start_writer("steady", folder, str(count)):
        delays = sorted(asyncio.run(_collect_delays(scope, count, poll=poll)))
    p50, p99 = delays[count // 2], delays[count * 99 // 100]
    figures = {"records": len(delays), "p50_ms": p50, "p99_ms": p99, "most_ms": delays[-1]}
    name = "polling" if poll else "latency"
    return Result(name=name, has_passed=len(delays) == count and p99 < 250, figures=figures)


async def _collect_delays(scope: SessionScope, count: int, *, poll: bool) -> list[float]:
    delays: list[float] = []
    async with aclosing(follow(scope, "start", FollowOptions(poll=poll))) as events:
        async for event in events:
            if isinstance(event, Appended) and isinstance(event.record, User):
                written = int((event.record.uuid or "").removeprefix("t"))
                delays.append((time.monotonic_ns() - written) / 1e6)
                if len(delays) == count:
                    break
    return delays


def follow_many(folder: Path, seconds: float) -> Result:
    """Follow a hundred growing sessions: nothing missed, memory and descriptors flat."""
    _make_session(folder)
    command = [sys.executable, "-m", "benchmarks.follow", "--follow", str(folder)]
    with subprocess.Popen(
        command, cwd=_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as follower:
        if follower.stdin is None or follower.stdout is None:
            raise RuntimeError("The follower has no pipes.")
        follower.stdout.readline()
        samples = [_sample(follower.pid)]
        with _start_writer("many", folder, str(seconds)) as writer:
            while writer.poll() is None:
                time.sleep(SAMPLE_SECONDS)
                samples.append(_sample(follower.pid))
        written = int((folder / "written").read_text(encoding="ascii"))
        follower.stdin.write(f"{written}\n")
        follower.stdin.close()
        seen = json.loads(follower.stdout.readline())
    return _evaluate_many(samples, seconds, written, seen)


class Sample(Struct, frozen=True):
    """The resources of a process."""

    memory: int
    descriptors: int
    threads: int
    cpu_seconds: float


def _evaluate_many(
    samples: list[Sample], seconds: float, written: int, seen: dict[str, int]
) -> Result:
    # The first fifth is warm-up: every session is touched for the first time.
    settled = samples[max(len(samples) // 5, 1) :]
    early, late = settled[0], settled[-1]
    share = (samples[-1].cpu_seconds - samples[0].cpu_seconds) / seconds
    figures = {
        "sessions": seen["sessions"],
        "written": written,
        "seen": seen["records"],
        "out_of_order": seen["out_of_order"],
        "early_mb": early.memory / 1e6,
        "late_mb": late.memory / 1e6,
        "early_descriptors": early.descriptors,
        "late_descriptors": late.descriptors,
        "threads": late.threads,
        "cores": share,
    }
    is_flat = late.memory <= early.memory * FLAT_SHARE and late.descriptors <= early.descriptors + 2
    is_complete = seen["records"] == written and not seen["out_of_order"]
    return Result(name="many", has_passed=is_flat and is_complete and share < 0.5, figures=figures)


def _sample(pid: int) -> Sample:
    fields = dict(
        line.split(":", 1)
        for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    )
    times = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return Sample(
        memory=int(fields["VmRSS"].split()[0]) * 1024,
        descriptors=len(os.listdir(f"/proc/{pid}/fd")),  # noqa: PTH208 - only a count
        threads=int(fields["Threads"]),
        cpu_seconds=(int(times[11]) + int(times[12])) / os.sysconf("SC_CLK_TCK"),
    )


class Count:
    """Counts the records that a follower of many sessions has seen."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.records = 0
        self.out_of_order = 0

    async def listen(self, root: Path) -> None:
        """Follow everything and count records."""
        async with aclosing(follow(RootScope([root]), "end")) as events:
            async for event in events:
                if isinstance(event, CaughtUp):
                    print("ready", flush=True)
                elif isinstance(event, Appended) and isinstance(event.record, User):
                    number = int((event.record.uuid or "u").removeprefix("u"))
                    self.out_of_order += self.numbers.get(event.source.path, 0) != number
                    self.numbers[event.source.path] = number + 1
                    self.records += 1


async def _follow_for_parent(root: Path) -> None:
    """Follow until everything that the parent reports as written was seen, or time is up."""
    count = Count()
    listening = asyncio.create_task(count.listen(root))
    written = int(await asyncio.to_thread(sys.stdin.readline) or 0)
    deadline = time.monotonic() + PATIENCE_SECONDS
    while count.records < written and time.monotonic() < deadline:  # noqa: ASYNC110 - two loops
        await asyncio.sleep(0.1)
    listening.cancel()
    await asyncio.gather(listening, return_exceptions=True)
    figures = {
        "records": count.records,
        "out_of_order": count.out_of_order,
        "sessions": len(count.numbers),
    }
    print(json.dumps(figures), flush=True)


def _make_session(folder: Path) -> SessionScope:
    path = folder / "projects" / PROJECT / "growing.jsonl"
    path.parent.mkdir(parents=True)
    path.touch()
    return SessionScope(locate_session("growing", root=folder))


def _start_writer(kind: str, folder: Path, amount: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "benchmarks.follow", "--write", kind, str(folder), amount]
    return subprocess.Popen(command, cwd=_ROOT)


def _make_line(uuid: str, words: str) -> bytes:
    record = {"type": "user", "uuid": uuid, "message": {"role": "user", "content": words}}
    return json.dumps(record, ensure_ascii=False).encode() + b"\n"


def write_torn(folder: Path, amount: str) -> None:
    """Write lines in chunks of 1 to 64 KB that end anywhere, with a pause after some."""
    rng = random.Random(1)
    rest = b""
    with (folder / "projects" / PROJECT / "growing.jsonl").open("ab", buffering=0) as file:
        for number in range(int(amount)):
            rest += _make_line(f"u{number}", "Der Fluß, 河, \u2028 und 🐟 " * rng.randrange(1, 4))
            if len(rest) > 65_536:
                cut = rng.randrange(1, 65_536) if rng.random() < 0.5 else rng.randrange(1, 1024)
                file.write(rest[:cut])
                rest = rest[cut:]
                if rng.random() < 0.05:
                    time.sleep(rng.random() * 0.05)
        file.write(rest[:-3])
        time.sleep(0.3)
        file.write(rest[-3:])


def write_steady(folder: Path, amount: str) -> None:
    """Write lines at a steady rate, each with the time it was written."""
    start = time.monotonic() + 1
    with (folder / "projects" / PROJECT / "growing.jsonl").open("ab", buffering=0) as file:
        for number in range(int(amount)):
            time.sleep(max(start + number / RECORDS_A_SECOND - time.monotonic(), 0))
            file.write(_make_line(f"t{time.monotonic_ns()}", "steady " * 20))


def write_many(folder: Path, amount: str) -> None:
    """Write lines to a hundred sessions in turn, at a steady total rate."""
    numbers = [0] * SESSIONS
    start = time.monotonic()
    written = 0
    while time.monotonic() - start < float(amount):
        time.sleep(max(start + written / RECORDS_A_SECOND - time.monotonic(), 0))
        session = written % SESSIONS
        path = folder / "projects" / f"{PROJECT}-{session % 10}" / f"session-{session:03}.jsonl"
        path.parent.mkdir(exist_ok=True)
        line = _make_line(f"u{numbers[session]}", "words of a session " * 60)
        with path.open("ab", buffering=0) as file:
            file.write(line[:700])
            file.write(line[700:])
        numbers[session] += 1
        written += 1
    (folder / "written").write_text(str(written), encoding="ascii")


_WRITERS = {"torn": write_torn, "steady": write_steady, "many": write_many}


if __name__ == "__main__":
    if sys.argv[1:2] == ["--write"]:
        _WRITERS[sys.argv[2]](Path(sys.argv[3]), sys.argv[4])
    elif sys.argv[1:2] == ["--follow"]:
        asyncio.run(_follow_for_parent(Path(sys.argv[2])))
    else:
        sys.exit(main())
