"""JSON output of commands that do not have a separate module."""

from enum import StrEnum
from typing import Any, Final, Literal

from msgspec import Struct

from recollect.records.token_usage import Tokens

RUN_SCHEMA: Final = "recollect.run/2"

RunEventName = Literal["started", "message", "text", "stderr", "ended"]


class RunFigures(Struct, frozen=True, kw_only=True):
    """The totals of one run; values that the client did not report are None."""

    turns: int
    replies: int
    tool_calls: int
    tokens: Tokens
    cost_usd: float | None
    duration_ms: float | None


class RunDocument(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of `--json-lines`; fields that do not apply to an event are omitted."""

    schema: str
    event: RunEventName
    """`text` is output that is not a message; `stderr` is a line on standard error."""
    pid: int | None = None
    arguments: tuple[str, ...] | None = None
    message: dict[str, Any] | None = None
    text: str | None = None
    session_id: str | None = None
    code: int | None = None
    figures: RunFigures | None = None


class ResumeDocument(Struct, frozen=True, kw_only=True):
    """The command that resumes a session, and the problem if it would fail."""

    schema: Literal["recollect.resume/1"] = "recollect.resume/1"
    session_id: str
    directory: str
    arguments: tuple[str, ...]
    environment: dict[str, str]
    shell_command: str
    problem: str | None = None


class OpenDocument(Struct, frozen=True, kw_only=True):
    """Where a session or record is; `link` is null unless the web app is running."""

    schema: Literal["recollect.open/1"] = "recollect.open/1"
    session_id: str | None
    """Null if no session was given."""
    record: str | None
    path: str
    link: str | None


class SettingOrigin(StrEnum):
    """The origin of a value, in order of increasing precedence."""

    DEFAULT = "default"
    FILE = "file"
    ENVIRONMENT = "environment"
    OPTION = "option"


class Effective(Struct, frozen=True, kw_only=True):
    """An effective setting."""

    name: str
    value: str | tuple[str, ...] | None
    origin: SettingOrigin
    place: str | None
    """The option, the variable, or the line of the file."""
    meaning: str


class ConfigDocument(Struct, frozen=True, kw_only=True):
    """The effective settings."""

    schema: Literal["recollect.config/1"] = "recollect.config/1"
    path: str
    exists: bool
    settings: tuple[Effective, ...]


class ExportedFile(Struct, frozen=True, kw_only=True):
    """A file that was written."""

    path: str
    size: int
    session_id: str | None = None
    """The exported session; None for an index, an image, or a table of many sessions."""


class MaskedKind(Struct, frozen=True, kw_only=True):
    """Number of masked secrets of one kind."""

    kind: str
    count: int


class ExportDocument(Struct, frozen=True, kw_only=True):
    """The files of an export, and what was masked in them."""

    schema: Literal["recollect.export/1"] = "recollect.export/1"
    format: str
    sessions: int
    files: tuple[ExportedFile, ...]
    is_redacted: bool
    """Whether secrets were masked, if there were any."""
    masked: tuple[MaskedKind, ...]
    unread: tuple[str, ...] = ()
    """Transcripts that could not be read."""


class SecretFinding(Struct, frozen=True, kw_only=True):
    """The secrets of one kind in one turn of a session."""

    kind: str
    """The kind of secret, such as `aws-key`, `password` or `private-key`."""
    confidence: Literal["definite", "likely"]
    session: str
    """The id of the session, or of the subagent whose transcript contains it."""
    turn: int | None
    """The number of the turn; None for a file beside the transcript."""
    timestamp: str | None
    """When it was first written."""
    count: int
    """Number of records of the turn that contain one, counted once per value."""


class SecretSummary(Struct, frozen=True, kw_only=True):
    """The secrets of one kind that were found in a session while it was indexed."""

    kind: str
    confidence: Literal["definite", "likely"]
    session: str
    count: int
    """Number of records that contain one, counted once per value."""
    first: str | None
    """When the first was written."""


class SecretsDocument(Struct, frozen=True, kw_only=True):
    """All findings, oldest session first, and what was scanned."""

    schema: Literal["recollect.secrets-scan/1"] = "recollect.secrets-scan/1"
    session_id: str | None
    project: str | None
    files: int
    """Number of transcripts that were scanned, including those of subagents."""
    findings: tuple[SecretFinding, ...]
    total: int
    """The sum of all counts."""
    unread: tuple[str, ...]
    """Files that could not be read."""


class IndexProblem(Struct, frozen=True):
    """A transcript that could not be read."""

    file: str
    reason: str


class TextStatus(Struct, frozen=True, kw_only=True):
    """The status of the full-text index."""

    bytes: int = 0
    """Its size on disk; 0 if there is none yet."""
    is_current: bool = False
    files_behind: int = 0
    """Number of transcripts to be indexed, or to be removed because they were deleted."""


class IndexDocument(Struct, frozen=True, kw_only=True):
    """The work done, and the resulting status."""

    schema: Literal["recollect.index/2"] = "recollect.index/2"
    path: str
    bytes: int
    is_sound: bool
    is_current: bool
    files_read: int
    bytes_read: int
    files: int
    files_gone: int
    messages: int
    copies: int
    text: TextStatus
    problems: tuple[IndexProblem, ...]


class ToolUsageRow(Struct, frozen=True, kw_only=True):
    """Statistics of one tool, or of all tools of one MCP server."""

    name: str
    calls: int
    failed: int
    rejected: int
    interrupted: int
    pending: int
    median_ms: float | None
    """Median duration; None if no call has one."""
    p95_ms: float | None
    """95th percentile of the durations."""
    total_ms: float


class ToolsDocument(Struct, frozen=True, kw_only=True):
    """Statistics of all tools, the most used first, and the filters that were applied."""

    schema: Literal["recollect.tools/1"] = "recollect.tools/1"
    session_id: str | None
    project: str | None
    since: str | None
    until: str | None
    sessions: int
    """Number of transcripts with matching calls, including those of subagents."""
    total: ToolUsageRow
    tools: tuple[ToolUsageRow, ...]
    mcp_servers: tuple[ToolUsageRow, ...]
    unread: tuple[str, ...]
    """Transcripts that could not be read."""
