"""Which transcripts belong to a work directory.

Knows the names that a path may have below `projects/`, and that several paths share one name;
refuses to read records: the caller's `cwd_of` tells the work directory that a transcript records.
Names alone decide too little (collisions, hashes that differ between builds, directories renamed
by the user), and so do records (some transcripts have no work directory in them).
"""

import os
from collections.abc import Callable, Iterable
from itertools import groupby
from pathlib import Path, PureWindowsPath
from typing import NamedTuple

from recollect.locations.discovery import discover_root
from recollect.locations.names import (
    PROJECT_NAME_LIMIT,
    encode_project_path,
    encode_without_limit,
)
from recollect.locations.transcript_files import Transcript

CwdOf = Callable[[Path], str | None]


class WorkDirectory(NamedTuple):
    """A work directory under every spelling that Claude Code may have recorded."""

    spellings: tuple[str, ...]

    def is_named(self, directory_name: str) -> bool:
        """Tell whether a project directory has a name that is certainly made from this path."""
        return any(
            directory_name in (encode_project_path(path), encode_without_limit(path))
            for path in self.spellings
        )

    def may_be_named(self, directory_name: str) -> bool:
        """Tell whether the name fits but for its hash, which some builds computed otherwise."""
        return any(
            len(name) > PROJECT_NAME_LIMIT
            and directory_name.startswith(f"{name[:PROJECT_NAME_LIMIT]}-")
            for name in map(encode_without_limit, self.spellings)
        )

    def is_at(self, recorded: str) -> bool:
        """Tell whether a recorded path is this directory."""
        return any(_is_same_path(path, recorded) for path in self.spellings)

    def collides_with(self, recorded: str) -> bool:
        """Tell whether a recorded path is another directory that has to share this one's name."""
        return not self.is_at(recorded) and any(
            _short_name(path) == _short_name(recorded) for path in self.spellings
        )


def work_directory(cwd: str) -> WorkDirectory:
    """Return a work directory as given and, where this system can tell, without its links."""
    trimmed = cwd.rstrip("/\\") or cwd
    # A path of another system is relative to this one and must not be mixed with our own cwd.
    real = os.path.realpath(trimmed) if Path(trimmed).is_absolute() else trimmed
    return WorkDirectory(tuple(dict.fromkeys((real, trimmed))))


def select_transcripts(
    transcripts: Iterable[Transcript], cwd: str, cwd_of: CwdOf
) -> tuple[Transcript, ...]:
    """Return those transcripts that belong to a work directory, in their order by directory.

    In a directory of the right name a transcript is dropped only if it records a different path
    that shares the name: one without a path, or from a subdirectory or a place since moved, stays.
    In any other directory it has to record the very path.
    """
    wanted = work_directory(cwd)
    by_directory = groupby(
        sorted(transcripts, key=lambda found: found.project_dir), lambda found: found.project_dir
    )
    return tuple(
        transcript
        for directory, group in by_directory
        for transcript in _select_in(directory.name, tuple(group), wanted, cwd_of)
    )


def find_project_directories(root: Path, cwd: str, cwd_of: CwdOf) -> tuple[Path, ...]:
    """Return the directories below `projects/` that hold transcripts of a work directory."""
    selected = select_transcripts(discover_root(root).transcripts, cwd, cwd_of)
    return tuple(dict.fromkeys(transcript.project_dir for transcript in selected))


def _select_in(
    name: str, transcripts: tuple[Transcript, ...], wanted: WorkDirectory, cwd_of: CwdOf
) -> Iterable[Transcript]:
    recorded = [(transcript, cwd_of(transcript.path)) for transcript in transcripts]
    exact = [transcript for transcript, cwd in recorded if cwd is not None and wanted.is_at(cwd)]
    if wanted.is_named(name) or (exact and wanted.may_be_named(name)):
        return [
            transcript
            for transcript, cwd in recorded
            if cwd is None or not wanted.collides_with(cwd)
        ]
    return exact


def _short_name(path: str) -> str:
    # Without the hash: two long paths with one beginning may have met under one name as well.
    return encode_without_limit(path)[:PROJECT_NAME_LIMIT]


def _is_same_path(one: str, other: str) -> bool:
    if one == other:
        return True
    windows = (PureWindowsPath(one), PureWindowsPath(other))
    # Windows ignores case and takes either slash; editors hand over `c:` where a shell says `C:`.
    return all(path.drive for path in windows) and windows[0] == windows[1]
