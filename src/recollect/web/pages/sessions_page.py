"""`/sessions`: all sessions, with filters and totals, or how to get started without any."""

from datetime import datetime
from typing import Annotated, get_args

from msgspec import Meta, Struct, structs

from recollect.documents.session_documents import ProjectRow
from recollect.documents.session_listing import SessionListing
from recollect.health.retention import SOON
from recollect.library.session_filters import SessionQuery, make_page
from recollect.web.history_endpoints import ListOrder
from recollect.web.http_messages import read_range
from recollect.web.pages.home_page import make_empty_page
from recollect.web.services import Services
from recollect.web.templating import PageContent
from recollect.workspace.served_workspace import ServedWorkspace
from recollect.workspace.session_selection import FilterCounts, SelectionTotals

PAGE_SIZE = 50
Text = Annotated[str, Meta(max_length=500)]


class SessionsParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Filters; an empty form value does not filter."""

    project: Annotated[str, Meta(max_length=4096)] = ""
    text: Text = ""
    branch: Text = ""
    model: Text = ""
    since: Annotated[str, Meta(max_length=20)] = ""
    until: Annotated[str, Meta(max_length=20)] = ""
    subagents: bool = False
    live: bool = False
    errors: bool = False
    starred: bool = False
    compacted: bool = False
    expiring: bool = False
    order: ListOrder = "activity"
    page: Annotated[int, Meta(ge=1, le=1_000_000)] = 1


class SessionsPage(Struct, frozen=True, kw_only=True):
    """A page of the list, its filters, and their possible values."""

    wanted: SessionsParameters
    sessions: tuple[SessionListing, ...]
    totals: SelectionTotals
    """Those of all matching sessions."""
    counts: FilterCounts
    """How many of the matching sessions each filter would keep."""
    all_total: int
    """Number of all sessions, without subagents."""
    page: int
    pages: int
    projects: tuple[ProjectRow, ...]
    branches: tuple[str, ...]
    models: tuple[str, ...]
    orders: tuple[str, ...]
    is_listed: bool
    now: float
    """Unix timestamp, for sessions that expire soon."""
    last_event: str
    """The event id to resume after; later changes are not on this page."""

    @property
    def filters(self) -> dict[str, str]:
        """The parameters of this list in an address, without its page."""
        defaults = SessionsParameters(page=self.wanted.page)
        return {
            name: str(value).lower() if isinstance(value, bool) else value
            for name, value in structs.asdict(self.wanted).items()
            if value != getattr(defaults, name)
        }


def render_sessions_page(services: Services, wanted: SessionsParameters) -> PageContent:
    """Render the list, or the page for users without sessions."""
    workspace = services.workspace
    # Read first, so that a change in between is reported twice rather than lost.
    last_event = workspace.changes.last_id
    known = workspace.snapshot
    if not known.sessions:
        nothing = make_empty_page(services)
        return PageContent("nothing.html", nothing, title="sessions.title", section="sessions")
    page = _make_page(workspace, wanted, last_event, is_listed=known.is_listed)
    return PageContent("sessions.html", page, title="sessions.title", section="sessions")


def _make_page(
    workspace: ServedWorkspace, wanted: SessionsParameters, last_event: str, *, is_listed: bool
) -> SessionsPage:
    now, choices = workspace.now, workspace.choices
    selection = workspace.select(_make_query(wanted, now))
    found = make_page(selection.sessions, wanted.page, PAGE_SIZE)
    return SessionsPage(
        wanted=wanted,
        sessions=selection.complete(found.sessions),
        totals=selection.add_up(selection.sessions),
        counts=selection.count_filters(now + SOON),
        all_total=choices.sessions,
        page=wanted.page,
        pages=max(-(-found.total // PAGE_SIZE), 1),
        projects=choices.projects,
        branches=choices.branches,
        models=choices.models,
        orders=get_args(ListOrder),
        is_listed=is_listed,
        now=now.timestamp(),
        last_event=last_event,
    )


def _make_query(wanted: SessionsParameters, now: datetime) -> SessionQuery:
    since, until = read_range(wanted.since, wanted.until, now)
    return SessionQuery(
        directory=wanted.project or None,
        text=wanted.text or None,
        branch=wanted.branch or None,
        model=wanted.model or None,
        since=since,
        until=until,
        include_subagents=wanted.subagents,
        is_live=wanted.live,
        has_errors=wanted.errors,
        is_starred=wanted.starred,
        has_compactions=wanted.compacted,
        expires_by=now + SOON if wanted.expiring else None,
        order=wanted.order,
    )
