"""Speed and memory of the reader: `python -m benchmarks.reader`.

Generates a corpus (or uses `--corpus`), checks that both readers find what was put there, then
measures. A disagreement ends the run, because the speed of a wrong reader means nothing.
"""

import argparse
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, cycle
from pathlib import Path

import msgspec

from benchmarks import memory
from benchmarks.corpus import Corpus, make_corpus, make_reference, open_corpus
from benchmarks.speed import ORJSON, Result, compare_readers
from benchmarks.totals import Totals, count
from recollect.reader.line_blocks import MAX_LINE
from recollect.reader.transcript_reader import read_transcript
from recollect.reader.usage_reader import read_usage

ROUNDS = 3
_UNITS = {"": 1, "K": 1_000, "M": 1_000_000, "G": 1_000_000_000}
_BIG_FILE = 5
"""Size of the file for measuring memory, as a multiple of the corpus: 1 GB by default."""


class Disagreement(Exception):
    """The readers disagree with each other or with the generator."""


@dataclass(frozen=True, slots=True)
class Report:
    """All measurements."""

    files: int
    size: int
    totals: Totals
    speed: list[Result]
    memory: list[memory.Reading]


def parse_size(text: str) -> int:
    """Return the bytes of a size such as 200M or 1G."""
    match = re.fullmatch(r"(\d+)([KMG]?)B?", text.upper())
    if not match:
        raise argparse.ArgumentTypeError(f"{text!r} is not a valid size (try 200M or 1G)")
    return int(match[1]) * _UNITS[match[2]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Return the exit code: 1 if the readers are wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reader", description=__doc__)
    parser.add_argument("--size", type=parse_size, default="200M", help="size of the made corpus")
    parser.add_argument("--corpus", type=Path, help="read this Claude directory instead")
    parser.add_argument("--own", action="store_true", help="do not use the reference generator")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="recollect-benchmark-") as folder:
        try:
            report = run(Path(folder), options.size, choose_corpus(Path(folder), options))
        except Disagreement as error:
            print(error, file=sys.stderr)
            return 1
    print(msgspec.json.encode(report).decode() if options.json else format_report(report))
    return 0


def choose_corpus(folder: Path, options: argparse.Namespace) -> Corpus | None:
    """Return the given corpus, or one of the reference generator; None to use our own generator."""
    if options.corpus is not None:
        return open_corpus(options.corpus)
    return None if options.own else make_reference(folder / "claude", options.size)


def run(folder: Path, size: int, existing: Corpus | None = None) -> Report:
    """Measure the corpus `existing`, or a new one of `size` bytes in `folder`."""
    corpus = existing or make_corpus(folder / "claude", size)
    if not corpus.files:
        raise Disagreement("No transcripts to read. Pass a Claude directory with --corpus.")
    totals = check(corpus)
    results = compare_readers(corpus.files, ROUNDS)
    return Report(len(corpus.files), corpus.size, totals, results, measure_memory(folder, corpus))


def check(corpus: Corpus) -> Totals:
    """Return what both readers find; they must agree, with each other and with the generator."""
    full = count(chain.from_iterable(map(read_transcript, corpus.files)))
    narrow = count(chain.from_iterable(map(read_usage, corpus.files)))
    if full != narrow:
        raise Disagreement(f"read_transcript counts {full}, read_usage counts {narrow}.")
    if corpus.truth is not None and corpus.truth.totals != full:
        raise Disagreement(f"The readers count {full}, but the corpus has {corpus.truth.totals}.")
    return full


def measure_memory(folder: Path, corpus: Corpus) -> list[memory.Reading]:
    """Measure peak memory for a very large file and for a very long line."""
    readings = []
    big = folder / "big.jsonl"
    _write(big, corpus.size * _BIG_FILE, _repeat(corpus.files))
    readings += [memory.measure(name, big) for name in ("read_transcript", "read_usage")]
    big.unlink()
    long_line = folder / "long-line.jsonl"
    _write(long_line, max(corpus.size, MAX_LINE + 1), cycle([b"x" * 1_000_000]))
    readings.append(memory.measure("read_transcript", long_line))
    if readings[-1].oversized != 1:
        raise Disagreement(f"A line of {readings[-1].size} bytes was not reported as oversized.")
    return readings


def _repeat(files: Sequence[Path]) -> Iterator[bytes]:
    return (path.read_bytes() for path in cycle(files))


def _write(path: Path, size: int, pieces: Iterator[bytes]) -> None:
    with path.open("wb") as file:
        while file.tell() < size:
            file.write(next(pieces))


def format_report(report: Report) -> str:
    """Format the report as two aligned tables."""
    speed = [
        ("reader", "MB/s best", "MB/s median", "x json.loads", "lines refused"),
        *(
            (
                result.reader,
                f"{result.best_mb_per_second:.0f}",
                f"{result.median_mb_per_second:.0f}",
                f"{result.ratio:.1f}",
                f"{result.refused_lines}",
            )
            for result in report.speed
        ),
    ]
    peaks = [
        ("reader", "file MB", "records", "oversized", "peak MB", "CPU s"),
        *(
            (
                reading.reader,
                f"{reading.size / 1e6:.0f}",
                f"{reading.records}",
                f"{reading.oversized}",
                f"{reading.peak_memory / 1e6:.0f}",
                f"{reading.cpu_seconds:.1f}",
            )
            for reading in report.memory
        ),
    ]
    head = f"{report.files} transcripts, {report.size / 1e6:.0f} MB, {report.totals}"
    note = [] if ORJSON else ["orjson is not installed, so it was left out."]
    return "\n".join([head, *note, "", *_align(speed), "", *_align(peaks)])


def _align(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for first, *rest in rows:
        cells = (cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True))
        yield "  ".join([first.ljust(widths[0]), *cells])


if __name__ == "__main__":
    sys.exit(main())
