"""Pages that list sessions: `/sessions`, all of them, with filters and totals, or how to get
started without any; and `/search`, results by session, or the error in the query.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date, datetime
from itertools import groupby
from typing import Annotated, Final, Literal, get_args

from msgspec import Meta, Struct, structs

from recollect.documents.search_results import Facet, Hit
from recollect.documents.session_documents import ErrorDetail, ProjectRow
from recollect.documents.session_listing import SessionListing
from recollect.health.retention import SOON
from recollect.library.session_filters import SessionQuery, make_page
from recollect.search.query_parser import QueryError, group_query, point_at
from recollect.usage.zones import load_zone
from recollect.web.history_endpoints import ListOrder, SearchParameters, run_search
from recollect.web.http_messages import Id, describe_failure, read_range
from recollect.web.pages.home_page import render_empty_page
from recollect.web.services import Services
from recollect.web.template_filters import DASH, make_unique_names
from recollect.web.templating import PageContent, Translator
from recollect.workspace.searching import SessionSearch
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
        """Return the parameters of this list with other values; empty ones are left out."""
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


SESSIONS: Final = 20
"""Sessions on a page."""


class SearchPageParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The query; without one, only the help is shown."""

    q: Annotated[str, Meta(max_length=4000)] = ""
    recent: bool = False
    session: Id | None = None
    page: Annotated[int, Meta(ge=1, le=10_000)] = 1
    part: bool = False
    """Only render the results, for an open page."""
    quick: bool = False
    """Only run the quick search, for a page that requests the full one after a pause."""


class HitGroup(Struct, frozen=True, kw_only=True):
    """The results in one session."""

    session_id: str
    session: SessionListing | None
    """None if the session is not in the list."""
    hits: tuple[Hit, ...]
    more: int
    missing: tuple[str, ...]
    """Words of the query that the session does not contain."""

    @property
    def places(self) -> list[float]:
        """Positions of its hits in the transcript, from 0 to 1."""
        session = self.session
        offsets = [hit.offset or 0 for hit in self.hits if session and hit.path == session.path]
        return [min(offset / max(session.size, 1), 1) for offset in offsets] if session else []


class SearchPage(Struct, frozen=True, kw_only=True):
    """A query and its results."""

    query: str
    recent: bool
    session: str | None
    groups: tuple[HitGroup, ...]
    total: int
    is_total_exact: bool
    index_complete: bool
    error: ErrorDetail | None
    """The error in the query, and its position."""
    pointer: str
    """The query, with a caret below that position."""
    total_sessions: int = 0
    page: int = 1
    left_out: tuple[str, ...] = ()
    did_you_mean: str | None = None
    corrected: Mapping[str, str] = {}
    split: tuple[str, ...] = ()
    capped: tuple[str, ...] = ()
    facets: tuple[Facet, ...] = ()
    quick: bool = False

    @property
    def pages(self) -> int:
        """How many pages of sessions there are."""
        return -(-self.total_sessions // SESSIONS)

    @property
    def grouped(self) -> str:
        """The query as a part of a longer one."""
        return group_query(self.query)

    @property
    def is_unfinished(self) -> bool:
        """Whether the full search may find more."""
        return self.quick and bool(self.capped or not self.is_total_exact)

    @property
    def is_complete(self) -> bool:
        """Whether all sessions with results are on the page."""
        return self.pages <= 1


def render_search_page(services: Services, wanted: SearchPageParameters) -> PageContent:
    """Render a search, or only its results."""
    template = "results.html" if wanted.part else "search.html"
    page = _find(services, wanted) if wanted.q.strip() else _make_empty(services, wanted, None)
    return PageContent(template, page, title="search.title", section="search")


def _find(services: Services, wanted: SearchPageParameters) -> SearchPage:
    parameters = SearchParameters(
        q=wanted.q,
        recent=wanted.recent,
        session=wanted.session,
        limit=SESSIONS,
        offset=(wanted.page - 1) * SESSIONS,
        per_session=500 if wanted.session else 3,
        facets=True,
    )
    try:
        answer = run_search(services, parameters, is_quick=wanted.quick)
    except QueryError as error:
        return _make_empty(services, wanted, describe_failure(error)[1])
    result = answer.result
    return SearchPage(
        query=wanted.q,
        recent=wanted.recent,
        session=wanted.session,
        groups=_group(answer),
        total=result.total,
        is_total_exact=result.is_total_exact,
        index_complete=result.index_complete,
        error=None,
        pointer="",
        total_sessions=result.total_sessions,
        page=wanted.page,
        left_out=result.left_out,
        did_you_mean=result.did_you_mean,
        corrected=result.corrected,
        split=result.split,
        capped=result.capped,
        facets=result.facets,
        quick=wanted.quick,
    )


def _make_empty(
    services: Services, wanted: SearchPageParameters, error: ErrorDetail | None
) -> SearchPage:
    return SearchPage(
        query=wanted.q,
        recent=wanted.recent,
        session=wanted.session,
        groups=(),
        total=0,
        is_total_exact=True,
        index_complete=services.workspace.catalog.snapshot.is_searchable,
        error=error,
        pointer=_point(wanted.q, error) if error else "",
    )


def _point(query: str, error: ErrorDetail) -> str:
    lines = point_at(query, error.column).splitlines() if isinstance(error.column, int) else ()
    return "\n".join(line.removeprefix("  ") for line in lines)


def _group(answer: SessionSearch) -> tuple[HitGroup, ...]:
    members: dict[str, list[Hit]] = {}
    for hit in answer.hits:
        members.setdefault(hit.session_id, []).append(hit)
    return tuple(
        HitGroup(
            session_id=session_id,
            session=answer.sessions.get(session_id),
            hits=tuple(found),
            more=max(hit.more_in_session for hit in found),
            missing=found[0].missing,
        )
        for session_id, found in members.items()
    )
