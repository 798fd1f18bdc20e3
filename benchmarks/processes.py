"""Run programs as a user would, and measure time, CPU time and memory.

Times include child processes. Memory is sampled from outside, because a program cannot know the
combined peak of itself and its children.
"""

import os
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile

_SAMPLE_SECONDS = 0.01


class Failed(Exception):
    """A program exited with an error."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a program."""

    seconds: float
    cpu_seconds: float
    output: bytes
    peak_memory: int = 0
    """Peak bytes of it and its children in one sample; shared pages count once."""


def run_program(
    command: Sequence[str], environment: Mapping[str, str], *, with_memory: bool = False
) -> Run:
    """Run a program and return its cost; raises `Failed` if it exits with an error."""
    with TemporaryFile() as output, TemporaryFile() as errors:
        start = time.perf_counter()
        process = subprocess.Popen(command, env=environment, stdout=output, stderr=errors)
        monitor = _MemoryMonitor(process.pid) if with_memory else None
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        peak = monitor.stop() if monitor else 0
        output.seek(0)
        errors.seek(0)
        if process.returncode:
            said = errors.read().decode("utf-8", "replace")[-500:]
            raise Failed(f"{command[0]} ended with {process.returncode}: {said}")
        return Run(seconds, used.ru_utime + used.ru_stime, output.read(), peak)


class _MemoryMonitor:
    """Samples the memory of a process and its children until it is stopped."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._peak = 0
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._sample)
        self._thread.start()

    def stop(self) -> int:
        """Stop sampling and return the peak."""
        self._is_over.set()
        self._thread.join()
        return self._peak

    def _sample(self) -> None:
        while not self._is_over.wait(_SAMPLE_SECONDS):
            self._peak = max(self._peak, sum(map(_find_memory, iter_process_tree(self._pid))))


def iter_process_tree(pid: int) -> Iterator[int]:
    """Yield a process and all its descendants."""
    yield pid
    # Each thread has its own children.
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        for listed in _read_text(str(path)).split():
            yield from iter_process_tree(int(listed))


def _find_memory(pid: int) -> int:
    lines = _read_text(f"/proc/{pid}/smaps_rollup").splitlines()
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))


def _read_text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="ascii")
    except OSError:
        # The process has just exited.
        return ""
