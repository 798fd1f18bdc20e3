"""Paths as recorded (of any system, absolute or relative, of a project that has moved), and the
requested file: its spellings, its repository, and the worktrees of that repository.

Recorded paths are text: they belong to the machine that wrote them, and may not exist on this one.

Only the requested file and its repository are accessed, never a Claude directory, and no program is
run.
"""

from __future__ import annotations

import ntpath
import os
import posixpath
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from msgspec import Struct

from recollect.errors import UnreadableInput
from recollect.sources.safe_files import find_status, list_readable

_DRIVE: Final = re.compile(r"[A-Za-z]:[\\/]|\\\\")


def normalize_path(path: str, directory: str | None = None) -> str:
    """Return a path in a normalized spelling, with `/`; a relative one is in `directory`."""
    is_windows = bool(_DRIVE.match(path)) or ("\\" in path and not path.startswith("/"))
    if is_windows or (directory and _DRIVE.match(directory) and not path.startswith("/")):
        joined = ntpath.join(directory, path) if directory else path
        return ntpath.normpath(joined).replace("\\", "/")
    joined = posixpath.join(directory, path) if directory else path
    return posixpath.normpath(joined) if joined else ""


def last_component(path: str) -> str:
    """Return the last component of a path."""
    return re.split(r"[\\/]", path)[-1]


def relative_to(path: str, directory: str) -> str | None:
    """Return the path relative to `directory`, for a normalized path; None if it is not inside."""
    base = directory.rstrip("/") + "/"
    return path[len(base) :] if path.startswith(base) else None


class PathAliases(Struct, frozen=True):
    """The names of a file in records.

    `roots` are all spellings of the project's directory, `moved_from` its earlier locations, and
    `worktrees` its other worktrees. A file in a worktree is a separate file, while one at an
    earlier location is the same file.
    """

    paths: tuple[str, ...]
    """The paths of the file in all spellings, the real path first."""
    roots: tuple[str, ...] = ()
    moved_from: tuple[str, ...] = ()
    worktrees: tuple[str, ...] = ()
    ignores_case: bool = False
    is_repository: bool = False
    """Whether the project's directory is known, not only the parent directory of the file."""

    @property
    def path(self) -> str:
        """Return the real path."""
        return self.paths[0]

    def find_stream(self, recorded: str) -> str | None:
        """Return the file of a recorded path: this one, its copy in a worktree, or None."""
        if any(self._is_same(recorded, path) for path in self.paths):
            return self.path
        for directory in self.moved_from:
            if self._is_counterpart(recorded, directory):
                return self.path
        for directory in self.worktrees:
            if self._is_counterpart(recorded, directory):
                return recorded
        return None

    def _is_counterpart(self, recorded: str, directory: str) -> bool:
        inside = relative_to(recorded, directory)
        return inside is not None and any(
            self._is_same(f"{root.rstrip('/')}/{inside}", path)
            for root in self.roots
            for path in self.paths
        )

    def _is_same(self, one: str, other: str) -> bool:
        return one == other or (self.ignores_case and one.casefold() == other.casefold())


_MAX_POINTER: Final = 4096
_MAX_TRACKED: Final = 4 << 20


def describe_target(path: Path, moved_from: Iterable[Path] = ()) -> PathAliases:
    """Return the names of the file at `path`, which may no longer exist."""
    # Not resolved: records have the directory as it was spelled when Claude Code started.
    given = normalize_path(str(path.absolute()))
    real = normalize_path(os.path.realpath(path))
    root = find_project_root(Path(real))
    roots: tuple[str, ...] = (normalize_path(str(root)),)
    if given != real:
        roots = (*roots, normalize_path(str(find_project_root(Path(given)))))
    return PathAliases(
        paths=tuple(dict.fromkeys((real, given))),
        roots=tuple(dict.fromkeys(roots)),
        moved_from=tuple(normalize_path(str(each.absolute())) for each in moved_from),
        worktrees=tuple(each for each in _list_worktrees(root) if each not in roots),
        ignores_case=_ignores_case(Path(real)),
        is_repository=has_repository(root),
    )


def find_project_root(path: Path) -> Path:
    """Return the root of the git repository around `path`, or else its parent directory."""
    for directory in path.parents:
        if (directory / ".git").exists():
            return directory
    return path.parent


def has_repository(directory: Path) -> bool:
    """Return whether a directory is the root of a git worktree."""
    return (directory / ".git").exists()


def read_present(path: Path) -> bytes | None:
    """Return the current content of a file; None if it does not exist."""
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise UnreadableInput(f"Cannot read {path}: {error.strerror or error}.") from error


def find_modified(path: Path) -> datetime | None:
    """Return when a file was last changed; None if it does not exist."""
    status = find_status(path)
    if not isinstance(status, os.stat_result):
        return None
    return datetime.fromtimestamp(status.st_mtime, UTC)


def read_tracked(path: Path) -> bytes | None:
    """Return the content of a file in a repository; None if missing, a link, or very large."""
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > _MAX_TRACKED:
            return None
        return read_present(path)
    except (OSError, UnreadableInput):
        return None


def is_directory(path: Path) -> bool:
    """Return whether a directory exists."""
    return path.is_dir()


def is_own(directory: Path) -> bool:
    """Return whether a directory belongs to the current user, as far as can be determined."""
    return os.name == "nt" or directory.stat().st_uid == os.getuid()


def _list_worktrees(root: Path) -> tuple[str, ...]:
    """Return the worktrees of a repository, including the main one."""
    main = root
    pointer = _read_text(root / ".git")
    if pointer.startswith("gitdir:"):
        git_dir = Path(root, pointer.partition(":")[2].strip())
        if git_dir.parent.name == "worktrees":
            main = git_dir.parent.parent.parent
    found = [str(main)]
    for entry in list_readable(main / ".git" / "worktrees"):
        named = _read_text(Path(entry.path, "gitdir")).strip()
        if named:
            found.append(str(Path(named).parent))
    return tuple(normalize_path(each) for each in found)


def _read_text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_MAX_POINTER).decode("utf-8", "replace")
    except OSError:
        return ""


def _ignores_case(path: Path) -> bool:
    """Return whether the file can also be opened with another spelling."""
    try:
        return path.parent.joinpath(path.name.swapcase()).samefile(path)
    except OSError:
        return os.name == "nt"
