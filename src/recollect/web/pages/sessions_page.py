"""`/sessions`: all sessions, or what to do if there are none."""

from datetime import datetime
from typing import Annotated, get_args

from msgspec import Meta, Struct

from recollect.documents.api_documents import ProjectRow
from recollect.documents.session_listing import SessionListing
from recollect.health.retention import SOON
from recollect.library.session_filters import SessionQuery
from recollect.web.api.history import ListOrder
from recollect.web.pages.home_page import make_empty_page
from recollect.web.parameters import read_range
from recollect.web.services import Services
from recollect.web.templating import PageContent
from recollect.workspace.served_workspace import ServedWorkspace

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
    total: int
    """Number of matching sessions."""
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
    """The event id to resume after: later changes are not on this page."""


def render_sessions_page(services: Services, wanted: SessionsParameters) -> PageContent:
    """Render the list, or the page for users without sessions."""
    workspace = services.workspace
    # Read first: a change in between is then reported twice, instead of lost.
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
    found = workspace.sessions(_make_query(wanted, now), page=wanted.page, page_size=PAGE_SIZE)
    return SessionsPage(
        wanted=wanted,
        sessions=found.sessions,
        total=found.total,
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
