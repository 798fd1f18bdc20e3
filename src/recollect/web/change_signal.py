"""Wakes the process that keeps the index level when the system tells that something has changed.

A look at ten thousand files takes a tenth of a second, which is too much to do every second while
nothing happens. Where the system does not tell, or has been silent about a change, as with drives
that other machines write to, nobody relies on it and looking goes on as before.
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
"""Changes that may be found without having been told of."""

STEP_MS: Final = 100
"""How often the thread looks for messages of the system, …"""
CALM_MS: Final = 1000
"""… and how long none may come before watching counts as begun."""

_PROCESSES: Final = "sessions"
_SUFFIXES: Final = (TRANSCRIPT_SUFFIX, ".json")
"""Of transcripts, and of the files that running clients keep."""


class ChangeSignal:
    """Watches the directories of some roots, in a thread that ends with the process."""

    def __init__(self, roots: Sequence[Path]) -> None:
        self._roots = roots
        self._bell, self._hammer = Pipe(duplex=False)
        self._misses = 0
        self._is_watching = False
        if not must_poll():
            threading.Thread(target=self._watch, name="alarm", daemon=True).start()

    @property
    def is_reliable(self) -> bool:
        """Whether it would ring if anything changed."""
        return self._is_watching and self._misses < MAX_MISSES

    def wait(self, connection: "Connection[object, object]", seconds: float) -> bool:
        """Wait for the bell, for `connection`, or for so long; whether one of them came."""
        return bool(wait([self._bell, connection], seconds))

    def silence(self) -> None:
        """Forget that it rang, before a look that sees whatever it rang for."""
        while self._bell.poll():
            self._bell.recv_bytes()

    def note_miss(self) -> None:
        """Say that something had changed and it did not ring."""
        self._misses += 1

    def _watch(self) -> None:
        try:
            while directories := list(self._iter_directories()):
                if len(directories) > find_watch_limit():
                    break
                self._watch_until_new(directories)
        except (OSError, RuntimeError, UnicodeEncodeError):
            # Too many are watched already, one went while it was being entered, or the bytes of a
            # path are no text: told as everything else that ends the watching, by not being
            # reliable.
            return
        finally:
            self._is_watching = False

    def _watch_until_new(self, directories: Sequence[Path]) -> None:
        """Ring for every change, until there is another directory to be watched."""
        # Loaded when all sessions are listed: nobody waits for it then.
        from watchfiles import watch

        told = watch(
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
        # Nothing goes unnoticed behind the first answer; what happened before it is seen by the
        # look that the bell asks for.
        for number, changes in enumerate(told):
            self._is_watching = True
            paths = [path for _, path in changes]
            has_new = any(is_directory(Path(path)) for path in paths)
            if number == 0 or has_new or any(path.endswith(_SUFFIXES) for path in paths):
                self._hammer.send_bytes(b".")
            if has_new:
                return

    def _iter_directories(self) -> Iterator[Path]:
        places = RootScope(self._roots).survey().directories
        for each in (*places, *(root / _PROCESSES for root in self._roots)):
            if is_directory(each):
                yield each
