"""`/search`: results by session, or the error in the query."""

from collections.abc import Mapping
from typing import Annotated, Final

from msgspec import Meta, Struct

from recollect.documents.search_results import Facet, Hit
from recollect.documents.session_documents import ErrorDetail
from recollect.documents.session_listing import SessionListing
from recollect.search.query_parser import QueryError, group_query, point_at
from recollect.web.history_endpoints import SearchParameters, run_search
from recollect.web.http_messages import Id, describe_failure
from recollect.web.services import Services
from recollect.web.templating import PageContent
from recollect.workspace.searching import SessionSearch

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
