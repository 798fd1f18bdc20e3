"""Files of a Claude directory in the archive: which are archived, to which session each belongs,
and how they are written back.

Archiving lists every directory once, however many sessions there are. Links and special files are
reported and never followed. A file of an unknown kind in the directory of a session is archived as
well, so that a copy stays complete when Claude Code invents a new one.

Before anything is written back, names are checked, and no directory on the way may be a link. Names
of our own manifests may be any that a disk can hold; those that come from others must be plain
names in a place where Claude Code keeps such files.
"""

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import IO, BinaryIO, Final, NamedTuple, Protocol

from recollect.archive.manifests import FileKind, decode_path, encode_path
from recollect.atomic_files import make_directories, open_atomic
from recollect.errors import OutputFailure, UnreadableInput, UsageError
from recollect.locations import claude_directories
from recollect.sources import safe_files
from recollect.sources.source import Entry, Stamp, is_key_name

HISTORY: Final = "history.jsonl"
_TREES: Final = (claude_directories.PROJECTS_DIRECTORY, "todos", "tasks", "plans", "file-history")
_AGENT: Final = "agent-"
_TODO_AGENT: Final = "-agent-"

_KINDS: Final = {
    "tasks": FileKind.TASK,
    "file-history": FileKind.FILE_HISTORY,
    "plans": FileKind.PLAN,
    HISTORY: FileKind.HISTORY,
}

Parts = tuple[str, ...]


class ClaudeFile(NamedTuple):
    """A file to be archived, as it was listed."""

    file: str
    """Where it is."""
    path: str
    """Its path in a manifest."""
    session: str | None
    """None if the path does not reveal it."""
    kind: FileKind
    stamp: Stamp


class ClaudeFiles(NamedTuple):
    """What a Claude directory contains, by path."""

    found: list[ClaudeFile]
    refused: list[safe_files.Refused]


def list_claude_files(root: Path) -> ClaudeFiles:
    """List the files of a Claude directory that are archived."""
    files = ClaudeFiles([], [])
    for parts, entry in _iter_entries(root, files.refused):
        try:
            _take(files, parts, entry)
        except OSError as error:
            files.refused.append(_refuse(entry.path, error))
    files.found.sort(key=lambda each: each.path)
    return files


def _iter_entries(root: Path, refused: list[safe_files.Refused]) -> Iterator[tuple[Parts, Entry]]:
    """Yield everything that is not a directory, with its path relative to the root."""
    pending: list[tuple[str, Parts]] = [(str(root), ())]
    while pending:
        directory, above = pending.pop()
        try:
            entries = safe_files.list_directory(directory)
        except OSError as error:
            refused.append(_refuse(directory, error))
            continue
        for entry in entries:
            parts = (*above, entry.name)
            if not above and entry.name not in (*_TREES, HISTORY):
                continue
            if entry.is_dir(follow_symlinks=False) and not safe_files.is_link_entry(entry):
                pending.append((entry.path, parts))
            elif not is_key_name(entry.name):
                yield parts, entry


def _take(files: ClaudeFiles, parts: Parts, entry: Entry) -> None:
    if safe_files.is_link_entry(entry):
        files.refused.append(safe_files.Refused(Path(entry.path), safe_files.Refusal.LINK))
        return
    try:
        status = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        # Deleted since the directory was listed: as if it had been deleted before.
        return
    if not stat.S_ISREG(status.st_mode):
        files.refused.append(safe_files.Refused(Path(entry.path), safe_files.Refusal.SPECIAL))
    elif described := describe_place(parts):
        stamp = status.st_ino, status.st_size, status.st_mtime_ns
        files.found.append(ClaudeFile(entry.path, encode_path(parts), *described, stamp))


def describe_place(parts: Parts) -> tuple[str | None, FileKind] | None:
    """Return the session and the kind of a file from its path; None if it is not archived.

    The paths of plans, flat subagents and typed prompts do not contain a session.
    """
    match parts:
        case ("projects", _, *below) if below:
            return _describe_in_project(below)
        case ("todos", name) if _TODO_AGENT in name:
            return claude_directories.encode_id(name.partition(_TODO_AGENT)[0]), FileKind.TODO
        case ("tasks" | "file-history" as tree, session, _, *_):
            return claude_directories.encode_id(session), _KINDS[tree]
        case ("plans" | "history.jsonl" as tree, *_):
            return None, _KINDS[tree]
    return None


