"""Response times of the web app: `python -m benchmarks.web`.

Runs the real server in its own process and sends requests over HTTP, on made-up histories: 10,000
sessions including one with 10,000 messages, and 1 GB to search. Goals apply to p95, or to the worst
of a few; a missed goal makes the exit code 1. Without Chromium or a package index, the figures that
need them are left out, and the table says so.
"""

import argparse
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from benchmarks.corpus import make_corpus, make_reference
from benchmarks.library import make_session
from benchmarks.peer import install
from benchmarks.processes import Run
from benchmarks.rendering import RenderCost, render_all
from benchmarks.scrolling import find_browser, scroll
from benchmarks.search import draw_queries, find
from benchmarks.serving import (
    Client,
    Timed,
    ask,
    find_memory,
    measure_idling,
    stop,
    wait_until_current,
)
from benchmarks.text import Text
from tests.web.running import RunningServer, run_server

SESSIONS = 10_000
SESSION_BYTES = 12_000
LONG_BYTES = 55_000_000
"""With its subagents; the transcript itself has 10,000 messages in 50 MB."""
SEARCHED_BYTES = 1_000_000_000
QUICK_BYTES = 200_000_000
SCROLLED_TURNS = 300
_MEGABYTE = 1e6
_FILTERS = (
    "/",
    "/sessions",
    "/sessions?page=100",
    "/sessions?text=the",
    "/sessions?subagents=true",
    "/sessions?errors=true",
    "/sessions?model=claude-opus-4-5-20251101",
    "/sessions?branch=main&order=tokens",
    "/sessions?since=2026-03-01&until=2026-05-01",
)


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the table: a measurement and its limit."""

    name: str
    value: float
    unit: str
    goal: float | None = None
    note: str = ""

    @property
    def is_missed(self) -> bool:
        """Whether there is a goal and it was missed."""
        return self.goal is not None and self.value >= self.goal

    def __str__(self) -> str:
        goal = "" if self.goal is None else f"< {self.goal:g}"
        verdict = "" if self.goal is None else "MISSED" if self.is_missed else "ok"
        shown = f"{self.value:10,.1f} {self.unit:6}"
        return f"{self.name:46}{shown} {goal:>8} {verdict:7}{self.note}".rstrip()


@dataclass(frozen=True, slots=True)
class Options:
    """How much to measure."""

    is_quick: bool
    corpus: Path | None
    """A Claude directory to search; None to generate one."""

    @property
    def rounds(self) -> int:
        """How often slow measurements are repeated."""
        return 2 if self.is_quick else 5


def main(arguments: Sequence[str] | None = None) -> int:
    """Return the exit code: 1 if a goal is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.web", description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="1,000 sessions, search in 200 MB, repeat less"
    )
    parser.add_argument("--corpus", type=Path, help="search this Claude directory instead")
    given = parser.parse_args(arguments)
    missed = 0
    with tempfile.TemporaryDirectory(prefix="recollect-benchmark-") as folder:
        for figure in measure(Path(folder), Options(given.quick, given.corpus)):
            print(figure, flush=True)
            missed += figure.is_missed
    print(f"load {os.getloadavg()[0]:.1f}; {missed} goals missed")
    return int(missed > 0)


def measure(folder: Path, options: Options) -> Iterator[Figure]:
    """Yield the lines of the table."""
    root = folder / "claude"
    sessions = SESSIONS // 10 if options.is_quick else SESSIONS
    long = make_history(root, sessions)
    yield Figure("sessions", sessions, "", note=f"load {os.getloadavg()[0]:.1f}")
    yield from measure_history(folder / "history", root, long, options)
    yield from measure_searching(folder / "searching", options)


def make_history(root: Path, sessions: int = SESSIONS, long_bytes: int = LONG_BYTES) -> Path:
    """Fill a Claude directory with small sessions and a long one; return the long transcript."""
    rng = random.Random(1)
    text = Text(rng)
    for number in range(sessions):
        make_session(rng, text, number, SESSION_BYTES).save(root)
    known = set(root.glob("projects/*/*.jsonl"))
    make_session(rng, text, sessions, long_bytes).save(root)
    (long,) = set(root.glob("projects/*/*.jsonl")) - known
    return long


