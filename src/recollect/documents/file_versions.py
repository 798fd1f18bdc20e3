"""Documents about files: changes by sessions, versions, lines and commits."""

from typing import Literal

from msgspec import Struct

from recollect.documents.kinds import FileAction
from recollect.documents.turn_documents import Code, Diff


class VersionEntry(Struct, frozen=True, kw_only=True):
    """A version of a file."""

    number: int
    session: str | None
    """The session that created or read it."""
    turn: int | None
    uuid: str | None
    """The record of the change, or of the prompt at which it was found."""
    time: str | None
    known: str
    """`exact`, `replayed`, `inferred` or `partial`."""
    kind: str
    """`write`, `edit`, `seen`, `outside` or `deleted`."""
    added: int
    removed: int
    path: str
    tool: str | None = None
    agent: str | None = None
    """The subagent that made it."""
    model: str | None = None
    prompt: str = ""
    causes: tuple[str, ...] = ()
    """Possible causes of an outside change, most likely first."""


class FileDocument(Struct, frozen=True, kw_only=True):
    """The document of `recollect file --json`."""

    schema: str
    path: str
    sessions: tuple[str, ...]
    versions: tuple[VersionEntry, ...]


class BlamedLine(Struct, frozen=True, kw_only=True):
    """A line of a file, and who wrote it."""

    line: int
    by: str
    """`claude`, `other` or `unknown`."""
    session: str | None = None
    turn: int | None = None
    uuid: str | None = None
    tool: str | None = None
    model: str | None = None
    time: str | None = None
    prompt: str = ""
    text: str


class BlameDocument(Struct, frozen=True, kw_only=True):
    """The document of `recollect blame --json`."""

    schema: str
    path: str
    lines: tuple[BlamedLine, ...]


class CheckpointFile(Struct, frozen=True, kw_only=True):
    """A file at a checkpoint."""

    path: str
    known: str | None
    """How certain its content is; null if unknown."""
    exists: bool


class CheckpointEntry(Struct, frozen=True, kw_only=True):
    """The state of files at a prompt."""

    number: int
    turn: int
    time: str | None
    prompt: str
    files: tuple[CheckpointFile, ...]


class OpcodeEntry(Struct, frozen=True, kw_only=True):
    """A checkpoint that opcode, a front end for Claude Code, made."""

    id: str
    time: str | None
    description: str
    """Its description, or else the prompt before it."""
    files: int


class CheckpointsDocument(Struct, frozen=True, kw_only=True):
    """The document of `recollect checkpoints --json`."""

    schema: str
    session: str
    checkpoints: tuple[CheckpointEntry, ...]
    opcode: tuple[OpcodeEntry, ...] = ()


class FileChange(Struct, frozen=True, kw_only=True):
    """One call that changed one file."""

    path: str
    action: FileAction
    tool: str
    timestamp: str | None
    lines_added: int
    lines_removed: int
    session_id: str
    cwd: str | None
    """The working directory of the session."""
    agent_id: str | None = None
    """The subagent that made it."""
    call_id: str
    diff: tuple[Diff | Code, ...] = ()
    """If requested: the changes, or the whole text if the transcript has no patch."""


class FilesDocument(Struct, frozen=True, kw_only=True):
    """All changes in chronological order, and their totals."""

    schema: Literal["recollect.files/2"] = "recollect.files/2"
    files: int
    lines_added: int
    lines_removed: int
    changes: tuple[FileChange, ...]


class CommitEntry(Struct, frozen=True, kw_only=True):
    """A commit that belongs to a session."""

    commit: str
    how: str
    """`printed`, `note`, `trailer`, `content` or `time`, most certain first; the last is a hint."""
    time: str | None
    """When it was committed; null if the repository does not have it."""
    subject: str | None
    turns: tuple[int, ...] = ()
    files: tuple[str, ...] = ()
    """Files in it that are identical to a version of the session."""


class CommitsDocument(Struct, frozen=True, kw_only=True):
    """The document of `recollect commits --json`."""

    schema: str
    session: str
    repository: str
    commits: tuple[CommitEntry, ...]


class PromptLines(Struct, frozen=True, kw_only=True):
    """The lines written by a prompt."""

    session: str
    turn: int | None
    prompt: str
    model: str | None
    time: str | None
    lines: int
    files: tuple[str, ...] = ()


class LinkedSession(Struct, frozen=True, kw_only=True):
    """A session that made a commit, according to its output or to a note."""

    session: str
    how: str
    """`printed`, `note` or `trailer`."""
    turn: int | None = None


class WhyDocument(Struct, frozen=True, kw_only=True):
    """The document of `recollect why --json`."""

    schema: str
    commit: str
    subject: str
    added: int
    """Number of lines that the commit added."""
    other: int
    """Number of added lines that Claude Code did not write."""
    unknown: int
    prompts: tuple[PromptLines, ...]
    sessions: tuple[LinkedSession, ...] = ()


class TreeDocument(Struct, frozen=True, kw_only=True):
    """The document of `recollect blame --stat DIR --json`."""

    schema: str
    path: str
    files: int
    lines: int
    other: int
    unknown: int
    written: int
    """Number of lines that Claude Code ever wrote there."""
    survived: int
    """Number of written lines that are still there."""
    prompts: tuple[PromptLines, ...]
