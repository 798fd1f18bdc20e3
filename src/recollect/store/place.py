"""Where Recollect keeps its own files, and with which permissions.

Never below a Claude directory. The index holds what transcripts hold, so nobody else may read it.
"""

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from recollect.errors import IndexFailure, NothingFound, UsageError

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
        # What platformdirs answers here; importing it would cost half of a warm answer.
        base = environment.get("XDG_DATA_HOME", "").strip()
        return Path(base or Path.home() / ".local" / "share") / "recollect"
    import platformdirs  # noqa: PLC0415 - not needed everywhere

    return Path(platformdirs.user_data_dir("recollect", appauthor=False))


def make_private_directory(path: Path) -> None:
    """Make `path` a directory that only its owner can enter; those made above it are too."""
    try:
        for directory in reversed([path, *path.parents]):
            if not directory.exists():
                directory.mkdir(mode=0o700, exist_ok=True)
        if not path.is_dir():
            raise NotADirectoryError(20, "it is a file", str(path))
    except OSError as error:
        raise IndexFailure(
            f"Cannot make the data directory {path}: {error.strerror}. "
            f"Set {VARIABLE} to a directory that you can write to."
        ) from error


def refuse_claude_directory(path: Path, claude_directories: Iterable[Path]) -> None:
    """Raise `UsageError` when `path` lies in one of these directories, which are never written."""
    real = Path(os.path.realpath(path))
    for directory in claude_directories:
        if real.is_relative_to(os.path.realpath(directory)):
            raise UsageError(
                f"The data directory {path} lies in {directory}, which belongs to Claude Code and "
                f"is never written to. Set {VARIABLE} to another directory."
            )


def is_on_network(path: Path, mounts: Path | None = None) -> bool:
    """Whether `path` is known to be on a file system that other machines write to as well."""
    try:
        lines = (mounts or MOUNTS).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return False
    real = os.path.realpath(path)
    places = [fields for line in lines if len(fields := line.split(" ")) > 2]  # noqa: PLR2004
    holding = [fields for fields in places if _holds(fields[1], real)]
    kind = max(holding, key=lambda fields: len(fields[1]), default=["", "", ""])[2]
    return kind.startswith(_NETWORK)


def _find_claude_directories(environment: Mapping[str, str]) -> tuple[Path, ...]:
    from recollect.locations import resolve_roots  # noqa: PLC0415 - half of what a status line costs

    try:
        return resolve_roots(environment=environment)
    except NothingFound:
        return ()


def _holds(mount_point: str, path: str) -> bool:
    place = mount_point.replace("\\040", " ").rstrip("/")
    return path == place or path.startswith(f"{place}/")
