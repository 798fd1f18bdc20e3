"""`/sessions`: all sessions, with filters and totals, or how to get started without any."""

from collections.abc import Callable, Iterable, Iterator
from datetime import date, datetime
from itertools import groupby
from typing import Annotated, Literal, get_args

from msgspec import Meta, Struct, structs

from recollect.documents.session_documents import ProjectRow
from recollect.documents.session_listing import SessionListing
from recollect.health.retention import SOON
from recollect.library.session_filters import SessionQuery, make_page
from recollect.usage.zones import load_zone
from recollect.web.history_endpoints import ListOrder
from recollect.web.http_messages import read_range
from recollect.web.pages.home_page import render_empty_page
from recollect.web.services import Services
from recollect.web.template_filters import DASH, make_unique_names
from recollect.web.templating import PageContent, Translator
from recollect.workspace.served_workspace import ServedWorkspace
from recollect.workspace.session_selection import FilterCounts, SelectionTotals, SessionSelection

PAGE_SIZE = 50
Grouping = Literal["", "project", "day"]
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
    group: Grouping = ""
    page: Annotated[int, Meta(ge=1, le=1_000_000)] = 1


class SessionGroup(Struct, frozen=True, kw_only=True):
    """The sessions of the page that are of one project or day; without grouping, all of them."""

    sessions: tuple[SessionListing, ...]
    name: str = ""
    title: str = ""
    """The path of a project."""
    project: str | None = None
    """The project that the list can be narrowed down to."""
    totals: SelectionTotals | None = None
    """Totals of the whole group, of which the page may only show a part; None without grouping."""


class SessionsPage(Struct, frozen=True, kw_only=True):
    """A page of the list, its filters, and their possible values."""

    wanted: SessionsParameters
    groups: tuple[SessionGroup, ...]
    """Empty if no session matches."""
    groupings: tuple[Grouping, ...]
    totals: SelectionTotals
    """Totals of all matching sessions."""
    counts: FilterCounts
    """Number of matching sessions that each filter would keep."""
    all_total: int
    """Number of all sessions, without subagents."""
    page: int
    pages: int
    projects: tuple[ProjectRow, ...]
    branches: tuple[str, ...]
    models: tuple[str, ...]
    orders: tuple[str, ...]
    now: float
    """Unix timestamp, for sessions that expire soon."""
    last_event: str
    """The event id to resume after; later changes are not on this page."""

    def change_filters(self, **values: str) -> dict[str, str]:
        """Return the parameters of a list that differs in these; an empty one is left out."""
        return {name: value for name, value in (self.filters | values).items() if value}

    @property
    def filters(self) -> dict[str, str]:
        """The query parameters of this list, without the page number."""
        defaults = SessionsParameters(page=self.wanted.page)
        return {
            name: str(value).lower() if isinstance(value, bool) else value
            for name, value in structs.asdict(self.wanted).items()
            if value != getattr(defaults, name)
        }


def render_sessions_page(
    services: Services, wanted: SessionsParameters, translator: Translator
) -> PageContent:
    """Render the list, or the page for users without sessions."""
    workspace = services.workspace
    # Read first, so that a change in between is reported twice rather than lost.
    last_event = workspace.changes.last_id
    known = workspace.snapshot
    if not known.sessions:
        return render_empty_page(services, "sessions")
    page = _make_page(workspace, wanted, translator, last_event)
    return PageContent("sessions.html", page, title="sessions.title", section="sessions")


def _make_page(
    workspace: ServedWorkspace,
    wanted: SessionsParameters,
    translator: Translator,
    last_event: str,
) -> SessionsPage:
    now, choices = workspace.now, workspace.choices
    selection = workspace.select(_make_query(wanted, now))
    groups = _make_groups(selection, wanted, choices.projects, translator)
    return SessionsPage(
        wanted=wanted,
        groups=tuple(groups),
        groupings=get_args(Grouping),
        totals=selection.add_up(selection.sessions),
        counts=selection.count_filters(now + SOON),
        all_total=choices.sessions,
        page=wanted.page,
        pages=max(-(-len(selection.sessions) // PAGE_SIZE), 1),
        projects=choices.projects,
        branches=choices.branches,
        models=choices.models,
        orders=get_args(ListOrder),
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


FindKey = Callable[[SessionListing], str]


def _make_groups(
    selection: SessionSelection,
    wanted: SessionsParameters,
    projects: Iterable[ProjectRow],
    translator: Translator,
) -> Iterator[SessionGroup]:
    """Yield the groups of the requested page: the latest day, or the project of the first session,
    first.
    """
    find_key = _choose_key(wanted.group)
    members = selection.group(find_key)
    keys = sorted(members, reverse=True) if wanted.group == "day" else list(members)
    in_order = [each for key in keys for each in members[key]]
    page = make_page(in_order, wanted.page, PAGE_SIZE).sessions
    shown = [(key, selection.complete(found)) for key, found in groupby(page, find_key)]
    if not wanted.group:
        yield from (SessionGroup(sessions=found) for _, found in shown)
        return
    paths = {each.id: each.path or each.id for each in projects}
    names = make_unique_names(paths.get(key, key) for key, _ in shown)
    for key, found in shown:
        is_project = wanted.group == "project"
        path = paths.get(key, key)
        yield SessionGroup(
            sessions=found,
            name=names[path] if is_project else _name_day(key, translator),
            title=path if is_project else "",
            project=key if is_project else None,
            totals=selection.add_up(members[key]),
        )


def _choose_key(grouping: Grouping) -> FindKey:
    """Return what sessions are grouped by; a day is that of the last activity, here."""
    find_day = load_zone(None).find_day
    keys: dict[Grouping, FindKey] = {
        "": lambda _: "",
        "project": lambda each: each.project,
        "day": lambda each: str(find_day(int(each.activity)) or ""),
    }
    return keys[grouping]


def _name_day(day: str, translator: Translator) -> str:
    if not day:
        return DASH
    return f"{translator('home.weekdays').split()[date.fromisoformat(day).weekday()]} {day}"
