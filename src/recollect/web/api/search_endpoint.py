"""Search all sessions, or one, with the query language of the command line."""

from typing import Annotated

from msgspec import Meta, Struct

from recollect.documents.search_results import SNIPPET_WIDTH, SearchDocument
from recollect.search.engine import SearchOptions
from recollect.search.query_parser import parse_query
from recollect.search.search_documents import describe_result
from recollect.web.parameters import Id
from recollect.web.services import Services
from recollect.workspace.searching import SearchAnswer, use_local_time


class SearchParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is sought, and how much is shown."""

    q: Annotated[str, Meta(max_length=1000, description="The query; docs/search.md has it all.")]
    limit: Annotated[int, Meta(ge=1, le=200, description="Sessions at most.")] = 20
    per_session: Annotated[int, Meta(ge=1, le=500, description="Hits of each at most.")] = 3
    offset: Annotated[int, Meta(ge=0, le=1_000_000, description="Sessions to skip.")] = 0
    recent: Annotated[bool, Meta(description="The newest first instead of the best.")] = False
    facets: Annotated[bool, Meta(description="Count hits by project, role, tool and so on.")] = (
        False
    )
    session: Annotated[Id, Meta(description="Only in this session.")] | None = None


def find_texts(services: Services, wanted: SearchParameters) -> SearchDocument:
    """Return the hits of a query."""
    answer = run_search(services, wanted)
    return describe_result(answer.result, answer.query, answer.sessions)


def run_search(services: Services, wanted: SearchParameters) -> SearchAnswer:
    """Run a query; raises QueryError if it is not valid."""
    options = use_local_time(
        SearchOptions(
            limit=wanted.limit,
            offset=wanted.offset,
            per_session=wanted.per_session,
            recent=wanted.recent,
            facets=wanted.facets,
            width=SNIPPET_WIDTH,
        )
    )
    # By itself first, so that an error message quotes what was typed.
    parse_query(wanted.q, timezone=options.timezone)
    text = f"session:{wanted.session} {wanted.q}" if wanted.session else wanted.q
    return services.workspace.search(text, options)
