"""Paths as records have them: of either system, absolute or relative, of a project that moved.

Works on text only: a recorded path is of the machine that wrote it and says nothing about this one.
"""

from __future__ import annotations

import ntpath
import posixpath
import re
from typing import Final

from msgspec import Struct

_DRIVE: Final = re.compile(r"[A-Za-z]:[\\/]|\\\\")


def normalize_path(path: str, directory: str | None = None) -> str:
    """Return a path in one spelling, with `/`; a relative one is in `directory`."""
    is_windows = bool(_DRIVE.match(path)) or ("\\" in path and not path.startswith("/"))
    if is_windows or (directory and _DRIVE.match(directory) and not path.startswith("/")):
        joined = ntpath.join(directory, path) if directory else path
        return ntpath.normpath(joined).replace("\\", "/")
    joined = posixpath.join(directory, path) if directory else path
    return posixpath.normpath(joined) if joined else ""


def last_component(path: str) -> str:
    """Return the name of the file."""
    return re.split(r"[\\/]", path)[-1]


def relative_to(path: str, directory: str) -> str | None:
    """Return what follows `directory` in a normalized path; None if it is not inside."""
    base = directory.rstrip("/") + "/"
    return path[len(base) :] if path.startswith(base) else None


class PathAliases(Struct, frozen=True):
    """The names under which records know a file.

    `roots` are the project's directory in all spellings, `moved_from` its earlier places, and
    `worktrees` its other work trees. A file in a worktree is a file of its own, while one in an
    earlier place is the same.
    """

    paths: tuple[str, ...]
    """The file in all spellings, the real path first."""
    roots: tuple[str, ...] = ()
    moved_from: tuple[str, ...] = ()
    worktrees: tuple[str, ...] = ()
    ignores_case: bool = False
    is_repository: bool = False
    """Whether the project's directory is known, and not just the one that the file is in."""

    @property
    def path(self) -> str:
        """The real path."""
        return self.paths[0]

    def find_stream(self, recorded: str) -> str | None:
        """Return the file that a recorded path is about: this one, one in a worktree, or None."""
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
