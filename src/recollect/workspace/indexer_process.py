"""The process that keeps the index up to date while the server runs, the file-system watcher that
wakes it, and the server's handle on it.

Checking ten thousand files takes a tenth of a second, too much to do every second while nothing
happens. If there are no file-system events, or they missed a change, as on network drives, they are
not relied on, and polling continues.

`run_indexer` is the process: it runs until its pipe is closed. `IndexerProcess` is the server's
side: it starts the process, receives its updates, restarts it when it dies, and ends it.
"""

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path
from types import MappingProxyType
from typing import Final

from recollect.live.followed_files import RootScope
from recollect.live.watching import find_watch_limit, must_poll
from recollect.locations.claude_directories import TRANSCRIPT_SUFFIX
from recollect.redact.own_rules import refresh_own_rules, use_own_rules
from recollect.sources.safe_files import is_directory
from recollect.sources.source import Source, list_mounts, mount_all
from recollect.worker_processes import end_with_parent, uninterrupted
from recollect.workspace.refresher import Refresher, RefreshTask
from recollect.workspace.session_catalog import SessionCatalog, Update

MAX_MISSES: Final = 2
"""Changes without an event after which events are not relied on."""

STEP_MS: Final = 100
"""How often the thread checks for events, …"""
CALM_MS: Final = 1000
"""… and how long there must be none before watching counts as started."""

_PROCESSES: Final = "sessions"
_SUFFIXES: Final = (TRANSCRIPT_SUFFIX, ".json")
"""Transcripts, and the files of running clients."""


class ChangeSignal:
    """Watches the directories of the roots, in a thread that ends with the process."""

    def __init__(self, roots: Sequence[Path]) -> None:
        self._roots = roots
        self._receiver, self._sender = Pipe(duplex=False)
        self._misses = 0
        self._is_watching = False
        if not must_poll():
            threading.Thread(target=self._watch, name="change-signal", daemon=True).start()

    @property
    def is_reliable(self) -> bool:
        """Whether every change is reported."""
        return self._is_watching and self._misses < MAX_MISSES

    def wait(self, connection: "Connection[object, object]", seconds: float) -> bool:
        """Wait for a change, for `connection`, or for `seconds`; return whether one came."""
        return bool(wait([self._receiver, connection], seconds))

    def reset(self) -> None:
        """Reset the signal, before a check that sees all changes so far."""
        while self._receiver.poll():
            self._receiver.recv_bytes()

    def record_miss(self) -> None:
        """Record that something changed without an event."""
        self._misses += 1

    def _watch(self) -> None:
        try:
            while directories := list(self._iter_directories()):
                if len(directories) > find_watch_limit():
                    break
                self._watch_until_new(directories)
        except (OSError, RuntimeError, UnicodeEncodeError):
            # Too many directories are watched already, one was deleted meanwhile, or a path is not
            # text. Like anything else that ends watching, this makes `is_reliable` false.
            return
        finally:
            self._is_watching = False

    def _watch_until_new(self, directories: Sequence[Path]) -> None:
        """Signal every change, until there is a new directory to watch."""
        # Loaded after all sessions are listed, when no request is waiting.
        from watchfiles import watch

        batches = watch(
            *directories,
            watch_filter=None,
            debounce=STEP_MS,
            step=STEP_MS,
            raise_interrupt=False,
            force_polling=False,
            recursive=False,
            ignore_permission_denied=True,
            yield_on_timeout=True,
            rust_timeout=CALM_MS,
        )
        # Nothing is missed after the first result. This signal triggers a check that finds earlier
        # changes.
        for number, changes in enumerate(batches):
            self._is_watching = True
            paths = [path for _, path in changes]
            has_new = any(is_directory(Path(path)) for path in paths)
            if number == 0 or has_new or any(path.endswith(_SUFFIXES) for path in paths):
                self._sender.send_bytes(b".")
            if has_new:
                return

    def _iter_directories(self) -> Iterator[Path]:
        places = RootScope(self._roots).scan().directories
        for each in (*places, *(root / _PROCESSES for root in self._roots)):
            if is_directory(each):
                yield each


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
    use_own_rules(task.load_rules)
    # Ctrl+C in a terminal reaches this process, too; the server decides when it ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _exit_on_signal)
    if not task.shows_errors:
        _silence_output()
    refresher = Refresher(task, connection.send)
    try:
        while (pause := refresher.run()) == 0:
            _receive(connection, refresher, 0)
        # Created late: it starts threads, and the first index is built by forking.
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
    """If events are reliable, wait for one; then check, and return the seconds to pause."""
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
    # As an exception, so that worker processes are ended too.
    sys.exit(0)


RESTART_SECONDS: Final = 5.0
END_SECONDS: Final = 3.0
_INDEXER_LOST: Final = "The indexer has exited and is being restarted."

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
        """Held while a process is started, so that `stop` cannot miss it."""
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
        """Request text indexing immediately, because the text index turned out to be damaged."""
        with self._lock:
            if self._connection is not None and not self._connection.closed:
                # If the process has died, it is restarted and checks everything anyway.
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
            local, remote = context.Pipe()
            arguments = (remote, self._task, list_mounts())
            self._process = context.Process(target=run_indexer, args=arguments)
            with uninterrupted():
                self._process.start()
            self._connection = local
        # Closed here, so that the pipe ends when the process does.
        remote.close()
        return local

    def _listen(self, connection: "Connection[object, object]") -> None:
        try:
            while True:
                update = connection.recv()
                if isinstance(update, Update):
                    # The process may have found new ones, with which this update was made.
                    refresh_own_rules()
                    self._catalog.apply(update)
                    if self._listener is not None:
                        self._listener(update)
        except (EOFError, OSError):
            with self._lock:
                connection.close()
