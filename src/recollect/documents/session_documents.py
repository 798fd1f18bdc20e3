"""Sessions as documents: one with its turns, lists of them, and the overview of all.

`/api/history` spells its fields as other programs for these files do.
"""

from typing import Literal

from msgspec import Struct

from recollect.documents.session_listing import Metadata, SessionListing
from recollect.documents.turns import TurnView


class ListDocument(Struct, frozen=True, kw_only=True):
    """One page of sessions and the total number."""

    schema: Literal["recollect.list/2"] = "recollect.list/2"
    total: int
    sessions: tuple[SessionListing, ...]


class ShowDocument(Struct, frozen=True, kw_only=True):
    """A session and its turns."""

    schema: Literal["recollect.show/2"] = "recollect.show/2"
    session: Metadata
    turns: tuple[TurnView, ...]
    at: str | None = None
    """The uuid of what was asked for with `--at`, or `turn-3`; a subagent's is at its call."""


class ShowHead(Struct, frozen=True, kw_only=True):
    """A session on the first line of JSON Lines; each of the others is a turn."""

    schema: Literal["recollect.show/2"] = "recollect.show/2"
    session: Metadata
    at: str | None = None
    """As in `ShowDocument`."""


class TurnsDocument(Struct, frozen=True, kw_only=True):
    """Some turns of a session."""

    id: str
    start: int
    """How many turns come before the first one here; turns themselves are numbered from 1."""
    total: int | None
    is_partial: bool
    turns: tuple[TurnView, ...]


class ActivityDay(Struct, frozen=True, kw_only=True):
    """What happened on a day."""

    day: str
    """Such as `2026-11-15`, in the local time zone."""
    cost_usd: float | None
    """Cost at list prices; None if no price is known."""
    tokens: int
    sessions: int
    """Sessions that started."""


class PeriodTotals(Struct, frozen=True, kw_only=True):
    """What happened on some days, both ends included."""

    since: str
    until: str
    cost_usd: float | None
    tokens: int
    sessions: int


class ProjectGroup(Struct, frozen=True, kw_only=True):
    """The project directories that belong together: a folder, its worktrees, and where it was.

    Usage is that of the last 90 days.
    """

    path: str | None
    """The work directory; None if no record says it."""
    projects: tuple[str, ...]
    """Names of their directories below `projects/`, the main one first."""
    worktrees: int
    moved: int
    """How many other places the folder had."""
    sessions: int
    """Sessions that still exist."""
    tokens: int
    cost_usd: float | None
    last_active: float
    """As a Unix timestamp."""


class Overview(Struct, frozen=True, kw_only=True):
    """Totals, activity and what needs attention across all sessions."""

    today: str
    timezone: str
    sessions: int
    live: tuple[SessionListing, ...]
    """Open in a client right now: those that wait for you first, then those at work."""
    days: tuple[ActivityDay, ...]
    """The days of the last year on which anything happened."""
    this_week: PeriodTotals
    """From Monday to today."""
    last_week: PeriodTotals
    """The same days of the week before."""
    recent: tuple[SessionListing, ...]
    expiring: tuple[SessionListing, ...]
    """Those that Claude Code deletes first, within a week."""
    expiring_total: int
    """How many it deletes within a week."""
    projects: tuple[ProjectGroup, ...]
    """The most recently active first."""


class HistorySession(Struct, frozen=True, kw_only=True, rename="camel"):
    """The metadata of a session; times in milliseconds since 1970 unless they are texts."""

    id: str
    project_id: str
    """Name of the project's directory below `projects/`."""
    project_path: str | None
    """The work directory."""
    title: str | None
    first_message: str | None
    """What the person wrote first."""
    first_message_timestamp: str | None
    created_at: int
    modified_at: int
    """When its file was last written."""
    last_active_at: int
    """When something last happened in it."""
    message_count: int | None
    """Prompts of a person and distinct replies; null while a large file was not read whole."""
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
    """Its own, with those of its subagents."""
    copied_tokens: int | None
    """Those of replies that were copied from another session, where they count."""
    cost_usd: float | None
    """At list prices, with its subagents; null when no price is known."""
    models: tuple[str, ...]


class HistoryPage(Struct, frozen=True, kw_only=True, rename="camel"):
    """One page of sessions."""

    sessions: list[HistorySession]
    total: int
    """Sessions on all pages."""
    has_more: bool
    page: int
    page_size: int
    is_complete: bool
    """False while the first look at the files is still going on."""
