"""Wake the indexer process when the operating system reports a change.

Checking ten thousand files takes a tenth of a second, too much to do every second while nothing
happens. If there are no file-system events, or they missed a change, as on network drives, they are
not relied on and polling continues.
"""

import threading
from collections.abc import Iterator, Sequence
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Final

from recollect.live.followed_files import RootScope
from recollect.live.watching import find_watch_limit, must_poll
from recollect.locations.project_names import TRANSCRIPT_SUFFIX
from recollect.sources.safe_files import is_directory

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
            # text. Like anything else that ends watching, this shows in `is_reliable`.
            return
        finally:
            self._is_watching = False

    def _watch_until_new(self, directories: Sequence[Path]) -> None:
        """Signal every change, until there is a new directory to watch."""
        # Loaded after all sessions are listed, when nobody waits for it.
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
        # After the first result nothing is missed; earlier changes are found by the check that this
        # signal causes.
        for number, changes in enumerate(batches):
            self._is_watching = True
            paths = [path for _, path in changes]
            has_new = any(is_directory(Path(path)) for path in paths)
            if number == 0 or has_new or any(path.endswith(_SUFFIXES) for path in paths):
                self._sender.send_bytes(b".")
            if has_new:
                return

    def _iter_directories(self) -> Iterator[Path]:
        places = RootScope(self._roots).survey().directories
        for each in (*places, *(root / _PROCESSES for root in self._roots)):
            if is_directory(each):
                yield each
