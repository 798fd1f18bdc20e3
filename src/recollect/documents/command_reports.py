"""What `run`, `resume`, `open` and `config` print as JSON."""

from enum import StrEnum
from typing import Any, Final, Literal

from msgspec import Struct

from recollect.records.usage import Tokens

RUN_SCHEMA: Final = "recollect.run/2"

RunEventName = Literal["started", "message", "text", "stderr", "ended"]


class RunFigures(Struct, frozen=True, kw_only=True):
    """The totals of one run; None is what the client did not report."""

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
    """Null if no session was named."""
    record: str | None
    path: str
    link: str | None


class SettingOrigin(StrEnum):
    """Where a value comes from, in order of increasing precedence."""

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
    """The settings in effect."""

    schema: Literal["recollect.config/1"] = "recollect.config/1"
    path: str
    exists: bool
    settings: tuple[Effective, ...]
