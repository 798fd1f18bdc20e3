"""Who may write the index: one process at a time, by a lock on a file beside it.

SQLite's own lock would make a second writer wait for each transaction instead of once. The holder
shows now and then that it is alive, so that a long first sync is not taken for a dead one.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from recollect.errors import IndexFailure
from recollect.store.place import VARIABLE

LOCK_NAME = "index.lock"
PATIENCE_SECONDS = 20.0
LIFE_SECONDS = 0.5
_STEP_SECONDS = 0.02


class Lock:
    """The right to write, while it is held."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path = path
        self._shown = time.monotonic()
        self.descriptor = descriptor
        """A process that is forked while the lock is held has to close it, or it holds it too."""

    def show_life(self) -> None:
        """Let those who wait know that the holder is at work; costs nothing when often called."""
        now = time.monotonic()
        if now - self._shown > LIFE_SECONDS:
            self._shown = now
            os.utime(self._path)


@contextmanager
def hold_lock(directory: Path, patience: float = PATIENCE_SECONDS) -> Iterator[Lock]:
    """Be the only writer in `directory`; waits as long as the present one shows life."""
    path = directory / LOCK_NAME
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise _refuse(path, error) from error
    try:
        _wait(path, descriptor, patience)
        yield Lock(path, descriptor)
    finally:
        os.close(descriptor)


def _wait(path: Path, descriptor: int, patience: float) -> None:
    last_seen, deadline = -1, 0.0
    while not _try_lock(path, descriptor):
        seen = os.fstat(descriptor).st_mtime_ns
        if seen != last_seen:
            last_seen, deadline = seen, time.monotonic() + patience
        elif time.monotonic() > deadline:
            raise IndexFailure(
                f"Another Recollect holds {path} and has shown no life for {patience:.0f} seconds. "
                "Wait for it to end, or stop it."
            )
        time.sleep(_STEP_SECONDS)


def _try_lock(path: Path, descriptor: int) -> bool:
    try:
        import fcntl  # noqa: PLC0415 - there is no such module on Windows
    except ImportError:
        return _try_lock_windows(descriptor)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise _refuse(path, error) from error
    return True


def _try_lock_windows(descriptor: int) -> bool:
    import msvcrt  # noqa: PLC0415 - only on Windows

    try:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
    except OSError:
        return False
    return True


def _refuse(path: Path, error: OSError) -> IndexFailure:
    return IndexFailure(
        f"Cannot lock {path}: {error.strerror}. "
        f"Set {VARIABLE} to a directory on a local disk that you can write to."
    )
