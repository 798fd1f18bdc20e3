"""The server's end of the pipe: starts the other process, listens to it, and ends it."""

import multiprocessing
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Final

from recollect.web.levelling.rounds import Task
from recollect.web.levelling.worker import keep_level
from recollect.web.shelf import Shelf, Update

RESTART_SECONDS: Final = 5.0
END_SECONDS: Final = 3.0
_LOST: Final = "The process that keeps the index level has ended; it is being started again."

Listener = Callable[[Update], None]


class Keeper:
    """Keeps a shelf level with the files while it runs."""

    def __init__(self, shelf: Shelf, task: Task, listener: Listener | None = None) -> None:
        self._shelf = shelf
        self._task = task
        self._listener = listener
        self._stopping = threading.Event()
        self._lock = threading.Lock()
        """Held while a process is started: one that is not known could not be ended."""
        self._process: multiprocessing.process.BaseProcess | None = None
        self._thread = threading.Thread(target=self._keep, name="keeper", daemon=True)

    @property
    def is_running(self) -> bool:
        """Whether the other process is there."""
        return self._process is not None and self._process.is_alive()

    def start(self) -> None:
        """Begin, without waiting for anything."""
        self._thread.start()

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
                self._shelf.fail(_LOST)
            self._stopping.wait(RESTART_SECONDS)

    def _start_process(self) -> "Connection[object, object] | None":
        """Our end of the pipe to a new process; None when there shall be none."""
        # Not forked: this process has threads, and its locks would be copied in any state.
        context = multiprocessing.get_context("spawn")
        with self._lock:
            if self._stopping.is_set():
                return None
            ours, theirs = context.Pipe()
            self._process = context.Process(target=keep_level, args=(theirs, self._task))
            self._process.start()
        # Ours alone must not keep it open: its end is how we learn that the process has ended.
        theirs.close()
        return ours

    def _listen(self, connection: "Connection[object, object]") -> None:
        try:
            while True:
                update = connection.recv()
                if isinstance(update, Update):
                    self._shelf.apply(update)
                    if self._listener is not None:
                        self._listener(update)
        except (EOFError, OSError):
            connection.close()
