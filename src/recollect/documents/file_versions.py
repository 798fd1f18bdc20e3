"""Versions of a file, the authors of its lines, and the checkpoints of a session."""

from msgspec import Struct


class VersionEntry(Struct, frozen=True, kw_only=True):
    """A version of a file."""

    number: int
    session: str | None
    """The session in which it was made or seen."""
    turn: int | None
    uuid: str | None
    """The record of the change, or of the prompt at which it was seen."""
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
    """What may have changed the file from outside, most likely first."""


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
    """How well its content is known; null if it is not."""
    exists: bool


class CheckpointEntry(Struct, frozen=True, kw_only=True):
    """The state of files at a prompt."""

    number: int
    turn: int
    time: str | None
    prompt: str
    files: tuple[CheckpointFile, ...]


class CheckpointsDocument(Struct, frozen=True, kw_only=True):
    """The document of `recollect checkpoints --json`."""

    schema: str
    session: str
    checkpoints: tuple[CheckpointEntry, ...]
