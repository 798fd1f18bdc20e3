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
from recollect.sync.workers import end_with_parent, uninterrupted
from recollect.web.refresher import Refresher, RefreshTask
from recollect.web.session_catalog import SessionCatalog, Update

if TYPE_CHECKING:
    from recollect.web.change_signal import ChangeSignal


STANDARD_ERROR: Final = 2
REST: Final = 10
"""Pauses that go by without a look while the system would tell of any change."""


def run_indexer(
    connection: "Connection[object, object]",
    task: RefreshTask,
    mounts: Mapping[str, Source] = MappingProxyType({}),
) -> None:
    """Tell through `connection` what changes; anything sent to it asks for texts to be indexed."""
    end_with_parent()
    mount_all(mounts)
    # Ctrl+C in a terminal reaches this process too; when to end is for the server to say.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _exit_on_signal)
    if not task.shows_errors:
        _silence_output()
    rounds = Refresher(task, connection.send)
    try:
        while (pause := rounds.run()) == 0:
            _receive(connection, rounds, 0)
        # Not before: it takes long to load, and a process with threads cannot be forked, which is
        # how the first index is made.
        from recollect.web.change_signal import ChangeSignal

        alarm = ChangeSignal(task.roots)
        while True:
            _receive(connection, rounds, pause)
            pause = _run_at_low_priority(rounds, alarm, connection, pause)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        # The server is gone.
        sys.exit(0)


def _receive(connection: "Connection[object, object]", rounds: Refresher, seconds: float) -> None:
    if connection.poll(seconds):
        connection.recv()
        rounds.check_texts()


def _run_at_low_priority(
    rounds: Refresher, alarm: "ChangeSignal", connection: "Connection[object, object]", pause: float
) -> float:
    """Wait for a reason to look again, if any would be told, and look; the seconds to pause."""
    may_rest = pause > 0 and alarm.is_reliable
    was_told = not may_rest or alarm.wait(connection, REST * pause)
    alarm.silence()
    _receive(connection, rounds, 0)
    pause = rounds.run()
    if not was_told and rounds.has_found:
        alarm.note_miss()
    return pause


def _silence_output() -> None:
    """Send what Python says about a bug nowhere; it may hold somebody's words."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, STANDARD_ERROR)
    os.close(nowhere)


def _exit_on_signal(number: int, frame: object) -> None:  # noqa: ARG001 - the signature of a handler
    # As an exception, so that the processes that index for this one are ended with it.
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
        """Whether the other process is there."""
        return self._process is not None and self._process.is_alive()

    def start(self) -> None:
        """Begin, without waiting for anything."""
        self._thread.start()

    def index_texts(self) -> None:
        """Have texts indexed now, because the index of them proved to be damaged."""
        with self._lock:
            if self._connection is not None and not self._connection.closed:
                # A process that has ended meanwhile is started again, and then looks at everything.
                with contextlib.suppress(OSError):
                    self._connection.send(None)

    def stop(self) -> None:
        """End the other process, and wait for that."""
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
        """Our end of the pipe to a new process; None when there shall be none."""
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
        # Ours alone must not keep it open: its end is how we learn that the process has ended.
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
