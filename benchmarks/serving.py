"""A client for a running server, and the cost of its processes while it responds.

The client keeps its connection, as browsers do, and measures from the first byte sent to the last
byte received. CPU time and memory come from /proc, so this runs on Linux only.
"""

import http.client
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from benchmarks.processes import iter_process_tree
from tests.web.running import RunningServer

_QUIET_SECONDS = 2.0
_QUIET_SHARE = 0.1
_MAX_SECONDS = 900
_TIMEOUT = 120
_TICKS = os.sysconf("SC_CLK_TCK")


class WrongAnswer(Exception):
    """The server returned something unexpected."""


@dataclass(frozen=True, slots=True)
class Timed:
    """A response, the seconds until it was complete, and the CPU time of the server."""

    seconds: float
    cpu_seconds: float
    body: bytes


class Client:
    """One connection, reopened if the server has closed it."""

    def __init__(self, server: RunningServer) -> None:
        self._headers = server.authority
        self._pid = server.process.pid
        self._connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=_TIMEOUT)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def get(self, path: str) -> Timed:
        """Send a GET request; raises `WrongAnswer` unless the status is 200."""
        try:
            return self._ask(path)
        except http.client.RemoteDisconnected:
            self._connection.close()
            return self._ask(path)

    def _ask(self, path: str) -> Timed:
        cpu = _find_thread_seconds(self._pid)
        start = time.perf_counter()
        self._connection.request("GET", path, headers=self._headers)
        response = self._connection.getresponse()
        body = response.read()
        seconds = time.perf_counter() - start
        if response.status != http.client.OK:
            raise WrongAnswer(f"{path} returned status {response.status}.")
        return Timed(seconds, _find_thread_seconds(self._pid) - cpu, body)


def ask(server: RunningServer, path: str) -> Timed:
    """Send a GET request on a new connection."""
    with Client(server) as client:
        return client.get(path)


def find_cpu_seconds(pid: int) -> float:
    """Return the CPU time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def _find_thread_seconds(pid: int) -> float:
    """Return the CPU time of the current threads: more precise than that of the process."""
    files = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(file.read_text(encoding="ascii").split()[0]) for file in files) / 1e9


def find_memory(pid: int) -> int:
    """Return the resident memory of a process in bytes, including shared pages."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS:"))


def iter_indexers(server: RunningServer) -> Iterator[int]:
    """Yield the indexer process and its children."""
    yield from (pid for pid in iter_process_tree(server.process.pid) if pid != server.process.pid)


def measure_idling(server: RunningServer, seconds: float) -> tuple[float, float]:
    """Return the CPU share of the server and of its other processes while idle."""
    ours, others = server.process.pid, list(iter_indexers(server))
    before = find_cpu_seconds(ours), sum(map(find_cpu_seconds, others))
    time.sleep(seconds)
    after = find_cpu_seconds(ours), sum(map(find_cpu_seconds, others))
    return (after[0] - before[0]) / seconds, (after[1] - before[1]) / seconds


def wait_until_current(server: RunningServer) -> float:
    """Wait until everything is indexed and the processes are idle; return the seconds."""
    start = time.perf_counter()
    while time.perf_counter() - start < _MAX_SECONDS:
        if _is_current(server) and sum(measure_idling(server, _QUIET_SECONDS)) < _QUIET_SHARE:
            return time.perf_counter() - start
        time.sleep(0.5)
    raise WrongAnswer(f"The index was not up to date after {_MAX_SECONDS} s.")


def _is_current(server: RunningServer) -> bool:
    return b'"index_complete":true' in ask(server, "/api/search?q=the&limit=1").body


def stop(server: RunningServer) -> float:
    """Stop the server and return the seconds until it has exited."""
    start = time.perf_counter()
    server.process.send_signal(signal.SIGTERM)
    server.process.wait(_TIMEOUT)
    return time.perf_counter() - start
