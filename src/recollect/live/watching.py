"""Being told which files changed: by the system where it can, by looking where it cannot.

Both ways watch a list of directories, each by itself and not what lies below it, because only a few
of the directories beside a session ever hold transcripts, and the system counts each that is
watched. Being told too often is harmless, since whoever listens looks for himself; so the one rule
is that nothing goes unnoticed for longer than the next sweep.
"""

import asyncio
import os
import sys
import time
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, Protocol

from recollect.locations.entries import is_directory
from recollect.locations.names import TRANSCRIPT_SUFFIX

POLL_VARIABLE: Final = "RECOLLECT_POLL"
"""Set to anything but 0, it forbids asking the system."""

STEP_MS: Final = 25
"""How long the system's messages are gathered while they keep coming, at least …"""
DEBOUNCE_MS: Final = 100
"""… and at most."""

POLL_SECONDS: Final = 0.1
HOT_SECONDS: Final = 60.0
"""How long a file that changed is looked at with each poll."""
SWEEP_SHARE: Final = 20
"""A sweep over everything waits this many times as long as it took: 5 % of one core at most."""

_LIMIT_FILE: Final = Path("/proc/sys/fs/inotify/max_user_watches")
_SHARE_OF_LIMIT: Final = 2
"""Editors need the other half."""

Paths = frozenset[str]


class Watcher(Protocol):
    """Yields the paths that changed, files and directories, as soon as it learns of them."""

    def watch(self, directories: Sequence[Path]) -> AsyncGenerator[Paths, None]:
        """Watch these directories; the first thing that comes, maybe empty, says that it began."""
        ...


class WatchUnavailable(Exception):
    """The system will not tell what changes, and why."""


class SystemWatcher:
    """Asks the system. Raises WatchUnavailable where that does not work, or no longer does."""

    def __init__(self, limit: int | None = None) -> None:
        self._limit = find_watch_limit() if limit is None else limit

    async def watch(self, directories: Sequence[Path]) -> AsyncGenerator[Paths, None]:
        """Watch these directories."""
        if len(directories) > self._limit:
            raise WatchUnavailable(
                f"there are {len(directories)} directories, and {self._limit} may be watched"
            )
        # Brings a second event loop library along, which polling does not need.
        from watchfiles import awatch  # noqa: PLC0415

        names = await asyncio.to_thread(_name_really, directories)
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
        coming = asyncio.ensure_future(anext(watching))
        # One turn of the loop is enough for it to begin, and nothing is missed from there on.
        await asyncio.sleep(0)
        try:
            yield frozenset()
            while True:
                await asyncio.wait({coming})
                changes = coming.result()
                coming = asyncio.ensure_future(anext(watching))
                yield frozenset(_rename(path, names) for _, path in changes)
        except ExceptionGroup as group:
            # The name of a file that changed is no text.
            raise WatchUnavailable(str(group.exceptions[0])) from group
        except (OSError, RuntimeError, UnicodeEncodeError) as error:
            # The last where that of a directory is none.
            raise WatchUnavailable(str(error)) from error
        finally:
            # Never by cancelling it: that can get lost between two of its rounds.
            stop.set()
            await asyncio.gather(coming, return_exceptions=True)


def _name_really(directories: Iterable[Path]) -> dict[str, str]:
    """The directories that are there, by their real paths."""
    return {os.path.realpath(each): str(each) for each in directories if is_directory(each)}


def _rename(path: str, names: Mapping[str, str]) -> str:
    """The path as the caller would write it: the system tells real ones."""
    directory, name = os.path.split(path)
    if directory in names:
        return os.path.join(names[directory], name)  # noqa: PTH118 - paths are texts here
    return names.get(path, path)


class PollingWatcher:
    """Looks for itself: at files that changed lately all the time, at everything now and then."""

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
                states = await asyncio.to_thread(_look_at, tuple(hot))
                changed = {path for path, state in states.items() if known.get(path) != state}
                known.update(states)
            hot = {path: moment for path, moment in hot.items() if start - moment < HOT_SECONDS}
            hot |= dict.fromkeys((path for path in changed if _is_transcript(path)), start)
            if changed:
                yield frozenset(changed)


State = tuple[int, int, int] | None
"""Inode, size and time of a file; None when it is not there."""


def _sweep(directories: Iterable[Path]) -> dict[str, State]:
    found: dict[str, State] = {}
    for directory in directories:
        try:
            with os.scandir(directory) as entries:
                for entry in entries:
                    if _is_transcript(entry.name):
                        found[entry.path] = _state_of(entry.path)
                    elif entry.is_dir(follow_symlinks=False):
                        found[entry.path] = (entry.inode(), 0, 0)
        except OSError:
            # Gone, or forbidden: either way nothing is seen in it.
            found[str(directory)] = None
    return found


def _look_at(paths: Iterable[str]) -> dict[str, State]:
    return {path: _state_of(path) for path in paths}


def _state_of(path: str) -> State:
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def _is_transcript(name: str) -> bool:
    return name.endswith(TRANSCRIPT_SUFFIX)


def find_watch_limit() -> int:
    """How many directories may be watched without taking them from others."""
    try:
        return int(_LIMIT_FILE.read_text(encoding="ascii")) // _SHARE_OF_LIMIT
    except (OSError, ValueError):
        return sys.maxsize


def must_poll(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether the environment forbids asking the system."""
    return environment.get(POLL_VARIABLE, "0") not in {"", "0"}
