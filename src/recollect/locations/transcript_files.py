"""A transcript file before it has been read: its location, its ids and its state on disk.

Knows the four layouts of subagents, but not the content. The session of a subagent outside a
session's directory is only recorded inside the file, so its `session_id` is None here, never a
guess.
"""

import os
from enum import StrEnum
from pathlib import Path
from typing import Final, NamedTuple

from recollect.locations import claude_directories

_NAMELESS: Final = "%00"
"""Id of a session whose file is called `.jsonl`; no other name can contain this character."""


class TranscriptKind(StrEnum):
    """Kinds of transcripts."""

    SESSION = "session"
    SUBAGENT = "subagent"
    WORKFLOW_AGENT = "workflow-agent"


class Transcript(NamedTuple):
    """One transcript as it was found; size and times are those of that moment.

    `file` is the real path; `project_dir` is where it was found. An id is None if the layout does
    not have it. `device` and `inode` are 0 if listing a directory does not provide them (Windows).
    """

    file: str
    """Its path as a string: making a `Path` costs more than everything else in finding a file."""
    project_dir: Path
    project: str
    """The name of that directory, as it may be printed."""
    kind: TranscriptKind
    session_id: str | None
    agent_id: str | None
    run_id: str | None
    size: int
    mtime_ns: int
    device: int
    inode: int
    name: str
    """Its id: the session's own, or the name of a subagent's file."""
    root: Path | None
    """The Claude directory that it was found below; None if it is elsewhere."""

    @property
    def path(self) -> Path:
        """The path of the file."""
        return Path(self.file)

    @property
    def stamp(self) -> tuple[int, int, int]:
        """Inode, size and modification time, to detect changes."""
        return self.inode, self.size, self.mtime_ns

    @property
    def is_empty(self) -> bool:
        """Whether it is the empty file that 2.0.x leaves behind at each resume."""
        return self.size == 0


class TranscriptLocation(NamedTuple):
    """A directory, and the facts about transcripts in it that follow from its path."""

    prefix: str
    """The start of their paths: the directory and a separator."""
    project_dir: Path
    project: str
    kind: TranscriptKind = TranscriptKind.SESSION
    session_id: str | None = None
    run_id: str | None = None
    root: Path | None = None

    def describe(self, name: str, status: os.stat_result, real: Path | None = None) -> Transcript:
        """Return the transcript called `name` in this directory, which may be a link to `real`."""
        stem = name.removesuffix(claude_directories.TRANSCRIPT_SUFFIX)
        agent = stem.removeprefix(claude_directories.AGENT_PREFIX)
        kind, session_id, agent_id = self.kind, self.session_id, None
        if kind is not TranscriptKind.SESSION:
            agent_id = claude_directories.encode_id(agent) or None
        elif agent != stem:
            kind, agent_id = TranscriptKind.SUBAGENT, claude_directories.encode_id(agent) or None
        else:
            session_id = claude_directories.encode_id(stem) or _NAMELESS
        own_name = session_id if kind is TranscriptKind.SESSION else None
        return Transcript(
            str(real) if real else self.prefix + name,
            self.project_dir,
            self.project,
            kind,
            session_id,
            agent_id,
            self.run_id,
            status.st_size,
            status.st_mtime_ns,
            status.st_dev,
            status.st_ino,
            own_name or _name_file(real.name if real else name),
            self.root,
        )


def _name_file(name: str) -> str:
    return claude_directories.encode_id(name.removesuffix(claude_directories.TRANSCRIPT_SUFFIX))


def project_location(directory: Path) -> TranscriptLocation:
    """Return the location `projects/<project>`: sessions, and the flat subagents of 2.0.x."""
    return _make_location(directory, directory)


def subagents_location(directory: Path) -> TranscriptLocation:
    """Return the location `<session>/subagents`, flat at any depth of nesting."""
    session_dir = directory.parent
    session_id = claude_directories.encode_id(session_dir.name) or None
    return _make_location(directory, session_dir.parent, TranscriptKind.SUBAGENT, session_id)


def shared_subagents_location(directory: Path) -> TranscriptLocation:
    """Return the location `projects/<project>/subagents`: subagents of all of its sessions."""
    return _make_location(directory, directory.parent, TranscriptKind.SUBAGENT)


def run_location(directory: Path) -> TranscriptLocation:
    """Return the location `<session>/subagents/workflows/<run>`."""
    session_dir = directory.parent.parent.parent
    return _make_location(
        directory,
        session_dir.parent,
        TranscriptKind.WORKFLOW_AGENT,
        claude_directories.encode_id(session_dir.name) or None,
        claude_directories.encode_id(directory.name),
    )


def guess_place(directory: Path) -> TranscriptLocation:
    """Guess the location of a directory outside any root from the names above it."""
    if directory.name == claude_directories.SUBAGENTS_DIRECTORY:
        is_shared = directory.parent.parent.name == claude_directories.PROJECTS_DIRECTORY
        return shared_subagents_location(directory) if is_shared else subagents_location(directory)
    if (directory.parent.parent.name, directory.parent.name) == (
        claude_directories.SUBAGENTS_DIRECTORY,
        "workflows",
    ):
        return run_location(directory)
    return project_location(directory)


def _make_location(
    directory: Path,
    project_dir: Path,
    kind: TranscriptKind = TranscriptKind.SESSION,
    session_id: str | None = None,
    run_id: str | None = None,
) -> TranscriptLocation:
    prefix, project = os.path.join(directory, ""), claude_directories.encode_name(project_dir.name)
    projects = project_dir.parent
    is_below_root = projects.name == claude_directories.PROJECTS_DIRECTORY
    root = projects.parent if is_below_root else None
    return TranscriptLocation(prefix, project_dir, project, kind, session_id, run_id, root)
