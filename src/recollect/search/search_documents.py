"""Convert the result of a search to its document."""

from collections.abc import Mapping

from msgspec.structs import replace

from recollect.documents.search_results import Hit, SearchDocument, SessionMention
from recollect.documents.session_listing import SessionListing
from recollect.search.engine import SearchResult


def describe_result(result: SearchResult, listings: Mapping[str, SessionListing]) -> SearchDocument:
    """Return the document of a result; `listings` are the sessions of its hits, by id."""
    ids = dict.fromkeys(hit.session_id for hit in result.hits)
    return SearchDocument(
        query=str(result.query),
        total=result.total,
        total_sessions=result.total_sessions,
        offset=result.offset,
        left_out=result.left_out,
        did_you_mean=result.did_you_mean,
        corrected=dict(result.corrected),
        split=result.split,
        capped=result.capped,
        is_total_exact=result.is_total_exact,
        index_complete=result.index_complete,
        hits=tuple(map(_hide_path, result.hits)),
        facets=result.facets,
        sessions={each: _mention(listings[each]) for each in ids if each in listings},
    )


def _hide_path(hit: Hit) -> Hit:
    from recollect.redact import mask_path  # only for JSON

    path, project = mask_path(hit.path), mask_path(hit.project)
    is_same = (path, project) == (hit.path, hit.project)
    return hit if is_same else replace(hit, path=path, project=project)


def _mention(listing: SessionListing) -> SessionMention:
    return SessionMention(
        title=listing.title or listing.first_prompt,
        project=listing.project,
        cwd=listing.cwd,
        last_active=listing.last_active,
    )
