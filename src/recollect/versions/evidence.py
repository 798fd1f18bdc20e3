"""Records of a session about files: changes, sightings, windows, and possible other causes.

Pure data, in chronological order. `session_evidence` collects it, `replay` makes versions from it.
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
    """One line, shortened and without definite secrets, as `name_prompt` returns it."""
    uuid: str | None = None
    call_id: str | None = None
    tool: str | None = None
    model: str | None = None
    time: str | None = None


class CauseKind(StrEnum):
    """Causes of changes other than tools that edit files."""

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
    """A possible change of any file, or of `path` if it is set."""

    kind: CauseKind
    origin: Origin
    detail: str = ""
    path: str | None = None


class Change(Struct, frozen=True, kw_only=True):
    """A call that changed a file.

    `before` and `after` are whole texts from the record; if both are missing, only `steps` and
    `hunks` are known. Without a result, the call is only the model's request.
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
    """The user changed the edit before accepting it."""
    cell: str | None = None
    """The new source of a notebook's cell."""


class SightingKind(StrEnum):
    """The kind of record that contains the whole content of an unchanged file."""

    READ = "read"
    BACKUP = "backup"
    FIRST_BACKUP = "first backup"
    """Copied before the first change of a session; 2.0.x sometimes copies it after that change."""


class BackupName(NamedTuple):
    """A backup; sessions may have backups with the same name and different content."""

    session_id: str
    name: str
    time: str | None = None
    """The recorded time of the backup."""


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
    """A commit made by a command of a session, as printed."""

    sha: str
    turn: int | None = None
    uuid: str | None = None
    time: str | None = None


class CallReference(Struct, frozen=True, kw_only=True):
    """A successful call about a file: the records of the call and of its result."""

    path: str
    origin: Origin
    spans: tuple[Span, ...]


class BackupReference(Struct, frozen=True, kw_only=True):
    """A recorded backup."""

    path: str
    origin: Origin
    kind: SightingKind
    name: str
    time: str | None = None
    """When it was made."""


FileEvidence = Change | Sighting | Window
Evidence = FileEvidence | Rename | Cause
Reference = CallReference | BackupReference