def measure_history(folder: Path, root: Path, long: Path, options: Options) -> Iterator[Figure]:
    """Measure the list, the long session, and the resources of the server."""
    folder.mkdir(exist_ok=True)
    with run_server(folder, root) as server:
        time.sleep(1)
        yield Figure("shutdown while listing", stop(server), "s", 2)
    with run_server(folder, root) as server:
        yield Figure("index up to date after", wait_until_current(server), "s")
        yield from measure_list(server, options)
    yield from measure_first_screens(folder, root, long, options)
    with run_server(folder, root) as server:
        wait_until_current(server)
        yield from measure_reading(server, folder, long, options)


def measure_list(server: RunningServer, options: Options) -> Iterator[Figure]:
    """Measure the page of all sessions with its filters."""
    with Client(server) as client:
        rounds = [[client.get(path) for path in _FILTERS] for _ in range(options.rounds * 10)]
    for path, answers in zip(_FILTERS, zip(*rounds, strict=True), strict=True):
        yield _spread(f"GET {path}", answers, 150)


def measure_first_screens(
    folder: Path, root: Path, long: Path, options: Options
) -> Iterator[Figure]:
    """Measure the long session, right after the start of the server and when it is idle."""
    at_once, at_rest, whole = list[Timed](), list[Timed](), list[Timed]()
    ends: list[float] = []
    for _ in range(options.rounds):
        with run_server(folder, root) as server:
            at_once.append(ask(server, f"/s/{long.stem}"))
            ends.append(stop(server))
        with run_server(folder, root) as server:
            wait_until_current(server)
            at_rest.append(ask(server, f"/s/{long.stem}"))
            whole.append(ask(server, f"/s/{long.stem}/turns?count=20"))
    yield _spread("first screen, server just started", at_once, 500)
    yield _spread("first screen, session not read yet", at_rest, 500)
    yield _spread("first complete turns, at once after that", whole)
    yield Figure("shutdown just after a first screen", max(ends), "s", 2)


def measure_reading(
    server: RunningServer, folder: Path, long: Path, options: Options
) -> Iterator[Figure]:
    """Measure the long session once it has been read."""
    with Client(server) as client:
        client.get(f"/s/{long.stem}/turns?count=20")
        warm = [client.get(f"/s/{long.stem}") for _ in range(options.rounds * 10)]
        places = range(0, SCROLLED_TURNS, 20)
        pages = [client.get(f"/s/{long.stem}/turns?start={start}&count=20") for start in places]
    yield _spread("first screen, session read", warm, 500)
    yield _spread("further turns, 20 at a time", pages)
    yield from measure_scrolling(server, folder, long)
    yield from compare(server, folder, long)
    ours, indexers = measure_idling(server, 5 if options.is_quick else 20)
    yield Figure("CPU of the server, idle", 100 * ours, "%", 1)
    yield Figure("CPU of the indexer, idle", 100 * indexers, "%", 2)
    memory = find_memory(server.process.pid) / _MEGABYTE
    yield Figure("memory of the server", memory, "MB", 400)
    yield Figure("shutdown with the session open", stop(server), "s", 2)


def measure_scrolling(server: RunningServer, folder: Path, long: Path) -> Iterator[Figure]:
    """Measure scrolling in the browser."""
    executable = find_browser()
    if executable is None:
        yield Figure("scrolling", 0, "", note="left out: there is no Chromium")
        return
    home = folder / "browser"
    home.mkdir()
    seen = scroll(server, executable, long.stem, SCROLLED_TURNS, home)
    note = f"{seen.turns} turns, {seen.tasks:,} tasks, {seen.long_tasks} over 50 ms"
    yield Figure("longest task while scrolling", seen.longest, "ms", 200, note)
    yield Figure("the same, CPU time", seen.longest_cpu, "ms")


