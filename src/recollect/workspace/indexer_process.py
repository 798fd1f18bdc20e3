"""The process that keeps the index up to date while the server runs, and the server's handle on it.

`run_indexer` is the process: it runs until its pipe is closed. `IndexerProcess` is the server's
side: it starts the process, receives its updates, restarts it when it dies, and ends it.
"""

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from multiprocessing.connection import Connection
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from recollect.sources.source import Source, list_mounts, mount_all
from recollect.sync import end_with_parent, uninterrupted
from recollect.workspace.refresher import Refresher, RefreshTask
from recollect.workspace.session_catalog import SessionCatalog, Update

if TYPE_CHECKING:
    from recollect.workspace.change_signal import ChangeSignal


STANDARD_ERROR: Final = 2
REST: Final = 10
"""Pauses to skip while file-system events are reliable."""


def run_indexer(
    connection: "Connection[object, object]",
    task: RefreshTask,
    mounts: Mapping[str, Source] = MappingProxyType({}),
) -> None:
    """Send changes through `connection`; anything received from it requests text indexing."""
    end_with_parent()
    mount_all(mounts)
    # Ctrl+C in a terminal reaches this process, too; the server decides when it ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _exit_on_signal)
    if not task.shows_errors:
        _silence_output()
    refresher = Refresher(task, connection.send)
    try:
        while (pause := refresher.run()) == 0:
            _receive(connection, refresher, 0)
        # Not earlier: it is slow to import, and a process with threads cannot be forked, which is
        # how the first index is made.
        from recollect.workspace.change_signal import ChangeSignal

        change_signal = ChangeSignal(task.roots)
        while True:
            _receive(connection, refresher, pause)
            pause = _run_at_low_priority(refresher, change_signal, connection, pause)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        # The server has exited.
        sys.exit(0)


def _receive(
    connection: "Connection[object, object]", refresher: Refresher, seconds: float
) -> None:
    if connection.poll(seconds):
        connection.recv()
        refresher.check_texts()


def _run_at_low_priority(
    refresher: Refresher,
    change_signal: "ChangeSignal",
    connection: "Connection[object, object]",
    pause: float,
) -> float:
    """Wait for a reason to check again, if reliable, and check; return the seconds to pause."""
    may_rest = pause > 0 and change_signal.is_reliable
    was_signalled = not may_rest or change_signal.wait(connection, REST * pause)
    change_signal.reset()
    _receive(connection, refresher, 0)
    pause = refresher.run()
    if not was_signalled and refresher.has_found:
        change_signal.record_miss()
    return pause


def _silence_output() -> None:
    """Discard Python's messages about a bug; they may contain transcript text."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, STANDARD_ERROR)
    os.close(nowhere)


def _exit_on_signal(number: int, frame: object) -> None:  # noqa: ARG001 - the signature of a handler
    # As an exception, so that worker processes are ended, too.
    sys.exit(0)


RESTART_SECONDS: Final = 5.0
END_SECONDS: Final = 3.0
_INDEXER_LOST: Final = (
    "The process that keeps the index level has ended; it is being started again."
)

SnapshotListener = Callable[[Update], None]


class IndexerProcess:
    """Keeps a catalog up to date while it runs."""

    def __init__(
        self, catalog: SessionCatalog, task: RefreshTask, listener: SnapshotListener | None = None
    ) -> None:
        self._catalog = catalog
        self._task = task
        self._listener = listener
        self._stopping = threading.Event()
        self._lock = threading.Lock()
        """Held while a process is started: one that is not known could not be ended."""
        self._process: multiprocessing.process.BaseProcess | None = None
        self._connection: Connection[object, object] | None = None
        self._thread = threading.Thread(target=self._keep, name="indexer", daemon=True)

    @property
    def is_running(self) -> bool:
        """Whether the process is running."""
        return self._process is not None and self._process.is_alive()

    def start(self) -> None:
        """Start, without waiting for anything."""
        self._thread.start()

    def index_texts(self) -> None:
        """Request text indexing now, because the text index turned out to be damaged."""
        with self._lock:
            if self._connection is not None and not self._connection.closed:
                # A process that has died meanwhile is restarted, and then checks everything.
                with contextlib.suppress(OSError):
                    self._connection.send(None)

    def stop(self) -> None:
        """End the process, and wait for it."""
        with self._lock:
            self._stopping.set()
            process = self._process
        if process is not None and process.is_alive():
            process.terminate()
            process.join(END_SECONDS)
            if process.is_alive():
                process.kill()
        if self._thread.is_alive():
            self._thread.join(END_SECONDS)

    def _keep(self) -> None:
        while (connection := self._start_process()) is not None:
            self._listen(connection)
            if self._process is not None:
                self._process.join()
            if not self._stopping.is_set():
                self._catalog.fail(_INDEXER_LOST)
            self._stopping.wait(RESTART_SECONDS)

    def _start_process(self) -> "Connection[object, object] | None":
        """Return our end of the pipe to a new process; None after `stop`."""
        # Not forked: this process has threads, and its locks would be copied in any state.
        context = multiprocessing.get_context("spawn")
        with self._lock:
            if self._stopping.is_set():
                return None
            ours, theirs = context.Pipe()
            arguments = (theirs, self._task, list_mounts())
            self._process = context.Process(target=run_indexer, args=arguments)
            with uninterrupted():
                self._process.start()
            self._connection = ours
        # Closed here, so that the pipe ends when the process does.
        theirs.close()
        return ours

    def _listen(self, connection: "Connection[object, object]") -> None:
        try:
            while True:
                update = connection.recv()
                if isinstance(update, Update):
                    self._catalog.apply(update)
                    if self._listener is not None:
                        self._listener(update)
        except (EOFError, OSError):
            with self._lock:
                connection.close()
