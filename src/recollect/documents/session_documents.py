"""Documents about sessions: a session with its turns, its outline, lists, the overview, and other
responses of the web API.

The fields of `/api/history` have the names that other programs use.
"""

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from recollect.documents import health_report, kinds, session_listing, turn_documents
from recollect.records.token_usage import Tokens


class ListDocument(Struct, frozen=True, kw_only=True):
    """One page of sessions and the total number."""

    schema: Literal["recollect.list/2"] = "recollect.list/2"
    total: int
    sessions: tuple[session_listing.SessionListing, ...]


class ShowDocument(Struct, frozen=True, kw_only=True):
    """A session and its turns."""

    schema: Literal["recollect.show/2"] = "recollect.show/2"
    session: session_listing.Metadata
    turns: tuple[turn_documents.TurnView, ...]
    at: str | None = None
    """The anchor of the place in `--at`: a uuid or `turn-3`; in a subagent, that of its call."""


class ShowHead(Struct, frozen=True, kw_only=True):
    """The first line of JSON Lines: the session; each following line is a turn."""

    schema: Literal["recollect.show/2"] = "recollect.show/2"
    session: session_listing.Metadata
    at: str | None = None
    """As in `ShowDocument`."""


class TurnsDocument(Struct, frozen=True, kw_only=True):
    """Some turns of a session."""

    id: str
    start: int
    """Number of turns before the first one here; turns themselves are numbered from 1."""
    total: int | None
    is_partial: bool
    turns: tuple[turn_documents.TurnView, ...]


class ActivityDay(Struct, frozen=True, kw_only=True):
    """Activity on one day."""

    day: str
    """The day, such as `2026-11-15`, in the local time zone."""
    cost_usd: float | None
    """Cost at list prices; None if no price is known."""
    tokens: int
    sessions: int
    """Number of sessions that started."""


class PeriodTotals(Struct, frozen=True, kw_only=True):
    """Activity over a range of days, both inclusive."""

    since: str
    until: str
    cost_usd: float | None
    tokens: int
    sessions: int


class ProjectGroup(Struct, frozen=True, kw_only=True):
    """Project directories that belong together: a folder, its worktrees and its earlier locations.

    Usage covers the last 90 days.
    """

    path: str | None
    """The working directory; None if no record has it."""
    projects: tuple[str, ...]
    """Names of their directories below `projects/`, the main one first."""
    worktrees: int
    moved: int
    """Number of earlier locations of the folder."""
    sessions: int
    """Number of sessions that still exist."""
    tokens: int
    cost_usd: float | None
    last_active: float
    """As a Unix timestamp."""


class Overview(Struct, frozen=True, kw_only=True):
    """Totals, activity and what needs attention across all sessions."""

    today: str
    timezone: str
    sessions: int
    live: tuple[session_listing.SessionListing, ...]
    """Sessions open in a client: those waiting for you first, then those at work."""
    days: tuple[ActivityDay, ...]
    """The days of the last year with activity."""
    this_week: PeriodTotals
    """This week, from Monday to today."""
    last_week: PeriodTotals
    """The same days of last week."""
    recent: tuple[session_listing.SessionListing, ...]
    expiring: tuple[session_listing.SessionListing, ...]
    """Sessions that Claude Code deletes next, within a week, and that are not archived."""
    expiring_total: int
    """Number of sessions that it deletes within a week and that are not archived."""
    projects: tuple[ProjectGroup, ...]
    """Most recently active first."""


class HistorySession(Struct, frozen=True, kw_only=True, rename="camel"):
    """The metadata of a session; numeric times are in milliseconds since 1970."""

    id: str
    project_id: str
    """Name of the project's directory below `projects/`."""
    project_path: str | None
    """The working directory."""
    title: str | None
    first_message: str | None
    """The first prompt."""
    first_message_timestamp: str | None
    created_at: int
    modified_at: int
    """When its file was last written."""
    last_active_at: int
    """When something last happened in it."""
    message_count: int | None
    """Prompts and distinct replies; null until a large file has been read completely."""
    turn_count: int | None
    error_count: int | None
    is_subagent: bool
    parent_id: str | None
    file_path: str
    file_size: int
    version: str | None
    git_branch: str | None
    is_live: bool
    total_tokens: int | None
    """Its own tokens and those of its subagents."""
    copied_tokens: int | None
    """Tokens of replies copied from another session, which are counted there."""
    cost_usd: float | None
    """Cost at list prices, including its subagents; null if no price is known."""
    models: tuple[str, ...]


class HistoryPage(Struct, frozen=True, kw_only=True, rename="camel"):
    """One page of sessions."""

    sessions: list[HistorySession]
    total: int
    """Number of sessions on all pages."""
    has_more: bool
    page: int
    page_size: int
    is_complete: bool
    """False until all files have been read for the first time."""


