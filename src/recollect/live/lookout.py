"""Keeps a watcher running: restarts it for other directories, and replaces one that gives up.

Knows which paths changed since it was last asked; refuses to know what they are. A system whose
messages do not come, as with drives that other machines write to, is not asked any longer.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from recollect.live.watching import (
    POLL_VARIABLE,
    PollingWatcher,
    SystemWatcher,
    Watcher,
    WatchUnavailable,
    must_poll,
)

MOST_MISSES: Final = 2
"""Sweeps in a row that may find what nobody told of, before the system is no longer trusted."""

ASKED_FOR: Final = "polling was asked for"
FORBIDDEN: Final = f"{POLL_VARIABLE} is set"
NOT_TOLD: Final = "files change without a message from the system, as on a network drive"


class Lookout:
    """Gathers changed paths in the background; `changed` is set while there are any."""

    def __init__(self, watcher: Watcher | None = None, *, poll: bool = False) -> None:
        self.changed = asyncio.Event()
        self.reason = ""
        self._misses = 0
        self._paths: set[str] = set()
        self._has_gap = False
        self._directories: tuple[Path, ...] = ()
        self._task: asyncio.Task[None] | None = None
        self._began = asyncio.Event()
        self._watcher: Watcher = watcher or SystemWatcher()
        if poll or must_poll():
            self._use_polling(ASKED_FOR if poll else FORBIDDEN)

    @property
    def is_polling(self) -> bool:
        """Whether it looks for itself."""
        return isinstance(self._watcher, PollingWatcher)

    async def watch(self, directories: Sequence[Path]) -> bool:
        """Watch these directories from here on; whether anything had to be changed for that."""
        wanted = tuple(directories)
        if self._task and not self._task.done() and wanted == self._directories:
            return False
        await self.stop()
        self._directories = wanted
        self._began.clear()
        self._task = asyncio.create_task(self._run())
        began = asyncio.create_task(self._began.wait())
        try:
            await asyncio.wait({self._task, began}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            began.cancel()
        self._raise_failure()
        return True

    def take(self) -> set[str]:
        """The paths that changed since this was last asked."""
        self._raise_failure()
        paths, self._paths = self._paths, set()
        self.changed.clear()
        if paths:
            self._misses = 0
        if not self._directories_stand(paths):
            self._directories = ()
        return paths

    def take_gap(self) -> bool:
        """Whether there was a time since this was last asked in which nobody watched."""
        has_gap, self._has_gap = self._has_gap, False
        return has_gap

    def note_missed(self) -> None:
        """Somebody found a change that was not told."""
        self._misses += 1
        if self._misses >= MOST_MISSES and not self.is_polling:
            self._use_polling(NOT_TOLD)
            self._directories = ()

    async def stop(self) -> None:
        """End the watcher."""
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None

    def _raise_failure(self) -> None:
        if self._task and self._task.done():
            self._task.result()

    def _directories_stand(self, paths: set[str]) -> bool:
        """Whether none of what is watched was itself taken away or put there anew."""
        return paths.isdisjoint(map(str, self._directories))

    def _use_polling(self, reason: str) -> None:
        self._watcher, self.reason = PollingWatcher(), reason

    def _begin(self) -> None:
        self._began.set()
        self._has_gap = True
        self.changed.set()

    async def _run(self) -> None:
        while True:
            try:
                async for paths in self._watcher.watch(self._directories):
                    if not self._began.is_set():
                        self._begin()
                    self._paths |= paths
                    if paths:
                        self.changed.set()
            except WatchUnavailable as refusal:
                self._use_polling(str(refusal))
                self._began.clear()
