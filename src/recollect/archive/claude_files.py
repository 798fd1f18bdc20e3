"""Which files of a Claude directory are archived, and to which session each belongs.

Lists every directory once, however many sessions there are. Links and special files are reported
and never followed. A file of an unknown kind in the directory of a session is archived as well, so
that a copy stays complete when Claude Code invents a new one.
"""

import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from recollect.archive.manifests import FileKind, encode_path
from recollect.locations import Refusal, Refused
from recollect.locations.project_names import (
    PROJECTS_DIRECTORY,
    SUBAGENTS_DIRECTORY,
    TRANSCRIPT_SUFFIX,
    encode_id,
    is_transcript_name,
)
from recollect.sources.safe_files import describe_error, is_link_entry, list_directory
from recollect.sources.source import Entry, is_key_name
from recollect.sources.stamps import Stamp

HISTORY: Final = "history.jsonl"
_TREES: Final = (PROJECTS_DIRECTORY, "todos", "tasks", "plans", "file-history")
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
    """None if the place of the file does not tell."""
    kind: FileKind
    stamp: Stamp


class ClaudeFiles(NamedTuple):
    """What a Claude directory contains, by path."""

    found: list[ClaudeFile]
    refused: list[Refused]


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


def _iter_entries(root: Path, refused: list[Refused]) -> Iterator[tuple[Parts, Entry]]:
    """Yield everything that is no directory, with its path relative to the root."""
    pending: list[tuple[str, Parts]] = [(str(root), ())]
    while pending:
        directory, above = pending.pop()
        try:
            entries = list_directory(directory)
        except OSError as error:
            refused.append(_refuse(directory, error))
            continue
        for entry in entries:
            parts = (*above, entry.name)
            if not above and entry.name not in (*_TREES, HISTORY):
                continue
            if entry.is_dir(follow_symlinks=False) and not is_link_entry(entry):
                pending.append((entry.path, parts))
            elif not is_key_name(entry.name):
                yield parts, entry


def _take(files: ClaudeFiles, parts: Parts, entry: Entry) -> None:
    if is_link_entry(entry):
        files.refused.append(Refused(Path(entry.path), Refusal.LINK))
        return
    try:
        status = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        # Deleted since the directory was listed: as if it had been deleted before.
        return
    if not stat.S_ISREG(status.st_mode):
        files.refused.append(Refused(Path(entry.path), Refusal.SPECIAL))
    elif described := describe_place(parts):
        stamp = status.st_ino, status.st_size, status.st_mtime_ns
        files.found.append(ClaudeFile(entry.path, encode_path(parts), *described, stamp))


def describe_place(parts: Parts) -> tuple[str | None, FileKind] | None:
    """Return the session and the kind of a file by its place; None if it is not archived.

    The session of a plan, of a flat subagent and of the typed prompts is not in their place.
    """
    match parts:
        case ("projects", _, *below) if below:
            return _describe_in_project(below)
        case ("todos", name) if _TODO_AGENT in name:
            return encode_id(name.partition(_TODO_AGENT)[0]), FileKind.TODO
        case ("tasks" | "file-history" as tree, session, _, *_):
            return encode_id(session), _KINDS[tree]
        case ("plans" | "history.jsonl" as tree, *_):
            return None, _KINDS[tree]
    return None


def _describe_in_project(below: Sequence[str]) -> tuple[str | None, FileKind] | None:
    first, *rest = below
    if rest:
        is_agent = SUBAGENTS_DIRECTORY in below[:2] and is_transcript_name(rest[-1])
        session = None if first == SUBAGENTS_DIRECTORY else encode_id(first)
        return session, FileKind.SUBAGENT if is_agent else FileKind.SIDECAR
    if not is_transcript_name(first):
        return None
    if first.startswith(_AGENT):
        return None, FileKind.SUBAGENT
    return encode_id(first.removesuffix(TRANSCRIPT_SUFFIX)), FileKind.TRANSCRIPT


def _refuse(path: str, error: OSError) -> Refused:
    return Refused(Path(path), Refusal.UNREADABLE, describe_error(error))
