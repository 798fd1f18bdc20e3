"""Memory of this process, and the peak of a fresh one that reads a file.

As a program, it reads one file and prints its memory use; `measure` starts that program. On Linux
the peak comes from /proc: `ru_maxrss` of a child that `subprocess` started with `vfork` includes
the peak of its parent.
"""

import ctypes
import gc
import resource
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from recollect.reader.transcript_reader import read_transcript
from recollect.reader.usage_reader import read_usage

_ROOT = Path(__file__).resolve().parent.parent
_STATUS = Path("/proc/self/status")
_READERS: dict[str, Callable[[Path], Iterator[object]]] = {
    "read_transcript": read_transcript,
    "read_usage": read_usage,
}


@dataclass(frozen=True, slots=True)
class Reading:
    """The resources that a fresh process needed to read one file."""

    reader: str
    size: int
    records: int
    oversized: int
    peak_memory: int
    cpu_seconds: float


def current_memory() -> int:
    """Return the memory of this process after returning freed memory to the system.

    Otherwise holes left by a few large lines look like a leak. If the system does not report the
    current size, this is the peak so far.
    """
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
    return _read_status("VmRSS:") or _ru_maxrss()


def peak_memory() -> int:
    """Return the peak memory of this process so far, in bytes."""
    return _read_status("VmHWM:") or _ru_maxrss()


def _read_status(name: str) -> int:
    if not _STATUS.exists():
        return 0
    (line,) = [line for line in _STATUS.read_text().splitlines() if line.startswith(name)]
    return int(line.split()[1]) * 1024


def _ru_maxrss() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def measure(reader: str, path: Path) -> Reading:
    """Read the file at `path` in a fresh process and return the resources used."""
    command = [sys.executable, "-m", "benchmarks.memory", reader, str(path)]
    done = subprocess.run(command, cwd=_ROOT, capture_output=True, check=True)
    return msgspec.json.decode(done.stdout, type=Reading)


def _read(reader: str, path: Path) -> Reading:
    kinds = Counter(map(type, _READERS[reader](path)))
    return Reading(
        reader=reader,
        size=path.stat().st_size,
        records=kinds.total(),
        oversized=sum(kinds[kind] for kind in kinds if kind.__name__ == "Oversized"),
        peak_memory=peak_memory(),
        cpu_seconds=time.process_time(),
    )


if __name__ == "__main__":
    print(msgspec.json.encode(_read(sys.argv[1], Path(sys.argv[2]))).decode())
