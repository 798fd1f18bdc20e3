"""The lines that reports are made of: what counts, with its circumstances by name.

A report is a pure function of these, wherever they come from. What a report does not ask for is
None in them, and so is what the records do not tell.
"""

from pathlib import PurePath

from msgspec import Struct

from recollect.locations.names import TRANSCRIPT_SUFFIX
from recollect.locations.transcript_files import TranscriptKind
from recollect.usage.totals import Totals


class SourceFile(Struct, frozen=True):
    """A transcript, as far as reports tell files apart."""

    path: str
    project: str
    """Name of the project's directory below `projects/`."""
    session_id: str = ""
    kind: str = TranscriptKind.SESSION.value
    home: str | None = None
    """The work directory that the project is named after."""
    agent_type: str | None = None

    @property
    def session(self) -> str:
        """What the session is called; a subagent that does not tell its session goes by itself."""
        return self.session_id or PurePath(self.path).name.removesuffix(TRANSCRIPT_SUFFIX)

    @property
    def is_subagent(self) -> bool:
        """Whether it is the transcript of a subagent."""
        return self.kind != TranscriptKind.SESSION.value


class UsageRow(Struct, frozen=True, kw_only=True):
    """What counts of one set of circumstances."""

    totals: Totals
    moment: int | None = None
    """Start of the hour, or of a quarter of it, in seconds since 1970."""
    file: SourceFile | None = None
    model: str | None = None
    branch: str | None = None
    version: str | None = None
    entrypoint: str | None = None
    cwd: str | None = None
    tools: str | None = None
    """Names of all tools that the message calls, one a line."""
    is_sidechain: bool = False
