"""Programs as a user starts them: how long they take, what CPU time and how much memory.

Time is that of the whole process with its children. Memory is looked at from outside, again and
again, because no program sees the peak of the processes that it starts beside its own.
"""

import os
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile

_LOOK_SECONDS = 0.01


class Failed(Exception):
    """A program ended otherwise than it should have."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a program to its end."""

    seconds: float
    cpu_seconds: float
    output: bytes
    peak_memory: int = 0
    """Most bytes that it and its children had at one look; pages that they share count once."""


def run_program(
    command: Sequence[str], environment: Mapping[str, str], *, watches_memory: bool = False
) -> Run:
    """Run a program and say what that took; raises `Failed` unless it ends well."""
    with TemporaryFile() as output, TemporaryFile() as complaint:
        start = time.perf_counter()
        process = subprocess.Popen(command, env=environment, stdout=output, stderr=complaint)
        watcher = _Watcher(process.pid) if watches_memory else None
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        peak = watcher.stop() if watcher else 0
        output.seek(0)
        complaint.seek(0)
        if process.returncode:
            said = complaint.read().decode("utf-8", "replace")[-500:]
            raise Failed(f"{command[0]} ended with {process.returncode}: {said}")
        return Run(seconds, used.ru_utime + used.ru_stime, output.read(), peak)


class _Watcher:
    """Looks at the memory of a process and its children until it is stopped."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._peak = 0
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()

    def stop(self) -> int:
        """The peak."""
        self._is_over.set()
        self._thread.join()
        return self._peak

    def _look(self) -> None:
        while not self._is_over.wait(_LOOK_SECONDS):
            self._peak = max(self._peak, sum(map(_find_memory, iter_family(self._pid))))


def iter_family(pid: int) -> Iterator[int]:
    """Yield a process, those that it has started, and so on."""
    yield pid
    # Each thread has children of its own.
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        for listed in _read_text(str(path)).split():
            yield from iter_family(int(listed))


def _find_memory(pid: int) -> int:
    lines = _read_text(f"/proc/{pid}/smaps_rollup").splitlines()
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))


def _read_text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="ascii")
    except OSError:
        # The process has just ended.
        return ""
