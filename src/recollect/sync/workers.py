"""Reads files on all cores: processes that are told numbers of batches and send back extracts.

Forked where that is safe, because a forked process has everything loaded already; started anew
elsewhere. A worker ends when the process that started it does, however that came about, and holds
nothing of it meanwhile: neither its lock nor the pipes of its neighbours.
"""

import gc
import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from recollect.sync.extract import Extract, Job, decode_extracts, extract, extract_many

IN_FLIGHT = 8
"""Batches that a worker is told of ahead, so that it need not wait while others are booked."""

_NICENESS = 5

Batches = Sequence[Sequence[Job]]


def is_forking() -> bool:
    """Whether workers are forked, which costs next to nothing."""
    # With other threads at work, a fork may inherit a lock that nobody will ever release; and on
    # macOS system libraries do not survive it.
    return sys.platform == "linux" and threading.active_count() == 1


def count_cores() -> int:
    """How many processes can really run at once."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def begin_reading() -> None:
    """What a process does first that reads for another."""
    gc.disable()
    if hasattr(os, "nice"):
        # All wait for the one who writes, so it comes first where cores are few.
        os.nice(_NICENESS)


def read_batches(batches: Batches, inherited: Sequence[int]) -> Iterator[list[Extract]]:
    """The contents of all files, batch by batch as they come; forks close `inherited` files."""
    crew = _Crew(batches, inherited)
    try:
        crew.hire(min(count_cores(), len(batches)))
        yield from crew.collect()
    finally:
        crew.dismiss()


class _Crew:
    """The workers, and what each of them has been told to read."""

    def __init__(self, batches: Batches, inherited: Sequence[int]) -> None:
        self._batches = batches
        self._waiting = deque(range(len(batches)))
        self._given: dict[Connection, deque[int]] = {}
        self._processes: list[BaseProcess] = []
        self._inherited = list(inherited)
        self._is_forking = is_forking()

    def hire(self, count: int) -> None:
        """Start that many workers, or as many as the system has room for."""
        with _uninterrupted():
            for _ in range(count):
                try:
                    self._start()
                except OSError:
                    return

    def _start(self) -> None:
        ours, theirs = multiprocessing.Pipe()
        self._inherited.append(ours.fileno())
        process: BaseProcess
        if self._is_forking:
            arguments = (theirs, self._batches, tuple(self._inherited))
            process = multiprocessing.get_context("fork").Process(target=_serve, args=arguments)
        else:
            arguments = (theirs, self._batches, ())
            process = multiprocessing.get_context("spawn").Process(target=_serve, args=arguments)
        process.daemon = True
        process.start()
        theirs.close()
        self._processes.append(process)
        self._given[ours] = deque()

    def collect(self) -> Iterator[list[Extract]]:
        """What the workers send; what those leave who do not live to send it is read here."""
        for worker in list(self._given):
            for _ in range(IN_FLIGHT):
                self._give(worker)
        while busy := [worker for worker, given in self._given.items() if given]:
            ready = wait(busy)
            for worker in [worker for worker in busy if worker in ready]:
                number, data = self._receive(worker)
                if data is not None:
                    yield decode_extracts(data, self._batches[number])
        for number in self._waiting:
            yield [extract(job) for job in self._batches[number]]

    def _give(self, worker: Connection) -> None:
        if self._waiting and worker in self._given:
            try:
                worker.send(self._waiting[0])
            except OSError:
                self._give_up(worker)
                return
            self._given[worker].append(self._waiting.popleft())

    def _receive(self, worker: Connection) -> tuple[int, bytes | None]:
        try:
            data = worker.recv_bytes()
        except (EOFError, OSError):
            self._give_up(worker)
            return -1, None
        number = self._given[worker].popleft()
        self._give(worker)
        return number, data

    def _give_up(self, worker: Connection) -> None:
        self._waiting.extendleft(reversed(self._given.pop(worker)))
        worker.close()

    def dismiss(self) -> None:
        """End all workers, whatever they are doing."""
        for worker in self._given:
            worker.close()
        for process in self._processes:
            process.terminate()
            process.join()
            process.close()


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """An interrupt waits until the end, and those who are started meanwhile are spared it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(connection: Connection, batches: Batches, to_close: Sequence[int]) -> None:
    """What a worker does: read the batches it is told of until nobody tells it more."""
    for descriptor in to_close:
        os.close(descriptor)
    # Interrupted is whoever started it, who then ends it; and nobody's handlers are its own.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    begin_reading()
    while True:
        try:
            number = connection.recv()
            connection.send_bytes(extract_many(batches[number]))
        except (EOFError, OSError):
            return
