"""Searching all sessions, or one, by the query language of the command line."""

from datetime import UTC, datetime, tzinfo
from typing import Annotated

from msgspec import Meta, Struct

from recollect.documents.search_results import SNIPPET_WIDTH, SearchDocument
from recollect.errors import IndexFailure
from recollect.search.engine import SearchOptions, SearchResult, search
from recollect.search.query_parser import parse_query
from recollect.search.search_documents import describe_result
from recollect.store import DamagedIndex
from recollect.web.parameters import Id
from recollect.web.services import Services
from recollect.web.session_catalog import Snapshot


class SearchParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is sought, and how much is shown."""

    q: Annotated[str, Meta(max_length=1000, description="The query; docs/search.md has it all.")]
    limit: Annotated[int, Meta(ge=1, le=200, description="Sessions at most.")] = 20
    per_session: Annotated[int, Meta(ge=1, le=500, description="Hits of each at most.")] = 3
    offset: Annotated[int, Meta(ge=0, le=1_000_000, description="Sessions to skip.")] = 0
    recent: Annotated[bool, Meta(description="The newest first instead of the best.")] = False
    session: Annotated[Id, Meta(description="Only in this session.")] | None = None


def find_texts(services: Services, wanted: SearchParameters) -> SearchDocument:
    """The hits of a query."""
    known = services.catalog.snapshot
    result = run_search(services, known, wanted)
    ids = {hit.session_id for hit in result.hits}
    # Of several sessions with one id the first counts, as everywhere.
    listings = {each.id: each for each in reversed(known.sessions) if each.id in ids}
    query = parse_query(_make_query(wanted), timezone=_find_timezone())
    return describe_result(result, query, listings)


def _find_timezone() -> tzinfo:
    return datetime.now().astimezone().tzinfo or UTC


def _make_query(wanted: SearchParameters) -> str:
    return f"session:{wanted.session} {wanted.q}" if wanted.session else wanted.q


def run_search(services: Services, known: Snapshot, wanted: SearchParameters) -> SearchResult:
    """The result of a query; raises QueryError for one that cannot be read."""
    options = SearchOptions(
        limit=wanted.limit,
        offset=wanted.offset,
        per_session=wanted.per_session,
        recent=wanted.recent,
        width=SNIPPET_WIDTH,
        timezone=_find_timezone(),
    )
    # Read alone first, so that a mistake is told in the words that were typed.
    parse_query(wanted.q, timezone=options.timezone)
    text = _make_query(wanted)
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
