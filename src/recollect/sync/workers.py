"""Read files one after the other, or on all cores if there is enough to read.

Workers get numbers of batches and send back extracts. They are forked where that is safe, because a
forked process has everything loaded already, and spawned elsewhere. A worker ends when the process
that started it does, for whatever reason, and inherits neither its lock nor the pipes of other
workers.
"""

import gc
import multiprocessing
import os
import signal
import sys
import threading
from collections import Counter, deque
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path

from msgspec import Struct

from recollect.sources.growth import FileState
from recollect.sources.source import Source, list_mounts, mount_all
from recollect.sync.file_changes import ReadTask, to_state
from recollect.sync.usage_extract import Extract, Job, decode_extracts, extract, extract_many

IN_FLIGHT = 8
"""Batches sent to a worker in advance, so that it need not wait while others are written."""

_NICENESS = 5

Batches = Sequence[Sequence[Job]]


def is_forking() -> bool:
    """Whether workers are forked, which costs next to nothing."""
    # With other threads running, a fork may inherit a lock that is never released; and on macOS
    # system libraries do not survive it.
    return sys.platform == "linux" and threading.active_count() == 1


def count_cores() -> int:
    """How many processes can really run at once."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def end_with_parent() -> None:
    """End this process, started by `multiprocessing`, when its parent dies for whatever reason.

    Reading a pipe to its end is not enough: a busy process does not read, and processes forked
    later hold the pipe open until they end themselves.
    """
    parent = multiprocessing.parent_process()
    if parent is None:
        return
    if sys.platform == "linux":
        import fcntl  # does not exist on Windows

        # The end of the parent makes its pipe readable, and the kernel says so by a signal that
        # ends a process by default. A thread that waits for it would forbid forking.
        fcntl.fcntl(parent.sentinel, fcntl.F_SETOWN, os.getpid())
        flags = fcntl.fcntl(parent.sentinel, fcntl.F_GETFL)
        fcntl.fcntl(parent.sentinel, fcntl.F_SETFL, flags | os.O_ASYNC)
        if not parent.is_alive():
            os._exit(1)
    else:
        threading.Thread(target=_wait_for_end, args=(parent.sentinel,), daemon=True).start()


def _wait_for_end(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)


def begin_reading(mounts: Mapping[str, Source]) -> None:
    """Set up a process that reads for another, from the same sources."""
    end_with_parent()
    mount_all(mounts)
    # The process that started it handles interrupts, and then ends it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    gc.disable()
    if hasattr(os, "nice"):
        # Everything waits for the process that writes, so it comes first where cores are few.
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
    """The workers, and the batches that each has been sent."""

    def __init__(self, batches: Batches, inherited: Sequence[int]) -> None:
        self._batches = batches
        self._waiting = deque(range(len(batches)))
        self._given: dict[Connection, deque[int]] = {}
        self._processes: list[BaseProcess] = []
        self._inherited = list(inherited)
        self._is_forking = is_forking()

    def hire(self, count: int) -> None:
        """Start that many workers, or as many as the system has room for."""
        with uninterrupted():
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
            arguments = (theirs, self._batches, list_mounts(), tuple(self._inherited))
            process = multiprocessing.get_context("fork").Process(target=_serve, args=arguments)
        else:
            arguments = (theirs, self._batches, list_mounts(), ())
            process = multiprocessing.get_context("spawn").Process(target=_serve, args=arguments)
        process.daemon = True
        process.start()
        theirs.close()
        self._processes.append(process)
        self._given[ours] = deque()

    def collect(self) -> Iterator[list[Extract]]:
        """Yield what the workers send, and read here what a worker left that died."""
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
def uninterrupted() -> Iterator[None]:
    """Defer an interrupt until the end, and keep it from processes that are started meanwhile.

    A process takes a moment to load, during which an interrupt would print a traceback.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    if not is_forking():
        from multiprocessing import resource_tracker

        # Spawning starts it, and that would unblock the signal again before our process is there.
        resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(
    connection: Connection,
    batches: Batches,
    mounts: Mapping[str, Source],
    to_close: Sequence[int],
) -> None:
    """Run a worker: read the batches it receives until the pipe is closed."""
    for descriptor in to_close:
        os.close(descriptor)
    begin_reading(mounts)
    while True:
        try:
            number = connection.recv()
            connection.send_bytes(extract_many(batches[number]))
        except (EOFError, OSError):
            return


SLOW_START = 4
"""How many times more there must be to read where a worker has to load the program first."""


class Limits(Struct, frozen=True):
    """How the work is cut up."""

    pool_bytes: int = 24 * 1024 * 1024
    """Below this, starting other processes costs more than they save."""
    batch_bytes: int = 4 * 1024 * 1024
    """What a worker reads at a time: small enough to share the last of it fairly."""
    commit_bytes: int = 128 * 1024 * 1024
    """What is read between two commits, and lost by a kill. Writing it should not take longer than
    workers can go on without new batches."""


def count_bytes(task: ReadTask) -> int:
    """How much of a file will have to be read, going by its size."""
    size, known = task.transcript.size, task.known
    return size - known.position if known and size > known.size else size


def make_jobs(tasks: Sequence[ReadTask], prices: Path | None, fingerprint: str) -> list[Job]:
    """What is to be read of each file."""
    return [_make_job(task, prices, fingerprint) for task in tasks]


def iter_extracts(
    jobs: Sequence[Job], sizes: Sequence[int], limits: Limits, inherited: Sequence[int]
) -> Generator[Extract, None, None]:
    """Yield the extracts of files as they arrive; forked workers close the files `inherited`."""
    if sum(sizes) >= limits.pool_bytes:
        factor = 1 if is_forking() else SLOW_START
        if sum(sizes) >= factor * limits.pool_bytes and count_cores() > 1:
            batches = make_batches(jobs, sizes, limits.batch_bytes)
            for extracts in read_batches(batches, inherited):
                yield from extracts
            return
    for job in jobs:
        yield extract(job)


def make_batches(jobs: Sequence[Job], sizes: Sequence[int], batch_bytes: int) -> list[list[Job]]:
    """Files by size of their session, largest first, in batches of about equal work.

    A session and its subagents stay together: they repeat each other's messages, and what is
    written in one transaction need not be counted again.
    """
    weights: Counter[str] = Counter()
    for job, size in zip(jobs, sizes, strict=True):
        weights[job.session or job.path] += size

    def find_rank(number: int) -> tuple[int, str, int]:
        session = jobs[number].session or jobs[number].path
        return -weights[session], session, -sizes[number]

    order = sorted(range(len(jobs)), key=find_rank)
    batches: list[list[Job]] = []
    room = 0
    for number in order:
        if room <= 0:
            batches.append([])
            room = batch_bytes
        batches[-1].append(jobs[number])
        room -= sizes[number]
    return batches


def _make_job(task: ReadTask, prices: Path | None, fingerprint: str) -> Job:
    known = task.known
    return Job(
        task.transcript.file,
        to_state(known) if known else FileState(),
        str(prices) if prices else None,
        wants_session=task.transcript.session_id is None,
        is_subagent=task.transcript.agent_id is not None,
        fingerprint=fingerprint,
        session=task.transcript.session_id or "",
    )