def compare(server: RunningServer, folder: Path, long: Path) -> Iterator[Figure]:
    """Render the whole session here and with claude-code-log, alternating."""
    peer = install(folder / "peer")
    if peer is None:
        yield Figure("claude-code-log", 0, "", note="left out: it cannot be installed here")
        return
    turns = render_all(server, long.stem, with_calls=False)
    target = folder / "peer.html"
    theirs = peer.export(long, target)
    opened = render_all(server, long.stem, with_calls=True)
    note = f"{target.stat().st_size / _MEGABYTE:.0f} MB of HTML"
    yield Figure(f"claude-code-log {peer.version}, wall", theirs.seconds, "s", note=note)
    yield Figure(f"claude-code-log {peer.version}, CPU", theirs.cpu_seconds, "s")
    yield from _compare("all turns", turns, theirs)
    yield from _compare(f"and {opened.calls:,} calls opened", opened, theirs)


def _compare(name: str, ours: RenderCost, theirs: Run) -> Iterator[Figure]:
    note = f"{theirs.seconds / ours.seconds:.1f} times as fast, {ours.size / _MEGABYTE:.0f} MB"
    yield Figure(f"{name}, wall", ours.seconds, "s", note=note)
    note = f"{theirs.cpu_seconds / ours.cpu_seconds:.1f} times as fast"
    yield Figure(f"{name}, CPU", ours.cpu_seconds, "s", note=note)


def measure_searching(folder: Path, options: Options) -> Iterator[Figure]:
    """Measure search as you type."""
    folder.mkdir(exist_ok=True)
    root = options.corpus or _make_searched(folder / "claude", options)
    transcripts = find([root])
    size = sum(each.size for each in transcripts) / _MEGABYTE
    with run_server(folder, root) as server:
        time.sleep(3)
        yield Figure("shutdown while indexing texts", stop(server), "s", 2)
    with run_server(folder, root) as server:
        note = f"{len(transcripts):,} transcripts of {size:,.0f} MB"
        yield Figure("everything indexed after", wait_until_current(server), "s", note=note)
        for kind, queries in draw_typing(draw_queries(transcripts), options).items():
            with Client(server) as client:
                answers = [
                    client.get(f"/search?part=true&quick=true&q={quote(q)}") for q in queries
                ]
            yield _spread(f"search as you type, {kind}", answers, 100)
        yield Figure("memory of the server", find_memory(server.process.pid) / _MEGABYTE, "MB", 400)
        yield Figure("shutdown after searching", stop(server), "s", 2)


def draw_typing(queries: dict[str, list[str]], options: Options) -> dict[str, list[str]]:
    """Return the content of the search box after each key while these are typed.

    Without regular expressions, which are not queries until they are complete.
    """
    return {
        kind: [
            text[:length].strip()
            for text in texts[: options.rounds * 3]
            for length in range(1, len(text) + 1)
        ]
        for kind, texts in queries.items()
        if kind != "regular expression"
    }


def _make_searched(root: Path, options: Options) -> Path:
    size = QUICK_BYTES if options.is_quick else SEARCHED_BYTES
    if make_reference(root, size) is None:
        make_corpus(root, size)
    return root


def _spread(name: str, answers: Sequence[Timed], goal: float | None = None) -> Figure:
    """Return p95 as the figure, with p50 and the CPU time of the server in the note."""
    wall, cpu = (
        _find_ends([each.seconds for each in answers]),
        _find_ends([each.cpu_seconds for each in answers]),
    )
    note = f"p50 {wall[0]:.0f}; CPU p50 {cpu[0]:.0f}, p95 {cpu[1]:.0f}; {len(answers)} answers"
    return Figure(f"{name}, p95", wall[1], "ms", goal, note)


def _find_ends(seconds: Sequence[float]) -> tuple[float, float]:
    """Return p50 and p95 in milliseconds."""
    ordered = sorted(seconds)
    return 1000 * statistics.median(ordered), 1000 * ordered[round((len(ordered) - 1) * 0.95)]


if __name__ == "__main__":
    sys.exit(main())
