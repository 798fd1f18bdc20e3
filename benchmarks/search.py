"""Speed of indexing and searching texts: `python -m benchmarks.search`.

Indexes a reference corpus in a fresh process, runs many different queries of each kind, and
measures how soon an appended line is found, during indexing and afterwards. Queries are sampled
from the transcripts with a fixed seed. An existing corpus is only read: lines are appended to a
session beside it.
"""

import argparse
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import msgspec
from msgspec import Struct

from benchmarks.corpus import make_corpus, make_reference
from benchmarks.memory import peak_memory
from benchmarks.plain_index import iter_texts, time_plain_index
from benchmarks.reader import parse_size
from recollect.locations import Transcript, discover_root
from recollect.search.engine import ANALYZER, SearchOptions, search
from recollect.sync.text_indexer import TextProgress, index_texts

GOAL, CONVERSATION_GOAL = 20.0, 5.0
"""Seconds for a gigabyte, …"""
PLAIN = 12.7
"""… on a machine where a plain index of it takes this long on one core."""

QUERIES = 40
APPENDED = 20
_SAMPLED_FILES = 60
_MAX_SAMPLE_LENGTH = 20_000
_PAUSE_SECONDS = 0.3
_ROOT = Path(__file__).resolve().parent.parent
_SESSION = "44444444-4444-4444-8444-444444444444"
_FIELDS = (
    "tool:Bash is:error role:user role:assistant is:thinking model:sonnet tool:Read is:subagent "
    "project:work since:2025 file:src"
).split()


class Build(Struct, frozen=True):
    """The cost of building the index; memory is that of the writing process."""

    wall_seconds: float
    cpu_seconds: float
    conversation_seconds: float
    peak_memory: int


class Timing(Struct, frozen=True):
    """Wall and CPU time of one action, in seconds."""

    wall: float
    cpu: float


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures and return 0: there are no limits."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.search", description=__doc__)
    parser.add_argument("--size", type=parse_size, default="200M", help="size of the made corpus")
    parser.add_argument("--corpus", type=Path, help="search this Claude directory instead")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="recollect-benchmark-") as folder:
        corpus = options.corpus or Path(folder, "corpus")
        if options.corpus is None and make_reference(corpus, options.size) is None:
            make_corpus(corpus, options.size)
        for line in measure(corpus, Path(folder)):
            print(line, flush=True)
    return 0


def measure(corpus: Path, folder: Path) -> Iterator[str]:
    """Yield the lines of the table."""
    transcripts = find([corpus])
    size = sum(transcript.size for transcript in transcripts)
    yield f"{len(transcripts):,} transcripts of {size / 1e6:,.0f} MB, load {os.getloadavg()[0]:.1f}"
    data = folder / "data"
    before = time_plain_index(folder / "before.db", transcripts)
    build = finish(start_build([corpus], data))
    after = time_plain_index(folder / "after.db", transcripts)
    index = sum(path.stat().st_size for path in data.rglob("*") if path.is_file())
    yield f"conversation searchable   {build.conversation_seconds:8.1f} s"
    yield f"everything searchable     {build.wall_seconds:8.1f} s  ({build.cpu_seconds:.1f} s CPU)"
    yield compare_with_plain(build, (before + after) / 2)
    yield f"memory while indexing     {build.peak_memory / 1e6:8.0f} MB"
    yield f"index                     {index / 1e6:8.0f} MB, {index / size:.1%} of the transcripts"
    yield f"{'milliseconds':24}{'wall p50':>10}{'p95':>8}{'CPU p50':>10}{'p95':>8}"
    for kind, queries in draw_queries(transcripts).items():
        yield format_timings(kind, [*ask(data, queries, transcripts)])
    own = folder / "own"
    found = [*append_while_indexing(corpus, own, folder / "second")]
    yield format_timings(f"line, indexing ({len(found)})", found)
    found = [*append_when_current([corpus, own], own, folder / "second")]
    yield format_timings(f"line, up to date ({len(found)})", found)
    yield f"load {os.getloadavg()[0]:.1f}"


def compare_with_plain(build: Build, plain: float) -> str:
    """Format the time of the index relative to a plain one on the same machine."""
    whole, first = build.wall_seconds / plain, build.conversation_seconds / plain
    return (
        f"of plain FTS5 ({plain:.1f} s)     {whole:8.2f} x  (goal {GOAL / PLAIN:.2f}), "
        f"conversation {first:.2f} x  (goal {CONVERSATION_GOAL / PLAIN:.2f})"
    )


def format_timings(name: str, timings: Sequence[Timing]) -> str:
    """Format p50 and p95 as one line."""
    walls, cpus = sorted(each.wall for each in timings), sorted(each.cpu for each in timings)
    last, middle = round((len(timings) - 1) * 0.95), len(timings) // 2
    figures = [1000 * value for value in (walls[middle], walls[last], cpus[middle], cpus[last])]
    return "{:24}{:10.1f}{:8.1f}{:10.1f}{:8.1f}".format(name, *figures)


def find(roots: Sequence[Path]) -> list[Transcript]:
    """Return the transcripts below these Claude directories."""
    found = (transcript for root in roots for transcript in discover_root(root).transcripts)
    return [transcript for transcript in found if not transcript.is_empty]


def start_build(roots: Sequence[Path], data: Path) -> subprocess.Popen[bytes]:
    """Start a process that indexes these directories."""
    command = [sys.executable, "-m", "benchmarks.search", "--build", str(data), *map(str, roots)]
    return subprocess.Popen(command, cwd=_ROOT, stdout=subprocess.PIPE)