class SessionMetrics(Struct, frozen=True, kw_only=True):
    """The figures of a session, without those of its subagents."""

    tokens: Tokens
    """Its own tokens, as counted by usage."""
    copied_tokens: Tokens
    """Tokens of replies that a fork copied from another session, which are counted there."""
    client_cost_usd: float | None
    """Cost that a client up to 1.0.2x recorded for its replies (`costUSD`)."""
    client_priced: int
    """Number of replies without token counts, whose cost is the one recorded by the client."""
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


class TokenShares(Struct, frozen=True, kw_only=True):
    """The tokens of a session, split into its own and copied ones by all transcripts."""

    own: Tokens
    """Tokens of its own replies."""
    copied: Tokens
    """Tokens of replies in its transcript that are counted in another session."""
    subagents: Tokens
    """Tokens of its subagents, including those without a transcript."""
    cost_usd: float | None
    """Cost at list prices, including its subagents; None if no price is known."""


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
    """A whole session."""

    session: session_listing.SessionListing
    metrics: SessionMetrics
    segments: int
    """Number of segments, the parts between compactions."""
    branches: int
    """Number of points where the conversation branches."""
    subagents: list[SubagentRow]
    irregular: int
    """Number of lines that are not known records."""


class OutlineSubagent(Struct, frozen=True, kw_only=True):
    """A subagent in the outline, with those that it started itself."""

    agent_id: str
    call_uuid: str | None
    """The record of the call that started it."""
    turn: int
    """The number of the turn with that call, in the session or subagent that made it.
    """
    agent_type: str | None
    description: str | None
    outcome: kinds.SubagentOutcome | None
    tool_calls: int
    subagents: "tuple[OutlineSubagent, ...]" = ()


class OutlineFailure(Struct, frozen=True, kw_only=True):
    """A call or a request that failed."""

    uuid: str | None
    """The record of the call, or of the error message."""
    tool: str
    """The display name of the tool; empty for an API request."""
    line: str
    """The subject of the call, or the error message."""


class OutlineEntry(Struct, frozen=True, kw_only=True):
    """One turn as a line of the outline."""

    number: int
    """Counted from 1 through the whole session."""
    uuid: str | None
    """The uuid of the prompt's record, as in the turn's view."""
    kind: kinds.InputKind | None
    line: str
    """The first line of the input that started it."""
    is_by_person: bool
    is_on_main_path: bool
    is_branch: bool
    """Whether it is one of several branches from the same place."""
    segment: int
    """The number of its segment, from 0."""
    start: str | None
    tool_calls: int
    errors: int
    """Number of failed tool calls and API failures."""
    failures: tuple[OutlineFailure, ...] = ()
    """These failures, in order."""
    trace: str
    """Its steps, two characters each, as `recollect.session.figures` writes them."""
    context_tokens: int = 0
    """Tokens that the model read for its last reply of the turn."""
    cost_usd: float | None = None
    """Cost at list prices; None if a price is not known."""
    backups: int = 0
    """Number of files that Claude Code backed up at this prompt."""
    subagents: tuple[OutlineSubagent, ...] = ()
    """The subagents that the turn started."""


class OutlineFile(Struct, frozen=True, kw_only=True):
    """A file that a session changed, in order of its first change."""

    path: str
    """Relative to the working directory if inside it."""
    lines_added: int
    lines_removed: int


class OutlineDocument(Struct, frozen=True, kw_only=True):
    """The turns of a session, one line each, and the files that it changed."""

    id: str
    turns: tuple[OutlineEntry, ...]
    files: tuple[OutlineFile, ...] = ()


class FindHit(Struct, frozen=True, kw_only=True):
    """A record that contains the words."""

    uuid: str
    turn: int | None = None
    """The number of its turn, counted from 1."""


class FindDocument(Struct, frozen=True, kw_only=True):
    """The records that contain the words."""

    id: str
    hits: tuple[FindHit, ...]


class ProjectRow(Struct, frozen=True, kw_only=True):
    """A project and the figures of its sessions."""

    id: str
    """Name of its directory below `projects/`."""
    path: str | None
    """The working directory of most of its sessions."""
    sessions: int
    bytes: int
    last_active: float
    """As a Unix timestamp."""
    branches: list[str]


class ProjectsDocument(Struct, frozen=True, kw_only=True):
    """All projects, the most recently active first."""

    projects: tuple[ProjectRow, ...]


class HealthDocument(Struct, frozen=True, kw_only=True):
    """The state of the files and of the index."""

    report: health_report.HealthReport
    sessions: int
    is_listed: bool
    is_searchable: bool
    index_failure: str | None


class ErrorDetail(Struct, frozen=True, kw_only=True):
    """The error in a request."""

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
