"""What a session says about files: changes, sightings, windows, and possible other causes.

Pure data, in the order in which it happened. `session_evidence` collects it, `replay` makes
versions of it.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from msgspec import Struct

from recollect.records.envelope import Span
from recollect.records.tools import PatchHunk
from recollect.records.tools.file_tools import EditStep


class Origin(Struct, frozen=True, kw_only=True):
    """Where something is recorded."""

    session_id: str
    agent_id: str | None = None
    turn: int | None = None
    """The number of the turn in the main session, also for a subagent."""
    prompt: str = ""
    """On one line, cut and without definite secrets, as `name_prompt` makes it."""
    uuid: str | None = None
    call_id: str | None = None
    tool: str | None = None
    model: str | None = None
    time: str | None = None


class CauseKind(StrEnum):
    """What may have changed a file besides the tools that edit files."""

    FORMATTER = "formatter"
    GIT = "git"
    SHELL = "shell"
    HOOK = "hook"
    SUBAGENT = "subagent"
    TOOL = "another tool"
    SESSION = "another session"
    NOTICED = "noticed by the client"
    PROMPT = "between prompts"


class Cause(Struct, frozen=True, kw_only=True):
    """Something that may have changed any file; `path` if it names one."""

    kind: CauseKind
    origin: Origin
    detail: str = ""
    path: str | None = None


class Change(Struct, frozen=True, kw_only=True):
    """A call that changed a file.

    `before` and `after` are whole texts that the record has; with neither, `steps` and `hunks` are
    all that is known. Without a result the call is only what the model asked for.
    """

    path: str
    origin: Origin
    before: str | None = None
    after: str | None = None
    is_new: bool = False
    steps: tuple[EditStep, ...] = ()
    hunks: tuple[PatchHunk, ...] = ()
    has_result: bool = True
    is_stale: bool = False
    """The client applied the edit although the file had changed since it was read."""
    is_modified: bool = False
    """A person changed the edit before accepting it."""
    cell: str | None = None
    """The new source of a notebook's cell."""


class SightingKind(StrEnum):
    """Where the whole content of a file is recorded without being changed."""

    READ = "read"
    BACKUP = "backup"
    FIRST_BACKUP = "first backup"
    """Copied before the first change of a session, by 2.0.x sometimes after it."""


class BackupName(NamedTuple):
    """A backup; sessions have backups of the same name with other content."""

    session_id: str
    name: str
    time: str | None = None
    """When it was made, as the record says."""


class Sighting(Struct, frozen=True, kw_only=True):
    """The whole content of a file at some time; `text` is None if the file did not exist."""

    path: str
    origin: Origin
    kind: SightingKind
    text: str | None
    backup: BackupName | None = None


class Window(Struct, frozen=True, kw_only=True):
    """Some lines of a file at some time."""

    path: str
    origin: Origin
    start: int
    lines: tuple[str, ...]
    total: int | None = None


class Rename(Struct, frozen=True, kw_only=True):
    """A command that moved a file to `path`."""

    path: str
    old_path: str
    origin: Origin


class CommitMention(Struct, frozen=True, array_like=True):
    """A commit that a command of a session made, as it was printed."""

    sha: str
    turn: int | None = None
    uuid: str | None = None
    time: str | None = None


class CallReference(Struct, frozen=True, kw_only=True):
    """A successful call about a file, and the records of the call and its result."""

    path: str
    origin: Origin
    spans: tuple[Span, ...]


class BackupReference(Struct, frozen=True, kw_only=True):
    """A backup that a record names."""

    path: str
    origin: Origin
    kind: SightingKind
    name: str
    time: str | None = None
    """When it was made."""


FileEvidence = Change | Sighting | Window
Evidence = FileEvidence | Rename | Cause
Reference = CallReference | BackupReference
