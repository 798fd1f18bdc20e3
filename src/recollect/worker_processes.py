"""Work on all cores: processes that are forked where that is safe, and spawned elsewhere.

A forked process has everything loaded already. Workers receive the number of their next task and
send back bytes. A worker ends when the process that started it does, for whatever reason, and
inherits neither its lock nor the pipes of other workers.

`multiprocessing` is imported only when workers are started, because most commands need none.
"""

import gc
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

Work = Callable[[int], bytes]
"""Does a part of the work, by its number."""

_IN_FLIGHT = 8
"""Parts given to a worker in advance, so that it need not wait while results are used."""


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
    """End this process, started by `multiprocessing`, when its parent dies for any reason.

    Reading a pipe to its end is not enough: a busy process does not read, and processes forked
    later hold the pipe open until they end themselves.
    """
    import multiprocessing

    parent = multiprocessing.parent_process()
    if parent is None:
        return
    if sys.platform == "linux":
        import fcntl  # does not exist on Windows

        # When the parent exits, its pipe becomes readable, and the kernel sends a signal that
        # terminates a process by default. A waiting thread would make forking unsafe.
        fcntl.fcntl(parent.sentinel, fcntl.F_SETOWN, os.getpid())
        flags = fcntl.fcntl(parent.sentinel, fcntl.F_GETFL)
        fcntl.fcntl(parent.sentinel, fcntl.F_SETFL, flags | os.O_ASYNC)
        if not parent.is_alive():
            os._exit(1)
    else:
        threading.Thread(target=_wait_for_end, args=(parent.sentinel,), daemon=True).start()


def _wait_for_end(sentinel: int) -> None:
    from multiprocessing.connection import wait

    wait([sentinel])
    os._exit(1)


def begin_worker() -> None:
    """Set up a process that works for another."""
    end_with_parent()
    # The process that started it handles interrupts, and then ends it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    gc.disable()


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


def run_on_all_cores(
    work: Work,
    count: int,
    *,
    begin: Callable[[], None] = begin_worker,
    inherited: Sequence[int] = (),
) -> Generator[tuple[int, bytes], None, None]:
    """Yield the numbers below `count` with their results as they come.

    Each worker calls `begin` first. Forks close `inherited` files. Where workers are spawned, both
    functions are pickled.
    """
    with WorkerPool(work, count, begin=begin, inherited=inherited) as crew:
        yield from crew.collect()


def run_in_order(work: Work, count: int) -> Generator[bytes, None, None]:
    """Yield the results of all parts in order, each as soon as those before it are there."""
    waiting: dict[int, bytes] = {}
    following = 0
    with closing(run_on_all_cores(work, count)) as results:
        for number, result in results:
            waiting[number] = result
            while following in waiting:
                yield waiting.pop(following)
                following += 1


class WorkerPool:
    """Workers for the parts of some work, which they begin at once; within a `with` block."""

    def __init__(
        self,
        work: Work,
        count: int,
        *,
        begin: Callable[[], None] = begin_worker,
        inherited: Sequence[int] = (),
        in_flight: int = _IN_FLIGHT,
        workers: int | None = None,
    ) -> None:
        """Describe the work; each worker gets `in_flight` parts in advance.

        There is one worker for each core if their number is not given.
        """
        self._work = work
        self._begin = begin
        self._in_flight = in_flight
        self._workers = min(count_cores() if workers is None else workers, count)
        self._waiting = deque(range(count))
        self._given: dict[Connection, deque[int]] = {}
        self._processes: list[BaseProcess] = []
        self._inherited = list(inherited)
        self._is_forking = is_forking()

    def __enter__(self) -> Self:
        """Start the workers, or as many as the system has room for."""
        with uninterrupted():
            for _ in range(self._workers):
                try:
                    self._start()
                except OSError:
                    break
        for _ in range(self._in_flight):
            for worker in list(self._given):
                self._give(worker)
        return self

    def __exit__(self, *_: object) -> None:
        """End all workers, whatever they are doing."""
        for worker in self._given:
            worker.close()
        for process in self._processes:
            process.terminate()
            process.join()
            process.close()

    def _start(self) -> None:
        import multiprocessing

        local, remote = multiprocessing.Pipe()
        self._inherited.append(local.fileno())
        to_close = tuple(self._inherited) if self._is_forking else ()
        arguments = (remote, self._work, self._begin, to_close)
        process: BaseProcess
        if self._is_forking:
            process = multiprocessing.get_context("fork").Process(target=_serve, args=arguments)
        else:
            process = multiprocessing.get_context("spawn").Process(target=_serve, args=arguments)
        process.daemon = True
        process.start()
        remote.close()
        self._processes.append(process)
        self._given[local] = deque()

    def collect(self) -> Iterator[tuple[int, bytes]]:
        """Yield what the workers send, and do here what a worker left that died."""
        from multiprocessing.connection import wait

        while busy := [worker for worker, given in self._given.items() if given]:
            ready = wait(busy)
            for worker in [worker for worker in busy if worker in ready]:
                number, result = self._receive(worker)
                if result is not None:
                    yield number, result
        for number in self._waiting:
            yield number, self._work(number)

    def _give(self, worker: "Connection") -> None:
        if self._waiting and worker in self._given:
            try:
                worker.send(self._waiting[0])
            except OSError:
                self._give_up(worker)
                return
            self._given[worker].append(self._waiting.popleft())

    def _receive(self, worker: "Connection") -> tuple[int, bytes | None]:
        try:
            result = worker.recv_bytes()
        except (EOFError, OSError):
            self._give_up(worker)
            return -1, None
        number = self._given[worker].popleft()
        self._give(worker)
        return number, result

    def _give_up(self, worker: "Connection") -> None:
        self._waiting.extendleft(reversed(self._given.pop(worker)))
        worker.close()


def _serve(
    connection: "Connection", work: Work, begin: Callable[[], None], to_close: Sequence[int]
) -> None:
    """Run a worker: do the parts it is given until the pipe is closed."""
    for descriptor in to_close:
        os.close(descriptor)
    begin()
    while True:
        try:
            connection.send_bytes(work(connection.recv()))
        except (EOFError, OSError):
            return