def _describe_in_project(below: Sequence[str]) -> tuple[str | None, FileKind] | None:
    first, *rest = below
    if rest:
        is_agent = claude_directories.SUBAGENTS_DIRECTORY in below[
            :2
        ] and claude_directories.is_transcript_name(rest[-1])
        session = (
            None
            if first == claude_directories.SUBAGENTS_DIRECTORY
            else claude_directories.encode_id(first)
        )
        return session, FileKind.SUBAGENT if is_agent else FileKind.SIDECAR
    if not claude_directories.is_transcript_name(first):
        return None
    if first.startswith(_AGENT):
        return None, FileKind.SUBAGENT
    return claude_directories.encode_id(
        first.removesuffix(claude_directories.TRANSCRIPT_SUFFIX)
    ), FileKind.TRANSCRIPT


def _refuse(path: str, error: OSError) -> safe_files.Refused:
    return safe_files.Refused(
        Path(path), safe_files.Refusal.UNREADABLE, safe_files.describe_error(error)
    )


MAX_DEPTH: Final = 12
MAX_PATH: Final = 1024
_NOT_NAMES: Final = frozenset({"", ".", ".."})
_SEPARATORS: Final = frozenset({"/", "\0", os.sep})
_MODE: Final = re.compile("[0-7]{1,4}")
_PERMISSIONS: Final = 0o777


class RestorableFile(Protocol):
    """What is needed to write a file."""

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
    """What happened to a file."""

    RESTORED = "restored"
    PRESENT = "present"
    """The same bytes are there already."""
    CONFLICT = "conflict"
    """A different file has that name; it is left unchanged."""


class Target(NamedTuple):
    """A file, and where it is to be written."""

    parts: tuple[str, ...]
    path: Path
    outcome: Outcome


def parse_archived(path: str) -> tuple[str, ...]:
    """Return the names of a path in our own manifest: odd ones are restored as they were."""
    parts = decode_path(path)
    if any(part in _NOT_NAMES or not _SEPARATORS.isdisjoint(part) for part in parts):
        raise UnreadableInput(f"{path!r} points outside the target directory.")
    return parts


def parse_foreign(path: str) -> tuple[str, ...]:
    """Return the names of a path that others wrote; raise UnreadableInput if one is odd."""
    parts = decode_path(path)
    is_plain = all(
        claude_directories.is_plain_name(part) and not is_key_name(part) for part in parts
    )
    is_short = len(parts) <= MAX_DEPTH and len(path) <= MAX_PATH
    if not (is_plain and is_short) or describe_place(parts) is None:
        raise UnreadableInput(f"{path!r} is not the path of a file that Claude Code writes.")
    return parts


def parse_mode(mode: str) -> int:
    """Return permissions, without the bits that make a program run as another user."""
    if _MODE.fullmatch(mode) is None:
        raise UnreadableInput(f"{mode!r} is not a file mode.")
    return int(mode, 8) & _PERMISSIONS


def find_target(base: Path, parts: Sequence[str], content: Iterable[bytes]) -> Target:
    """Return where a file is to be written, and whether something is there already."""
    for depth in range(1, len(parts)):
        above = safe_files.find_directory(base, *parts[:depth])
        if isinstance(above, safe_files.Refused):
            raise UsageError(f"Not writing below {above}. Choose another directory.")
    path = base.joinpath(*parts)
    status = safe_files.find_status(path)
    if status is None:
        outcome = Outcome.RESTORED
    elif isinstance(status, safe_files.Refused) or not stat.S_ISREG(status.st_mode):
        outcome = Outcome.CONFLICT
    else:
        outcome = Outcome.PRESENT if _has_content(path, content) else Outcome.CONFLICT
    return Target(tuple(parts), path, outcome)


def refuse_conflicts(targets: Iterable[Target]) -> None:
    """Raise UsageError if different files already exist, before anything is written."""
    if taken := [str(each.path) for each in targets if each.outcome is Outcome.CONFLICT]:
        names = "\n  ".join(taken)
        raise UsageError(
            f"Nothing was written: these files already exist with different content:\n  {names}\n"
            "Move them, or choose another directory with --to."
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
        raise UsageError(f"{target} already exists and was left alone.") from error
    except OSError as error:
        raise OutputFailure(
            f"Cannot write {target}: {safe_files.describe_error(error)}."
        ) from error


def _has_content(path: Path, content: Iterable[bytes]) -> bool:
    with path.open("rb") as file:
        return all(file.read(len(part)) == part for part in content) and not file.read(1)
