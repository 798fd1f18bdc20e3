"""The overview of all sessions that the home page and `/api/overview` show."""

from msgspec import Struct

from recollect.documents.session_listing import SessionListing


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
