"""Find the files that belong to a session but are not transcripts, and those that belong to a root.

Knows where each kind is; never reads one, follows a link to one, or lists a `.key` file, which is
the secret of a running process. An id or slug from a record becomes part of a path only if it is a
plain name. An unknown file in a session's directory is listed as `OTHER`, so that a copy of a
session stays complete when Claude Code adds a new kind.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Final, NamedTuple

from recollect.locations import claude_directories
from recollect.locations.transcript_files import Transcript
from recollect.sources.safe_files import (
    Parts,
    Refused,
    find_directory,
    find_file,
    iter_tree,
    list_readable,
)


class SidecarKind(StrEnum):
    """Kinds of sidecars."""

    SUBAGENT_META = "subagent-meta"
    TOOL_RESULT = "tool-result"
    WORKFLOW_SNAPSHOT = "workflow-snapshot"
    WORKFLOW_SCRIPT = "workflow-script"
    WORKFLOW_JOURNAL = "workflow-journal"
    SESSION_MEMORY = "session-memory"
    ARCHIVED = "archived"
    REMOTE_AGENT = "remote-agent"
    MCP_TASK = "mcp-task"
    TODO = "todo"
    TASK = "task"
    PLAN = "plan"
    FILE_HISTORY = "file-history"
    OTHER = "other"


class Sidecar(NamedTuple):
    """One file beside the transcripts."""

    kind: SidecarKind
    path: Path


class Sidecars(NamedTuple):
    """What was found, each list sorted by path."""

    found: tuple[Sidecar, ...]
    refused: tuple[Refused, ...]


Classify = Callable[[Parts], SidecarKind | None]

_KIND_BY_DIRECTORY: Final[Mapping[str, SidecarKind]] = {
    "tool-results": SidecarKind.TOOL_RESULT,
    "session-memory": SidecarKind.SESSION_MEMORY,
    "remote-agents": SidecarKind.REMOTE_AGENT,
    "mcp-tasks": SidecarKind.MCP_TASK,
}


def list_session_sidecars(transcript: Transcript, *, slug: str | None = None) -> Sidecars:
    """List the sidecars of a session; its `slug`, if known, names its plan.

    For a subagent, those of its parent session.
    """
    return _sort_out(_iter_session_sidecars(transcript, slug))


def find_history(root: Path) -> Path | None:
    """Return the file with all prompts typed by the user, if there is one."""
    return _find_regular(root / "history.jsonl")


def list_process_files(root: Path) -> tuple[Path, ...]:
    """Return the files that running clients keep, sorted by name."""
    directory = find_directory(root, "sessions")
    if not isinstance(directory, Path):
        return ()
    names = (entry.name for entry in list_readable(directory) if entry.name.endswith(".json"))
    return tuple(path for name in names if (path := _find_regular(directory / name)))


def find_subagent_meta(transcript: Transcript) -> Path | None:
    """Return the `.meta.json` beside the transcript of a subagent, if there is one."""
    path = transcript.path
    return _find_regular(
        path.with_name(f"{path.name.removesuffix(claude_directories.TRANSCRIPT_SUFFIX)}.meta.json")
    )


def resolve_tool_result(transcript: Transcript, recorded_path: str) -> Path | None:
    """Return the file of an output that was too large for the transcript; None if there is none.

    The recorded path is absolute and of the machine that wrote it, so only `tool-results/<name>`
    counts, below the session's own directory or, for a subagent, that of its parent session.
    """
    name, parts = _find_directory_name(transcript), re.split(r"[\\/]", recorded_path)
    if name is None or ".." in parts or parts[-2:-1] != ["tool-results"]:
        return None
    if not claude_directories.is_plain_name(parts[-1]):
        return None
    directory = find_directory(transcript.project_dir, name, "tool-results")
    return _find_regular(directory / parts[-1]) if isinstance(directory, Path) else None


def _iter_session_sidecars(transcript: Transcript, slug: str | None) -> Iterator[Sidecar | Refused]:
    name, root = _find_directory_name(transcript), transcript.root
    if name is None:
        return
    yield from _collect(transcript.project_dir, (name,), _classify_in_session)
    if root is None:
        return
    yield from _collect(root, ("todos",), _todo_of(name))
    yield from _collect(root, ("tasks", name), _json_as(SidecarKind.TASK))
    yield from _collect(root, ("file-history", name), lambda _: SidecarKind.FILE_HISTORY)
    if slug is not None and claude_directories.is_plain_name(slug):
        yield from _collect_one(root, ("plans",), f"{slug}.md", SidecarKind.PLAN)


def _find_directory_name(transcript: Transcript) -> str | None:
    """Return the name of a session's directories; None if it cannot be part of a path."""
    name = (
        None
        if transcript.session_id is None
        else claude_directories.decode_id(transcript.session_id)
    )
    return name if name is not None and claude_directories.is_plain_name(name) else None