def finish(process: subprocess.Popen[bytes]) -> Build:
    """Wait for an indexing process and return its figures."""
    return msgspec.json.decode(process.communicate()[0], type=Build)


def build(data: Path, roots: Sequence[Path]) -> Build:
    """Build an index; the conversation is searchable once half of the bytes are done."""
    transcripts = find(roots)
    start = time.perf_counter()
    halves: list[float] = []

    def report(progress: TextProgress) -> None:
        if not halves and 2 * progress.bytes_done > progress.bytes:
            halves.append(time.perf_counter() - start)

    index_texts(data, ANALYZER, transcripts, on_progress=report)
    wall = time.perf_counter() - start
    usages = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    cpu = sum(usage.ru_utime + usage.ru_stime for usage in usages)
    return Build(wall, cpu, halves[0] if halves else wall, peak_memory())


def ask(data: Path, queries: Sequence[str], transcripts: Sequence[Transcript]) -> Iterator[Timing]:
    """Yield the time of each query, 20 sessions with snippets, after one warm-up."""
    options = SearchOptions(limit=20)
    for query in queries:
        asking = partial(search, data, query, transcripts, options, index_complete=True)
        asking()
        yield time_action(asking)


def time_action(action: Callable[[], object]) -> Timing:
    """Return the time that `action` takes."""
    wall, cpu = time.perf_counter(), time.process_time()
    action()
    return Timing(time.perf_counter() - wall, time.process_time() - cpu)


def append_while_indexing(corpus: Path, own: Path, data: Path) -> Iterator[Timing]:
    """Yield the time from appending a line to finding it, while another process indexes."""
    append(own, "first")
    process = start_build([corpus, own], data)
    number = 0
    while process.poll() is None:
        word = f"fresh{number}line"
        append(own, word)
        yield time_action(partial(wait_for, word, [corpus, own], data))
        number += 1
        time.sleep(_PAUSE_SECONDS)
    finish(process)


def append_when_current(roots: Sequence[Path], own: Path, data: Path) -> Iterator[Timing]:
    """Yield the time from appending a line to finding it in an index that is up to date."""

    def find_word(word: str) -> None:
        transcripts = find(roots)
        index_texts(data, ANALYZER, transcripts)
        if not search(data, word, transcripts, index_complete=True).hits:
            raise LookupError(word)

    for number in range(APPENDED):
        word = f"level{number}line"
        append(own, word)
        yield time_action(partial(find_word, word))


def wait_for(word: str, roots: Sequence[Path], data: Path) -> None:
    """Search until the word is found."""
    while not search(data, word, find(roots), index_complete=False).hits:
        pass


def append(root: Path, word: str) -> None:
    """Add a prompt with this word to the session in `root`."""
    path = root / "projects" / "-bench" / f"{_SESSION}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    moment = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
    message = {"role": "user", "content": f"please find_word at {word} again"}
    record = {"type": "user", "uuid": word, "sessionId": _SESSION, "timestamp": moment}
    with path.open("ab") as file:
        file.write(msgspec.json.encode({**record, "message": message}) + b"\n")


def draw_queries(transcripts: Sequence[Transcript]) -> dict[str, list[str]]:
    """Return distinct queries of each kind, with words from these transcripts."""
    rng = random.Random(1)
    sample = rng.sample(transcripts, min(_SAMPLED_FILES, len(transcripts)))
    texts = [
        text
        for transcript in sample
        for text in iter_texts(transcript)
        if len(text) <= _MAX_SAMPLE_LENGTH
    ]
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(sorted({word.lower() for word in re.findall("[A-Za-z]{3,}", text)}))
    common = [word for word, _ in counts.most_common(200)]
    rare = [word for word, count in counts.items() if count <= 2 and 5 <= len(word) <= 12]
    middling = [word for word, count in counts.items() if 5 <= count <= 60 and len(word) >= 8]
    phrases = find_all("[a-z]{2,} [a-z]{2,}(?: [a-z]{2,})?", rng, texts)
    return {
        "common word": draw(lambda: rng.choice(common)),
        "rare word": draw(lambda: rng.choice(rare)),
        "two words": draw(lambda: " ".join(rng.sample(common, 2))),
        "phrase": draw(lambda: f'"{next(phrases)}"'),
        "prefix": draw(lambda: f"{rng.choice(common + middling)[: rng.choice((3, 4))]}*"),
        "two Chinese characters": draw(find_all("[\u4e00-\u9fff]{2}", rng, texts).__next__),
        "middle of a word": draw(lambda: rng.choice(middling)[1:-1]),
        "word and field": draw(lambda: f"{rng.choice(common)} {rng.choice(_FIELDS)}"),
        "regular expression": draw(
            lambda: rf"/{rng.choice(middling)[:-2]}\w+\W+{rng.choice(common)}/"
        ),
    }


def draw(make: Callable[[], str]) -> list[str]:
    """Return `QUERIES` distinct queries."""
    drawn: dict[str, None] = {}
    while len(drawn) < QUERIES:
        drawn[make()] = None
    return list(drawn)


def find_all(pattern: str, rng: random.Random, texts: Sequence[str]) -> Iterator[str]:
    """Yield random matches of the pattern in random texts, forever."""
    while True:
        if found := re.findall(pattern, rng.choice(texts)):
            yield rng.choice(found)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--build"]:
        made = build(Path(sys.argv[2]), [Path(root) for root in sys.argv[3:]])
        print(msgspec.json.encode(made).decode())
    else:
        sys.exit(main())
