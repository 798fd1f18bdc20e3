"""Answers of the web API that no command prints: one session, its outline, projects, errors."""

from msgspec import UNSET, Struct, UnsetType

from recollect.documents.health_report import HealthReport
from recollect.documents.kinds import InputKind
from recollect.documents.session_listing import SessionListing
from recollect.records.usage import Tokens


class SessionMetrics(Struct, frozen=True, kw_only=True):
    """The figures of a session, without those of its subagents."""

    tokens: Tokens
    """Its own, as usage counts them."""
    copied_tokens: Tokens
    """Those of replies that a fork copied from another session, where they count."""
    client_cost_usd: float | None
    """What a client up to 1.0.2x noted on its replies (`costUSD`)."""
    client_priced: int
    """Replies without token counts: all that is known of their cost is what the client noted."""
    start: str | None
    end: str | None
    duration_ms: float | None
    active_ms: float
    turns: int
    person_turns: int
    replies: int
    tool_calls: int
    tool_calls_by_name: dict[str, int]
    tool_calls_by_status: dict[str, int]
    errors: int
    lines_added: int
    lines_removed: int


class SubagentRow(Struct, frozen=True, kw_only=True):
    """A subagent, at any depth."""

    agent_id: str
    kind: str
    agent_type: str | None
    description: str | None
    call_id: str | None
    """The tool call that started it."""
    turns: int


class SessionDocument(Struct, frozen=True, kw_only=True):
    """A session as a whole."""

    session: SessionListing
    metrics: SessionMetrics
    segments: int
    """Stretches between compactions."""
    branches: int
    """Places where the conversation was taken up twice."""
    subagents: list[SubagentRow]
    irregular: int
    """Lines that are no known record."""


class OutlineEntry(Struct, frozen=True, kw_only=True):
    """One turn as a line of the outline."""

    number: int
    """Counted from 1 through the whole session."""
    uuid: str | None
    """That of the prompt's record, as in the turn's view."""
    kind: InputKind | None
    line: str
    """The first line of what opened it."""
    is_by_person: bool
    is_on_main_path: bool
    is_branch: bool
    """Whether it is one of several continuations of the same place."""
    segment: int
    """Which stretch between compactions it lies in, from 0."""
    start: str | None
    tool_calls: int
    errors: int
    """Failed tool calls and API failures."""
    trace: str
    """Its steps, two characters each, as `recollect.session.trace` writes them."""
    backups: int = 0
    """How many files Claude Code backed up as they were at this prompt."""


class OutlineDocument(Struct, frozen=True, kw_only=True):
    """The turns of a session, one line each."""

    id: str
    turns: tuple[OutlineEntry, ...]


class FindHit(Struct, frozen=True, kw_only=True):
    """A record in which the words stand."""

    uuid: str


class FindDocument(Struct, frozen=True, kw_only=True):
    """Where the words stand."""

    id: str
    hits: tuple[FindHit, ...]


class ProjectRow(Struct, frozen=True, kw_only=True):
    """A project and the figures of its sessions."""

    id: str
    """Name of its directory below `projects/`."""
    path: str | None
    """The work directory of most of its sessions."""
    sessions: int
    bytes: int
    last_active: float
    """As a Unix timestamp."""
    branches: list[str]


class ProjectsDocument(Struct, frozen=True, kw_only=True):
    """All projects, the most recently active first."""

    projects: tuple[ProjectRow, ...]


class HealthDocument(Struct, frozen=True, kw_only=True):
    """The state of the files, and of our own index."""

    report: HealthReport
    sessions: int
    is_listed: bool
    is_searchable: bool
    index_failure: str | None


class ErrorDetail(Struct, frozen=True, kw_only=True):
    """What is wrong with a request."""

    code: str
    """One word, for programs."""
    message: str
    """For people: what is wrong, and what to do."""
    parameter: str | UnsetType = UNSET
    """The parameter with the error."""
    column: int | UnsetType = UNSET
    """Position in a search query, counted from 1."""


class ErrorDocument(Struct, frozen=True, kw_only=True):
    """The response to a request that failed."""

    error: ErrorDetail