def _classify_in_session(parts: Parts) -> SidecarKind | None:
    match parts:
        case ("subagents", *_):
            return _classify_in_subagents(parts)
        case ("workflows", "scripts", _, *_):
            return SidecarKind.WORKFLOW_SCRIPT
        case ("workflows", name) if name.endswith(".json"):
            return SidecarKind.WORKFLOW_SNAPSHOT
        case ("archived.json",):
            return SidecarKind.ARCHIVED
        case (directory, _, *_):
            return _KIND_BY_DIRECTORY.get(directory, SidecarKind.OTHER)
    return SidecarKind.OTHER


def _classify_in_subagents(parts: Parts) -> SidecarKind | None:
    match parts:
        case (_, name) | (_, "workflows", _, name) if claude_directories.is_transcript_name(name):
            return None
        case (_, "workflows", _, "journal.jsonl"):
            return SidecarKind.WORKFLOW_JOURNAL
        case (*_, name) if name.endswith(".meta.json"):
            return SidecarKind.SUBAGENT_META
    return SidecarKind.OTHER


def _todo_of(session_id: str) -> Classify:
    def classify(parts: Parts) -> SidecarKind | None:
        is_ours = parts[0].startswith(f"{session_id}-agent-") and parts[0].endswith(".json")
        return SidecarKind.TODO if is_ours and len(parts) == 1 else None

    return classify


def _json_as(kind: SidecarKind) -> Classify:
    return lambda parts: kind if len(parts) == 1 and parts[0].endswith(".json") else None


def _collect(base: Path, names: Parts, classify: Classify) -> Iterator[Sidecar | Refused]:
    """Yield the files of a tree that `classify` accepts; it gets paths relative to the tree."""
    start = find_directory(base, *names)
    if isinstance(start, Refused):
        yield start
    if not isinstance(start, Path):
        return
    for item in iter_tree(start):
        if isinstance(item, Refused):
            yield item
        elif kind := classify(item):
            yield from _examine(start.joinpath(*item), kind)


def _collect_one(
    base: Path, names: Parts, name: str, kind: SidecarKind
) -> Iterator[Sidecar | Refused]:
    directory = find_directory(base, *names)
    if isinstance(directory, Refused):
        yield directory
    elif directory is not None:
        yield from _examine(directory / name, kind)


def _examine(path: Path, kind: SidecarKind) -> Iterator[Sidecar | Refused]:
    found = find_file(path)
    if found is not None:
        yield found if isinstance(found, Refused) else Sidecar(kind, found)


def _find_regular(path: Path) -> Path | None:
    found = find_file(path)
    return found if isinstance(found, Path) else None


def _sort_out(items: Iterable[Sidecar | Refused]) -> Sidecars:
    ordered = sorted(items, key=lambda item: os.fspath(item.path))
    return Sidecars(
        tuple(item for item in ordered if isinstance(item, Sidecar)),
        tuple(item for item in ordered if isinstance(item, Refused)),
    )
