"""`/`: all sessions, or what to do when there are none."""

from datetime import date
from typing import Annotated

from msgspec import Meta, Struct

from recollect.web.api.history import FIRST_WAIT
from recollect.web.api.rows import SessionRow, make_row
from recollect.web.api.selection import Selection, SessionOrder, select_sessions
from recollect.web.choices import ProjectRow
from recollect.web.pages.drawn import Drawn
from recollect.web.services import Services
from recollect.web.shelf import Known

PAGE_SIZE = 50
Text = Annotated[str, Meta(max_length=500)]


class SessionsParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which sessions; an empty value of a form asks for nothing."""

    project: Annotated[str, Meta(max_length=4096)] = ""
    text: Text = ""
    branch: Text = ""
    model: Text = ""
    since: Annotated[str, Meta(pattern=r"^(\d{4}-\d{2}-\d{2})?$")] = ""
    until: Annotated[str, Meta(pattern=r"^(\d{4}-\d{2}-\d{2})?$")] = ""
    subagents: bool = False
    live: bool = False
    errors: bool = False
    order: SessionOrder = SessionOrder.ACTIVITY
    page: Annotated[int, Meta(ge=1, le=1_000_000)] = 1


class SessionsPage(Struct, frozen=True, kw_only=True):
    """A page of the list, what it was asked for, and what it could be."""

    wanted: SessionsParameters
    sessions: tuple[SessionRow, ...]
    total: int
    """Sessions that fit."""
    all_total: int
    """Sessions that there are, subagents left out."""
    page: int
    pages: int
    projects: tuple[ProjectRow, ...]
    branches: tuple[str, ...]
    models: tuple[str, ...]
    orders: tuple[str, ...]
    is_listed: bool
    now: float
    """In seconds since 1970, for what expires soon."""
    last_event: str
    """Where to listen from: what changes behind it is not on this page."""


class NothingPage(Struct, frozen=True, kw_only=True):
    """There is nothing to show: what was looked at, and how to see the demo."""

    roots: tuple[str, ...]
    is_listed: bool


def draw_sessions(services: Services, wanted: SessionsParameters) -> Drawn:
    """The list, or the page of somebody who has no sessions yet."""
    services.shelf.wait_for_list(FIRST_WAIT)
    # Before what is known: a change between the two is told again, where it would be lost.
    last_event = services.changes.last_id
    known = services.shelf.known
    if not known.sessions:
        roots = tuple(str(root) for root in services.settings.roots)
        nothing = NothingPage(roots=roots, is_listed=known.is_listed)
        return Drawn("nothing.html", nothing, title="sessions.title", section="sessions")
    page = _make_page(services, known, wanted, last_event)
    return Drawn("sessions.html", page, title="sessions.title", section="sessions")


def _make_page(
    services: Services, known: Known, wanted: SessionsParameters, last_event: str
) -> SessionsPage:
    found = select_sessions(known, _make_selection(wanted))
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


def _make_selection(wanted: SessionsParameters) -> Selection:
    return Selection(
        project=wanted.project,
        text=wanted.text,
        branch=wanted.branch,
        model=wanted.model,
        since=_read_day(wanted.since),
        until=_read_day(wanted.until),
        subagents=wanted.subagents,
        is_live=wanted.live,
        has_errors=wanted.errors,
        order=wanted.order,
    )


def _read_day(text: str) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        # A calendar lets people type the 31st of any month.
        return None
