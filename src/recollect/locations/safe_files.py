"""Looking at directory entries without trusting them: what is refused, and why, as values.

Knows links, special files and permissions; refuses to know what any file means and opens none.
A refusal is a value and not an exception, because one bad entry must not hide its neighbours.

Opening a file that may have been put there to trap the reader.

Knows how to get a descriptor of a regular file and of nothing else; refuses to know the content.
The entry is looked at before it is opened, since opening alone can hang (a pipe) or act (a device),
and again afterwards through the descriptor, since it may have been exchanged in between.
"""

import io
import os
import stat
from collections.abc import Iterator
from enum import StrEnum
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Final, NamedTuple

from recollect.errors import UnreadableInput
from recollect.locations.project_names import is_key_name

# `stat.IO_REPARSE_TAG_MOUNT_POINT`, which Python defines on Windows only.
_JUNCTION_TAG: Final = 0xA0000003


Parts = tuple[str, ...]


class Refusal(StrEnum):
    """Why an entry was left alone."""

    LINK_OUTSIDE = "symbolic link that leads outside the directory being read"
    LINK_BROKEN = "symbolic link that leads nowhere"
    LINK_ELSEWHERE = "symbolic link to something that is not a transcript"
    LINK = "symbolic link in a place where none is followed"
    SPECIAL = "neither a regular file nor a directory"
    UNREADABLE = "cannot be looked at"


class Refused(NamedTuple):
    """An entry that was found and left alone."""

    path: Path
    reason: Refusal
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}" + (f" ({self.detail})" if self.detail else "")


def describe_error(error: OSError | ValueError) -> str:
    """Return what the system said, without the path that the caller names anyway."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def list_directory(directory: str | Path) -> list[os.DirEntry[str]]:
    """Return the entries of a directory by name, none if it is gone; raise OSError otherwise."""
    try:
        with os.scandir(directory) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError):
        # Claude Code cleans up while we read; what is gone is simply not there.
        return []


def find_status(path: str | Path) -> os.stat_result | Refused | None:
    """Return the status of an entry itself, never of a link's target; None if there is none."""
    try:
        return os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return Refused(Path(path), Refusal.UNREADABLE, describe_error(error))


def resolve_links(path: Path) -> Path:
    """Return the real path of something that is there; raise OSError if it is not."""
    # Before Python 3.13 Path.resolve answers a loop of links with a RuntimeError.
    return Path(os.path.realpath(path, strict=True))


def is_directory(path: Path) -> bool:
    """Tell whether a directory is there, through links too; False where we may not look."""
    return os.path.isdir(path)


def is_link(status: os.stat_result) -> bool:
    """Tell whether an entry stands for another: a symbolic link, or a junction on Windows."""
    tag: int = getattr(status, "st_reparse_tag", 0)
    return stat.S_ISLNK(status.st_mode) or tag == _JUNCTION_TAG


def is_link_entry(entry: os.DirEntry[str]) -> bool:
    """Tell the same of a listed entry, which costs a system call on Windows only."""
    return entry.is_symlink() or (os.name == "nt" and is_link(entry.stat(follow_symlinks=False)))


def refusal_of(path: Path, status: os.stat_result) -> Refused | None:
    """Return why an entry that should be a plain file or directory is refused, if it is."""
    if is_link(status):
        return Refused(path, Refusal.LINK)
    if stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode):
        return None
    return Refused(path, Refusal.SPECIAL)


def find_directory(base: Path, *names: str) -> Path | Refused | None:
    """Return the directory below `base` that is reached through real directories only.

    `base` itself is trusted and may be a link; each of `names` must already be a plain name.
    """
    path = base
    for name in names:
        path = path / name
        status = find_status(path)
        if status is None or isinstance(status, Refused):
            return status
        if refused := refusal_of(path, status):
            return refused
    return path


def iter_tree(start: Path) -> Iterator[Parts | Refused]:
    """Yield the path, relative to `start`, of everything below it that is no real directory."""
    pending: list[Parts] = [()]
    while pending:
        above = pending.pop()
        directory = start.joinpath(*above)
        try:
            entries = list_directory(directory)
        except OSError as error:
            yield Refused(directory, Refusal.UNREADABLE, describe_error(error))
            continue
        for entry in entries:
            parts = (*above, entry.name)
            if _is_real_directory(entry):
                pending.append(parts)
            else:
                yield parts


def _is_real_directory(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False) and not is_link_entry(entry)
    except OSError:
        # Some file systems do not tell the type when listing; whoever looks closer will report it.
        return False


# What a system does not have counts as 0: Windows has neither pipes in directories nor O_NOFOLLOW.
_WANTED: Final = (
    "O_NONBLOCK",
    "O_NOFOLLOW",
    "O_CLOEXEC",
    "O_NOCTTY",
    "O_BINARY",
    "O_NOINHERIT",
)
_FLAGS: Final = reduce(or_, (getattr(os, name, 0) for name in _WANTED))


def open_regular(path: Path | str, *, resolve: bool = False) -> io.FileIO:
    """Open a regular file for reading, unbuffered; raise UnreadableInput for anything else.

    `resolve` is for a path that the user gave: there a symbolic link is a wish, not a trap.
    """
    try:
        target = resolve_links(Path(path)) if resolve else path
        # As text where it is text: there are thousands of files, and a path is slow to make.
        _refuse_unless_regular(target, os.lstat(target))
        return open(target, "rb", buffering=0, opener=_open_descriptor)
    except (OSError, ValueError) as error:
        raise UnreadableInput(
            f"Cannot read {path}: {describe_error(error)}. "
            "Check that the file is still there and that you may read it."
        ) from error


def _open_descriptor(path: str, flags: int) -> int:
    descriptor = os.open(path, flags | _FLAGS)
    try:
        _refuse_unless_regular(path, os.fstat(descriptor))
    except UnreadableInput:
        os.close(descriptor)
        raise
    return descriptor


def _refuse_unless_regular(path: Path | str, status: os.stat_result) -> None:
    if is_key_name(str(path)):
        raise UnreadableInput(f"Not reading {path}: it is the secret of a running process.")
    if is_link(status):
        raise UnreadableInput(
            f"Not reading {path}: it is a symbolic link. Name the file that it leads to."
        )
    if not stat.S_ISREG(status.st_mode):
        raise UnreadableInput(
            f"Not reading {path}: it is not a regular file. Give a transcript, a .jsonl file."
        )
