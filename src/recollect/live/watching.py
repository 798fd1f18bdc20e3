"""Watch directories for changed files: through file-system events where possible, else by polling.

Directories are watched without their subdirectories, because few of the directories beside a
session ever hold transcripts and the system limits how many are watched. Reporting a path too often
is harmless, since consumers check the file themselves; the one rule is that no change goes
unnoticed for longer than the next sweep. `WatcherSupervisor` keeps a watcher running, and switches
to polling when events do not arrive, as on drives that other machines write to.
"""

import asyncio
import os
import sys
import time
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, Protocol, TypeVar

from recollect.locations.claude_directories import TRANSCRIPT_SUFFIX
from recollect.sources.safe_files import is_directory
from recollect.sources.source import find_source

POLL_VARIABLE: Final = "RECOLLECT_POLL"
"""Set to anything but 0, it forces polling."""

STEP_MS: Final = 25
"""A batch of events ends when this time passes without another one …"""
DEBOUNCE_MS: Final = 100
"""… or after this time at the latest."""

POLL_SECONDS: Final = 0.1
HOT_SECONDS: Final = 60.0
"""How long a file is checked in every poll after it has changed."""
SWEEP_SHARE: Final = 20
"""A full sweep is repeated after this many times its last duration: at most 5 % of one core."""

_LIMIT_FILE: Final = Path("/proc/sys/fs/inotify/max_user_watches")
_SHARE_OF_LIMIT: Final = 2
"""The divisor of the limit: half of it is left to editors and other programs."""

Paths = frozenset[str]
T = TypeVar("T")


class Watcher(Protocol):
    """Reports changed files and directories."""

    def watch(self, directories: Sequence[Path]) -> AsyncGenerator[Paths, None]:
        """Yield changed paths; the first set, which may be empty, signals that watching started."""
        ...


class WatchUnavailable(Exception):
    """File-system events are not available; the message says why."""


class SystemWatcher:
    """Uses file-system events. Raises WatchUnavailable when they do not work, or stop working."""

    def __init__(self, limit: int | None = None) -> None:
        self._limit = find_watch_limit() if limit is None else limit

    async def watch(self, directories: Sequence[Path]) -> AsyncGenerator[Paths, None]:
        """Watch these directories."""
        if len(directories) > self._limit:
            raise WatchUnavailable(
                f"{len(directories)} directories to watch, but the limit is {self._limit}"
            )
        # Imports a second event loop library, which polling does not need.
        from watchfiles import awatch

        names = await asyncio.to_thread(_resolve, directories)
        stop = asyncio.Event()
        watching = awatch(
            *names,
            watch_filter=None,
            debounce=DEBOUNCE_MS,
            step=STEP_MS,
            stop_event=stop,
            recursive=False,
            force_polling=False,
            ignore_permission_denied=True,
        )
        upcoming = _request_next(watching)
        # One iteration of the loop is enough to start it; no change is missed after that.
        await asyncio.sleep(0)
        try:
            yield frozenset()
            while True:
                await asyncio.wait({upcoming})
                changes = upcoming.result()
                upcoming = _request_next(watching)
                yield frozenset(_restore_name(path, names) for _, path in changes)
        except ExceptionGroup as group:
            # The name of a changed file is not valid UTF-8.
            raise WatchUnavailable(str(group.exceptions[0])) from group
        except (OSError, RuntimeError, UnicodeEncodeError) as error:
            # UnicodeEncodeError when the name of a directory is not valid UTF-8.
            raise WatchUnavailable(str(error)) from error
        finally:
            # It is not cancelled: a cancellation can get lost between two of its iterations.
            stop.set()
            await asyncio.gather(upcoming, return_exceptions=True)


def _request_next(watching: AsyncGenerator[T, None]) -> asyncio.Future[T]:
    """Start waiting for the next batch of events."""
    upcoming = asyncio.ensure_future(anext(watching))
    # asyncio warns about exceptions that are never retrieved, such as one that is raised just after
    # the consumer left.
    upcoming.add_done_callback(lambda done: None if done.cancelled() else done.exception())
    return upcoming


def _resolve(directories: Iterable[Path]) -> dict[str, str]:
    """Return the directories that exist, by their real paths."""
    return {os.path.realpath(each): str(each) for each in directories if is_directory(each)}


def _restore_name(path: str, names: Mapping[str, str]) -> str:
    """Return the path in the caller's spelling, because events have real paths."""
    directory, name = os.path.split(path)
    if directory in names:
        return os.path.join(names[directory], name)  # noqa: PTH118 - paths are texts here
    return names.get(path, path)


class PollingWatcher:
    """Polls: recently changed files every time, all files now and then."""

    def __init__(self, seconds: float = POLL_SECONDS) -> None:
        self._seconds = seconds

    async def watch(self, directories: Sequence[Path]) -> AsyncGenerator[Paths, None]:
        """Watch these directories."""
        known = await asyncio.to_thread(_sweep, directories)
        hot: dict[str, float] = {}
        next_sweep = time.monotonic()
        yield frozenset()
        while True:
            await asyncio.sleep(self._seconds)
            start = time.monotonic()
            if start >= next_sweep:
                found = await asyncio.to_thread(_sweep, directories)
                changed = {path for path in known.keys() | found.keys()
                           if known.get(path) != found.get(path)}  # fmt: skip
                known = found
                next_sweep = time.monotonic() + SWEEP_SHARE * (time.monotonic() - start)
            else:
                states = await asyncio.to_thread(_examine, tuple(hot))
                changed = {path for path, state in states.items() if known.get(path) != state}
                known.update(states)
            hot = {path: moment for path, moment in hot.items() if start - moment < HOT_SECONDS}
            hot |= dict.fromkeys((path for path in changed if _is_transcript(path)), start)
            if changed:
                yield frozenset(changed)


