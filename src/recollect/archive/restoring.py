"""Writing archived files back to disk: bytes, permissions and times, and never over another file.

Names are checked before anything is written, and no directory on the way may be a link. Those of
our own manifests may be any that a disk can hold; those that come from others must be plain names
in a place where Claude Code keeps such files.
"""

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import IO, BinaryIO, Final, NamedTuple, Protocol

from recollect.archive.claude_files import describe_place
from recollect.archive.manifests import decode_path
from recollect.atomic_files import make_directories, open_atomic
from recollect.errors import OutputFailure, UnreadableInput, UsageError
from recollect.locations.project_names import is_plain_name
from recollect.sources.safe_files import Refused, describe_error, find_directory, find_status
from recollect.sources.source import is_key_name

MAX_DEPTH: Final = 12
MAX_PATH: Final = 1024
_NOT_NAMES: Final = frozenset({"", ".", ".."})
_SEPARATORS: Final = frozenset({"/", "\0", os.sep})
_MODE: Final = re.compile("[0-7]{1,4}")
_PERMISSIONS: Final = 0o777


class RestorableFile(Protocol):
    """What has to be known of a file to write it."""

    @property
    def path(self) -> str:
        """Its path in a manifest."""

    @property
    def size(self) -> int:
        """Its length in bytes."""

    @property
    def mtime_ns(self) -> int:
        """When it was last modified."""

    @property
    def mode(self) -> str:
        """Permissions in octal."""


class Outcome(StrEnum):
    """What became of a file."""

    RESTORED = "restored"
    PRESENT = "present"
    """The same bytes are there already."""
    CONFLICT = "conflict"
    """Another file has its name, which is left alone."""


class Target(NamedTuple):
    """A file, and where it is to be written."""

    parts: tuple[str, ...]
    path: Path
    outcome: Outcome


def parse_archived(path: str) -> tuple[str, ...]:
    """Return the names of a path in our own manifest: odd ones are restored as they were."""
    parts = decode_path(path)
    if any(part in _NOT_NAMES or not _SEPARATORS.isdisjoint(part) for part in parts):
        raise UnreadableInput(f"{path!r} does not stay in the directory that is restored into.")
    return parts


def parse_foreign(path: str) -> tuple[str, ...]:
    """Return the names of a path that others wrote; raise UnreadableInput if one is odd."""
    parts = decode_path(path)
    is_plain = all(is_plain_name(part) and not is_key_name(part) for part in parts)
    is_short = len(parts) <= MAX_DEPTH and len(path) <= MAX_PATH
    if not (is_plain and is_short) or describe_place(parts) is None:
        raise UnreadableInput(f"{path!r} is not the path of a file that Claude Code writes.")
    return parts


def parse_mode(mode: str) -> int:
    """Return permissions, without the bits that make a program run as somebody else."""
    if _MODE.fullmatch(mode) is None:
        raise UnreadableInput(f"{mode!r} is not a file mode.")
    return int(mode, 8) & _PERMISSIONS


def find_target(base: Path, parts: Sequence[str], content: Iterable[bytes]) -> Target:
    """Return where a file is to be written, and whether something is there already."""
    for depth in range(1, len(parts)):
        above = find_directory(base, *parts[:depth])
        if isinstance(above, Refused):
            raise UsageError(f"Not writing below {above}. Choose another directory.")
    path = base.joinpath(*parts)
    status = find_status(path)
    if status is None:
        outcome = Outcome.RESTORED
    elif isinstance(status, Refused) or not stat.S_ISREG(status.st_mode):
        outcome = Outcome.CONFLICT
    else:
        outcome = Outcome.PRESENT if _has_content(path, content) else Outcome.CONFLICT
    return Target(tuple(parts), path, outcome)


def refuse_conflicts(targets: Iterable[Target]) -> None:
    """Raise UsageError if other files are in the way, before anything is written."""
    if taken := [str(each.path) for each in targets if each.outcome is Outcome.CONFLICT]:
        names = "\n  ".join(taken)
        raise UsageError(
            f"Nothing was written, because other files have these names:\n  {names}\n"
            "Move them away, or choose another directory with --to."
        )


def write_new(
    target: Path, content: Iterable[bytes], file: RestorableFile, *, keep_time: bool = True
) -> None:
    """Write a file that does not exist yet; it appears complete, or not at all."""
    mtime_ns = file.mtime_ns if keep_time else None
    with _create(target, mode=parse_mode(file.mode), mtime_ns=mtime_ns) as opened:
        opened.writelines(content)


def write_private(target: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Let `write` fill a file that does not exist yet, for its owner only."""
    with _create(target) as opened:
        write(opened)


@contextmanager
def _create(
    target: Path, *, mode: int | None = None, mtime_ns: int | None = None
) -> Iterator[BinaryIO]:
    try:
        make_directories(target.parent)
        with open_atomic(target, overwrite=False, mode=mode, mtime_ns=mtime_ns) as opened:
            yield opened
    except FileExistsError as error:
        raise UsageError(f"{target} exists already and is left alone.") from error
    except OSError as error:
        raise OutputFailure(f"Cannot write {target}: {describe_error(error)}.") from error


def _has_content(path: Path, content: Iterable[bytes]) -> bool:
    with path.open("rb") as file:
        return all(file.read(len(part)) == part for part in content) and not file.read(1)
