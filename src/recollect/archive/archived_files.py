"""Files of a Claude directory in the archive: which ones are archived, their sessions, and how to
write them back.

Archiving lists every directory once, for any number of sessions. Links and special files are
reported and never followed. Files of unknown kinds in the directory of a session are archived as
well, so that copies stay complete when Claude Code adds a new kind.

Before anything is written back, names are checked, and no directory in the path may be a link. Our
own manifests may contain any names that a file system allows; names from others must be plain names
where Claude Code keeps such files.
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
_TODO_AGENT: Final = f"-{claude_directories.AGENT_PREFIX}"

_KINDS: Final = {
    "tasks": FileKind.TASK,
    "file-history": FileKind.FILE_HISTORY,
    "plans": FileKind.PLAN,
    HISTORY: FileKind.HISTORY,
}

Parts = tuple[str, ...]


class ClaudeFile(NamedTuple):
    """A file to be archived, as listed."""

    file: str
    """The path on disk."""
    path: str
    """The path in a manifest."""
    session: str | None
    """The session; None if the path does not show it."""
    kind: FileKind
    stamp: Stamp


class ClaudeFiles(NamedTuple):
    """The files of a Claude directory by path."""

    found: list[ClaudeFile]
    refused: list[safe_files.Refused]


def list_claude_files(root: Path) -> ClaudeFiles:
    """List the files of a Claude directory to archive."""
    files = ClaudeFiles([], [])
    for parts, entry in _iter_entries(root, files.refused):
        try:
            _take(files, parts, entry)
        except OSError as error:
            files.refused.append(_refuse(entry.path, error))
    files.found.sort(key=lambda each: each.path)
    return files


def _iter_entries(root: Path, refused: list[safe_files.Refused]) -> Iterator[tuple[Parts, Entry]]:
    """Yield all entries but directories, with their paths relative to the root."""
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
        # The file was deleted after the directory was listed: treated as if it had never been
        # listed.
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
    if first.startswith(claude_directories.AGENT_PREFIX):
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
    """A file to restore."""

    @property
    def path(self) -> str:
        """Return the path in a manifest."""

    @property
    def size(self) -> int:
        """Return the size in bytes."""

    @property
    def mtime_ns(self) -> int:
        """Return when the file was last modified."""

    @property
    def mode(self) -> str:
        """Return the permissions in octal."""


class Outcome(StrEnum):
    """The result for a file."""

    RESTORED = "restored"
    PRESENT = "present"
    """A file with the same bytes exists already."""
    CONFLICT = "conflict"
    """A different file has that name; it is left unchanged."""


class Target(NamedTuple):
    """A file, and the path to write it to."""

    parts: tuple[str, ...]
    path: Path
    outcome: Outcome


def parse_archived(path: str) -> tuple[str, ...]:
    """Return the components of a path in our own manifest: unusual names are restored too."""
    parts = decode_path(path)
    if any(part in _NOT_NAMES or not _SEPARATORS.isdisjoint(part) for part in parts):
        raise UnreadableInput(f"{path!r} points outside the target directory.")
    return parts


def parse_foreign(path: str) -> tuple[str, ...]:
    """Return the components of a path from others; raise UnreadableInput for an unusual name."""
    parts = decode_path(path)
    is_plain = all(
        claude_directories.is_plain_name(part) and not is_key_name(part) for part in parts
    )
    is_short = len(parts) <= MAX_DEPTH and len(path) <= MAX_PATH
    if not (is_plain and is_short) or describe_place(parts) is None:
        raise UnreadableInput(f"{path!r} is not the path of a file that Claude Code writes.")
    return parts


def parse_mode(mode: str) -> int:
    """Return permissions without the bits that let a program run as another user."""
    if _MODE.fullmatch(mode) is None:
        raise UnreadableInput(f"{mode!r} is not a file mode.")
    return int(mode, 8) & _PERMISSIONS


def find_target(base: Path, parts: Sequence[str], content: Iterable[bytes]) -> Target:
    """Return the path to write a file to, and whether there is a file already."""
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
    """Raise UsageError if different files already exist, before any file is written."""
    if taken := [str(each.path) for each in targets if each.outcome is Outcome.CONFLICT]:
        names = "\n  ".join(taken)
        raise UsageError(
            f"Nothing was written: these files already exist with different content:\n  {names}\n"
            "Move them, or choose another directory with --to."
        )


def write_new(
    target: Path, content: Iterable[bytes], file: RestorableFile, *, keep_time: bool = True
) -> None:
    """Write a file that does not exist yet; it appears complete or not at all."""
    mtime_ns = file.mtime_ns if keep_time else None
    with _create(target, mode=parse_mode(file.mode), mtime_ns=mtime_ns) as opened:
        opened.writelines(content)


def write_private(target: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Create a file that only its owner can read, with the content that `write` writes."""
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
