"""Searching all sessions, or one, by the query language of the command line."""

from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from recollect.errors import IndexFailure
from recollect.search.engine import Hit, SearchOptions, SearchResult, search
from recollect.search.query_parser import parse_query
from recollect.store.integrity import DamagedIndex
from recollect.web.parameters import Id
from recollect.web.services import Services
from recollect.web.session_catalog import Snapshot

SNIPPET_WIDTH = 220


class SearchParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is sought, and how much is shown."""

    q: Annotated[str, Meta(max_length=1000, description="The query; docs/search.md has it all.")]
    limit: Annotated[int, Meta(ge=1, le=200, description="Sessions at most.")] = 20
    per_session: Annotated[int, Meta(ge=1, le=500, description="Hits of each at most.")] = 3
    recent: Annotated[bool, Meta(description="The newest first instead of the best.")] = False
    session: Annotated[Id, Meta(description="Only in this session.")] | None = None


class SessionMention(Struct, frozen=True, kw_only=True):
    """What a hit's session is called."""

    title: str | None
    project: str
    cwd: str | None
    last_active: str | None


class SearchDocument(Struct, frozen=True, kw_only=True):
    """What was found; `total` counts hits, of which some sessions show only the best."""

    query: str
    total: int
    is_total_exact: bool
    index_complete: bool
    """False while texts are still being indexed: there may be more."""
    hits: tuple[Hit, ...]
    sessions: dict[str, SessionMention]
    """The sessions of the hits, by id."""


def find_texts(services: Services, wanted: SearchParameters) -> SearchDocument:
    """The hits of a query."""
    known = services.catalog.snapshot
    result = run_search(services, known, wanted)
    return SearchDocument(
        query=wanted.q,
        total=result.total,
        is_total_exact=result.is_total_exact,
        index_complete=result.index_complete,
        hits=result.hits,
        sessions=mention_sessions(known, result),
    )


def run_search(services: Services, known: Snapshot, wanted: SearchParameters) -> SearchResult:
    """The result of a query; raises QueryError for one that cannot be read."""
    options = SearchOptions(
        limit=wanted.limit,
        per_session=wanted.per_session,
        recent=wanted.recent,
        width=SNIPPET_WIDTH,
    )
    timezone = datetime.now().astimezone().tzinfo
    if timezone is not None:
        options = replace(options, timezone=timezone)
    # Read alone first, so that a mistake is told in the words that were typed.
    parse_query(wanted.q, timezone=options.timezone)
    text = f"session:{wanted.session} {wanted.q}" if wanted.session else wanted.q
    result = _search(services, known, text, options)
    if result is None:
        services.rebuild_texts()
        result = _search(services, services.catalog.snapshot, text, options)
    if result is None:
        raise IndexFailure("The full-text index is being built again. Try again in a moment.")
    return result


def _search(
    services: Services, known: Snapshot, text: str, options: SearchOptions
) -> SearchResult | None:
    """The result of a query; None if the full-text index is not what it was when it was made."""
    try:
        result = search(
            services.settings.data_directory,
            text,
            list(known.transcripts.values()),
            options,
            index_complete=known.is_searchable,
        )
    except DamagedIndex:
        return None
    return result if result.index_complete == known.is_searchable else None


def mention_sessions(known: Snapshot, result: SearchResult) -> dict[str, SessionMention]:
    """What the sessions of some hits are called."""
    wanted = {hit.session_id for hit in result.hits}
    return {
        each.id: SessionMention(
            title=each.title or each.first_prompt,
            project=each.project,
            cwd=each.cwd,
            last_active=each.last_active,
        )
        for each in reversed(known.sessions)
        if each.id in wanted
    }
