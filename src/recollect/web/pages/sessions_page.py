"""`/`: all sessions, or what to do if there are none."""

from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct

from recollect.documents.session_listing import SessionListing
from recollect.web.api.history import FIRST_WAIT
from recollect.web.api.session_rows import (
    SessionOrder,
    SessionSelection,
    make_row,
    read_range,
    select_sessions,
)
from recollect.web.services import Services
from recollect.web.session_catalog import ProjectRow, Snapshot
from recollect.web.templating import PageContent

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
    order: SessionOrder = SessionOrder.ACTIVITY
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


class EmptyPage(Struct, frozen=True, kw_only=True):
    """There are no sessions: which directories were searched, and how to see the demo."""

    roots: tuple[str, ...]
    is_listed: bool


def render_sessions_page(services: Services, wanted: SessionsParameters) -> PageContent:
    """Render the list, or the page for users without sessions."""
    services.catalog.wait_for_list(FIRST_WAIT)
    # Read first: a change in between is then reported twice, instead of lost.
    last_event = services.changes.last_id
    known = services.catalog.snapshot
    if not known.sessions:
        roots = tuple(str(root) for root in services.settings.roots)
        nothing = EmptyPage(roots=roots, is_listed=known.is_listed)
        return PageContent("nothing.html", nothing, title="sessions.title", section="sessions")
    page = _make_page(services, known, wanted, last_event)
    return PageContent("sessions.html", page, title="sessions.title", section="sessions")


def _make_page(
    services: Services, known: Snapshot, wanted: SessionsParameters, last_event: str
) -> SessionsPage:
    found = select_sessions(known, _make_selection(wanted, services.settings.now()))
    start = (wanted.page - 1) * PAGE_SIZE
    choices = services.choices.find(known)
    return SessionsPage(
        wanted=wanted,
        sessions=tuple(make_row(known, each) for each in found[start : start + PAGE_SIZE]),
        total=len(found),
        all_total=choices.sessions,
        page=wanted.page,
        pages=max(-(-len(found) // PAGE_SIZE), 1),
        projects=choices.projects,
        branches=choices.branches,
        models=choices.models,
        orders=tuple(order.value for order in SessionOrder),
        is_listed=known.is_listed,
        now=services.settings.now().timestamp(),
        last_event=last_event,
    )


def _make_selection(wanted: SessionsParameters, now: datetime) -> SessionSelection:
    since, until = read_range(wanted.since, wanted.until, now)
    return SessionSelection(
        project=wanted.project,
        text=wanted.text,
        branch=wanted.branch,
        model=wanted.model,
        since=since,
        until=until,
        subagents=wanted.subagents,
        is_live=wanted.live,
        has_errors=wanted.errors,
        order=wanted.order,
    )
