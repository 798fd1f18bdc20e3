"""Megabytes per second of several readers on the same files.

CPU time, because other programs share the machine. The readers alternate within a round, so that
noise affects all alike, and each is compared with `json.loads` of the same round.
"""

import json
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from recollect.reader.transcript_reader import read_transcript
from recollect.reader.usage_reader import read_usage

try:
    import orjson
except ImportError:
    ORJSON: Callable[[bytes], object] | None = None
else:
    ORJSON = orjson.loads

BASELINE = "json.loads"
_MEGABYTE = 1_000_000

ReadFile = Callable[[Path], int]
"""Reads one file and returns the number of lines that it could not read."""


@dataclass(frozen=True, slots=True)
class Result:
    """The figures of one reader; `ratio` is relative to `json.loads`, median of rounds."""

    reader: str
    best_mb_per_second: float
    median_mb_per_second: float
    ratio: float
    refused_lines: int


def list_readers() -> dict[str, ReadFile]:
    """Return the available readers by name."""
    found: dict[str, ReadFile] = {BASELINE: _by_line(json.loads)}
    if ORJSON is not None:
        found["orjson.loads"] = _by_line(ORJSON)
    found["read_transcript"] = lambda path: _drain(read_transcript(path))
    found["read_usage"] = lambda path: _drain(read_usage(path))
    return found


def compare_readers(files: Sequence[Path], rounds: int) -> list[Result]:
    """Return the results of all readers on `files`, which must be in the page cache."""
    size = sum(path.stat().st_size for path in files) / _MEGABYTE
    readers = list_readers()
    refused = dict.fromkeys(readers, 0)
    seconds: dict[str, list[float]] = {name: [] for name in readers}
    for _ in range(rounds):
        for name, read_file in readers.items():
            start = time.process_time()
            refused[name] = sum(map(read_file, files))
            seconds[name].append(time.process_time() - start)
    return [
        Result(
            reader=name,
            best_mb_per_second=size / min(taken),
            median_mb_per_second=size / median(taken),
            ratio=median(
                theirs / ours for theirs, ours in zip(seconds[BASELINE], taken, strict=True)
            ),
            refused_lines=refused[name],
        )
        for name, taken in seconds.items()
    ]


def _by_line(loads: Callable[[bytes], object]) -> ReadFile:
    def read_file(path: Path) -> int:
        refused = 0
        with path.open("rb") as file:
            for line in file:
                try:
                    loads(line)
                except ValueError:
                    refused += 1
        return refused

    return read_file


def _drain(records: Iterator[object]) -> int:
    deque(records, maxlen=0)
    return 0
