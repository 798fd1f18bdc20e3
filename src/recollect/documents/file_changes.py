"""What sessions changed in files, as `recollect files --json` prints it."""

from typing import Literal

from msgspec import Struct

from recollect.documents.kinds import FileAction
from recollect.documents.turns import Code, Diff


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
    """The work directory of the session."""
    agent_id: str | None = None
    """The subagent that made it."""
    call_id: str
    diff: tuple[Diff | Code, ...] = ()
    """If requested: the changes, or the whole text if the transcript has no patch."""


class FilesDocument(Struct, frozen=True, kw_only=True):
    """All changes, in the order of time, and their totals."""

    schema: Literal["recollect.files/2"] = "recollect.files/2"
    files: int
    lines_added: int
    lines_removed: int
    changes: tuple[FileChange, ...]
