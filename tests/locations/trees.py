"""Build small directory trees, and the values expected from reading them."""

import os
from pathlib import Path

import pytest

from recollect.locations.claude_directories import encode_id, encode_name
from recollect.locations.transcript_files import Transcript, TranscriptKind

needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
needs_permissions = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0,
    reason="permissions do not stop this user",
)


def write(path: Path, content: bytes = b"{}\n") -> Path:
    """Write a file together with the directories above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def link(path: Path, target: Path | str) -> Path:
    """Make a symbolic link and its parent directories."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)
    return path


def transcript(
    path: Path,
    session_id: str | None = None,
    *,
    project_dir: Path | None = None,
    agent_id: str | None = None,
    run_id: str | None = None,
) -> Transcript:
    """Return the value for an existing file: given ids, the rest from the file system."""
    kind = TranscriptKind.SESSION if agent_id is None else TranscriptKind.SUBAGENT
    status = path.stat()
    return Transcript(
        file=str(path),
        project_dir=project_dir or path.parent,
        project=encode_name((project_dir or path.parent).name),
        kind=kind if run_id is None else TranscriptKind.WORKFLOW_AGENT,
        session_id=session_id,
        agent_id=agent_id,
        run_id=run_id,
        size=status.st_size,
        mtime_ns=status.st_mtime_ns,
        device=status.st_dev,
        inode=status.st_ino,
        name=(None if agent_id else session_id) or encode_id(path.name.removesuffix(".jsonl")),
        root=_find_root(project_dir or path.parent),
    )


def _find_root(project_dir: Path) -> Path | None:
    projects = project_dir.parent
    return projects.parent if projects.name == "projects" else None
