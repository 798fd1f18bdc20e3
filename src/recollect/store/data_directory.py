"""The location and permissions of Recollect's own files, the lock for writing the index, and the
versions of its tables and data.

They are never below a Claude directory. The index contains text from transcripts, so only its owner
may read it. One process writes it at a time, with a lock on a file beside it: SQLite's own lock
would make a second writer wait for each transaction instead of once. The holder touches the lock
regularly, so that a long first sync is not mistaken for a dead process.

The tables are defined elsewhere, because a status line needs only the versions.
"""

import os
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

import apsw

from recollect.atomic_files import make_directories
from recollect.errors import IndexFailure, NothingFound, UsageError
from recollect.redact.own_rules import find_own_rules

VARIABLE = "RECOLLECT_DATA_DIR"
INDEX_NAME = "index.db"

MOUNTS = Path("/proc/mounts")
_NETWORK = ("9p", "afs", "ceph", "cifs", "fuse.glusterfs", "fuse.sshfs", "nfs", "smb", "virtiofs")


def find_data_directory(environment: Mapping[str, str] = os.environ) -> Path:
    """The directory for our own data; it need not exist yet.

    Raises `UsageError` when the user has chosen one that belongs to Claude Code.
    """
    chosen = environment.get(VARIABLE)
    if chosen:
        path = Path(chosen).absolute()
        refuse_claude_directory(path, _find_claude_directories(environment))
        return path
    if "linux" in sys.platform:
        # The same as platformdirs returns, whose import would take half of a warm run.
        base = environment.get("XDG_DATA_HOME", "").strip()
        return Path(base or Path.home() / ".local" / "share") / "recollect"
    import platformdirs  # not needed everywhere

    return Path(platformdirs.user_data_dir("recollect", appauthor=False))


def make_private_directory(path: Path) -> None:
    """Create the directory `path`, and missing parents, accessible only by the owner."""
    try:
        make_directories(path)
        if not path.is_dir():
            raise NotADirectoryError(20, "it is a file", str(path))
    except OSError as error:
        raise IndexFailure(
            f"Cannot create the data directory {path}: {error.strerror}. "
            f"Set {VARIABLE} to a directory that you can write to."
        ) from error


def refuse_claude_directory(path: Path, claude_directories: Iterable[Path]) -> None:
    """Raise `UsageError` if `path` is in one of these directories."""
    real = Path(os.path.realpath(path))
    for directory in claude_directories:
        if real.is_relative_to(os.path.realpath(directory)):
            raise UsageError(
                f"The data directory {path} is in {directory}, which belongs to Claude Code. Set "
                f"{VARIABLE} to another directory."
            )


def is_on_network(path: Path, mounts: Path | None = None) -> bool:
    """Whether `path` is known to be on a file system that other machines write to as well."""
    try:
        lines = (mounts or MOUNTS).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return False
    real = os.path.realpath(path)
    places = [fields for line in lines if len(fields := line.split(" ")) > 2]  # noqa: PLR2004
    holding = [fields for fields in places if _is_mounted_above(fields[1], real)]
    kind = max(holding, key=lambda fields: len(fields[1]), default=["", "", ""])[2]
    return kind.startswith(_NETWORK)


def _find_claude_directories(environment: Mapping[str, str]) -> tuple[Path, ...]:
    from recollect.locations import resolve_roots  # half the time of a status line

    try:
        return resolve_roots(environment=environment)
    except NothingFound:
        return ()


def _is_mounted_above(mount_point: str, path: str) -> bool:
    place = mount_point.replace("\\040", " ").rstrip("/")
    return path == place or path.startswith(f"{place}/")


TEXT_DIRECTORY = "text"
"""The directory of the full-text index, below the data directory, with its own lock."""


def find_text_path(directory: Path) -> Path:
    """Where the full-text index in a data directory is, or would be."""
    return directory / TEXT_DIRECTORY / "text.db"


LOCK_NAME = "index.lock"
PATIENCE_SECONDS = 20.0
LIFE_SECONDS = 0.5
_STEP_SECONDS = 0.02


class Lock:
    """An acquired write lock."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path = path
        self._shown = time.monotonic()
        self.descriptor = descriptor
        """A forked process must close it, or it keeps the lock too."""

    def signal_progress(self) -> None:
        """Show waiting processes that the holder is making progress; cheap to call often."""
        now = time.monotonic()
        if now - self._shown > LIFE_SECONDS:
            self._shown = now
            os.utime(self._path)


@contextmanager
def hold_lock(
    directory: Path, patience: float = PATIENCE_SECONDS, *, name: str = LOCK_NAME
) -> Iterator[Lock]:
    """Acquire the write lock of `directory`; waits as long as the current holder makes progress."""
    path = directory / name
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
                f"Another Recollect process has locked {path} and made no progress for "
                f"{patience:.0f} seconds. Wait for it to exit, or stop it."
            )
        time.sleep(_STEP_SECONDS)


def _try_lock(path: Path, descriptor: int) -> bool:
    try:
        import fcntl  # does not exist on Windows
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
    import msvcrt  # only on Windows

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


SCHEMA_VERSION: Final = 6
"""Incremented when the tables change."""
DATA_VERSION: Final = 6
"""Incremented when the stored data changes, except in the tables of the next version."""
LISTING_VERSION: Final = "8"
"""Incremented when the data in `sessions` and `tool_calls` changes, and with the rules for secrets,
because stored titles are masked; files are then read again.
"""

TEXT_SCHEMA: Final = "13"
"""Incremented when the tables of the full-text index or the rules for secrets change."""


def name_version(version: object) -> str:
    """Return a version of stored data as an index records it.

    The user's own rules for secrets are part of it, because stored texts are masked by them.
    """
    key = find_own_rules().key
    return f"{version}+{key}" if key else str(version)


SQLITE_VERSION: Final = apsw.sqlite_lib_version()
MIN_SQLITE_VERSION: Final = "3.51.3"
"""Older versions can damage an index that two programs write concurrently."""


def is_sqlite_safe(version: str = SQLITE_VERSION) -> bool:
    """Whether that SQLite is recent enough for an index that several programs use."""
    return _to_numbers(version) >= _to_numbers(MIN_SQLITE_VERSION)


def find_schema_version(directory: Path) -> int | None:
    """The version of the tables of the index in `directory`; None if it cannot be read."""
    path = directory / INDEX_NAME
    if not path.is_file():
        return None
    try:
        with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
            return int(connection.execute("PRAGMA user_version").get)
    except (apsw.Error, UnicodeError):
        return None


def _to_numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))
