"""Where secrets are, as `recollect secrets scan --json` prints it. No value is ever part of it."""

from typing import Literal

from msgspec import Struct


class SecretFinding(Struct, frozen=True, kw_only=True):
    """The secrets of one kind in one turn of a session."""

    kind: str
    """What it is, such as `aws-key`, `password` or `private-key`."""
    confidence: Literal["definite", "likely"]
    session: str
    """The id of the session, or of the subagent whose transcript it is in."""
    turn: int | None
    """The number of the turn; None for a file beside the transcript."""
    timestamp: str | None
    """When it was written first."""
    count: int
    """How many records of the turn hold one, counted once for each value."""


class NotedKind(Struct, frozen=True, kw_only=True):
    """The secrets of one kind that were noted in a session while it was indexed."""

    kind: str
    confidence: Literal["definite", "likely"]
    session: str
    count: int
    """How many records hold one, counted once for each value."""
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