FileTimes = tuple[int, int, int] | None
"""Inode, size and mtime of a file; None if it does not exist."""


def _sweep(directories: Iterable[Path]) -> dict[str, FileTimes]:
    found: dict[str, FileTimes] = {}
    for directory in directories:
        try:
            for entry in find_source(str(directory)).list_directory(str(directory)):
                if _is_transcript(entry.name):
                    found[entry.path] = _state_of(entry.path)
                elif entry.is_dir(follow_symlinks=False):
                    found[entry.path] = (entry.stat(follow_symlinks=False).st_ino, 0, 0)
        except OSError:
            # The file was deleted or is unreadable: there is nothing to report in it.
            found[str(directory)] = None
    return found


def _examine(paths: Iterable[str]) -> dict[str, FileTimes]:
    return {path: _state_of(path) for path in paths}


def _state_of(path: str) -> FileTimes:
    try:
        status = find_source(path).find_status(path)
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def _is_transcript(name: str) -> bool:
    return name.endswith(TRANSCRIPT_SUFFIX)


def find_watch_limit() -> int:
    """Return the maximum number of directories to watch, leaving room for other programs."""
    try:
        return int(_LIMIT_FILE.read_text(encoding="ascii")) // _SHARE_OF_LIMIT
    except (OSError, ValueError):
        return sys.maxsize


def must_poll(environment: Mapping[str, str] = os.environ) -> bool:
    """Return whether the environment forces polling."""
    return environment.get(POLL_VARIABLE, "0") not in {"", "0"}


MAX_MISSES: Final = 2
"""Maximum number of consecutive sweeps with unreported changes before it switches to polling."""

POLLING_REQUESTED: Final = "polling was requested"
POLLING_FORCED: Final = f"{POLL_VARIABLE} is set"
NO_NOTIFICATIONS: Final = "files change without file-system events, as on a network drive"


class WatcherSupervisor:
    """Collects changed paths in the background; `changed` is set while there are any."""

    def __init__(self, watcher: Watcher | None = None, *, poll: bool = False) -> None:
        self.changed = asyncio.Event()
        self.reason = ""
        self._misses = 0
        self._paths: set[str] = set()
        self._has_gap = False
        self._directories: tuple[Path, ...] = ()
        self._task: asyncio.Task[None] | None = None
        self._started = asyncio.Event()
        self._watcher: Watcher = watcher or SystemWatcher()
        if poll or must_poll():
            self._use_polling(POLLING_REQUESTED if poll else POLLING_FORCED)

    @property
    def is_polling(self) -> bool:
        """Whether it is polling instead of using file-system events."""
        return isinstance(self._watcher, PollingWatcher)

    async def watch(self, directories: Sequence[Path]) -> bool:
        """Watch these directories; return whether the watcher had to be restarted."""
        wanted = tuple(directories)
        if self._task and not self._task.done() and wanted == self._directories:
            return False
        await self.stop()
        self._directories = wanted
        self._started.clear()
        self._task = asyncio.create_task(self._run())
        started = asyncio.create_task(self._started.wait())
        try:
            await asyncio.wait({self._task, started}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            started.cancel()
        self._raise_failure()
        return True

    def take_changes(self) -> set[str]:
        """Return the paths that changed since the last call."""
        self._raise_failure()
        paths, self._paths = self._paths, set()
        self.changed.clear()
        if paths:
            self._misses = 0
        if not paths.isdisjoint(map(str, self._directories)):
            # A watched directory was itself removed or replaced: the next `watch` restarts.
            self._directories = ()
        return paths

    def take_gap(self) -> bool:
        """Return whether the watcher was stopped for a while since the last call."""
        has_gap, self._has_gap = self._has_gap, False
        return has_gap

    def note_missed(self) -> None:
        """Count a change that a sweep found but the watcher did not report."""
        self._misses += 1
        if self._misses >= MAX_MISSES and not self.is_polling:
            self._use_polling(NO_NOTIFICATIONS)
            self._directories = ()

    async def stop(self) -> None:
        """Stop the watcher."""
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None

    def _raise_failure(self) -> None:
        if self._task and self._task.done():
            self._task.result()

    def _use_polling(self, reason: str) -> None:
        self._watcher, self.reason = PollingWatcher(), reason

    def _mark_started(self) -> None:
        self._started.set()
        self._has_gap = True
        self.changed.set()

    async def _run(self) -> None:
        while True:
            try:
                async for paths in self._watcher.watch(self._directories):
                    if not self._started.is_set():
                        self._mark_started()
                    self._paths |= paths
                    if paths:
                        self.changed.set()
            except WatchUnavailable as error:
                self._use_polling(str(error))
                self._started.clear()
