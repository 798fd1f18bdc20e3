"""Search all sessions: update the full-text index, run the query, and find the sessions of hits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from recollect.documents.search_results import Hit, SearchDocument, SessionMention
from recollect.documents.session_listing import SessionListing
from recollect.locations import Transcript, TranscriptKind
from recollect.search import engine
from recollect.search.query_tree import Query
from recollect.store import DamagedIndex, refuse_newer
from recollect.sync import TextProgress, index_texts, list_current

if TYPE_CHECKING:
    from recollect.workspace.workspace import Workspace

_MEGABYTE = 1_000_000
_MAX_COUNTED_BYTES = 8 * _MEGABYTE
"""Maximum size of files that a search reads for turn numbers: about a quarter of a second."""


class SessionSearch(Struct, frozen=True, kw_only=True):
    """The result of a search, and the sessions of its hits."""

    result: engine.SearchResult
    sessions: dict[str, SessionListing]
    """By id; a session that is not listed is missing."""

    @property
    def query(self) -> Query:
        """The query as it was understood."""
        return self.result.query

    @property
    def hits(self) -> tuple[Hit, ...]:
        """The hits, grouped by session, the best session first."""
        return self.result.hits


def describe_search(found: SessionSearch) -> SearchDocument:
    """Return the document of a result."""
    result = found.result
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
        hits=tuple(map(_mask_paths, result.hits)),
        facets=result.facets,
        sessions={each: _mention(found.sessions[each]) for each in ids if each in found.sessions},
    )


def _mask_paths(hit: Hit) -> Hit:
    from recollect.redact.quick_masks import mask_path  # only for JSON

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


def use_local_time(options: engine.SearchOptions | None) -> engine.SearchOptions:
    """Return the options with the local time zone, in which people write dates."""
    options = options or engine.SearchOptions()
    local = datetime.now().astimezone().tzinfo
    return replace(options, timezone=local) if options.timezone is UTC and local else options


def search_workspace(
    workspace: Workspace, text: str, options: engine.SearchOptions | None, seconds: float | None
) -> SessionSearch:
    """Index new texts for at most `seconds`, and search."""
    options = replace(use_local_time(options), max_counted_bytes=_MAX_COUNTED_BYTES)
    # Before anything is indexed, so that a mistake is reported at once.
    engine.check_query(text, options)
    # Otherwise the texts would be indexed again now, and once more by the newer program.
    refuse_newer(workspace.data_directory)
    transcripts = workspace.find_transcripts()
    try:
        result = _index_and_search(workspace, text, transcripts, options, seconds)
    except DamagedIndex:
        # It has been deleted, so the second attempt rebuilds it.
        result = _index_and_search(workspace, text, transcripts, options, seconds)
    sessions = _list_found(workspace, result.hits, transcripts)
    return SessionSearch(result=result, sessions=sessions)


def _index_and_search(
    workspace: Workspace,
    text: str,
    transcripts: Sequence[Transcript],
    options: engine.SearchOptions,
    seconds: float | None,
) -> engine.SearchResult:
    is_complete = update_text_index(workspace, transcripts, seconds)
    directory = workspace.data_directory
    return engine.search(directory, text, transcripts, options, index_complete=is_complete)


def search_as_is(
    workspace: Workspace,
    text: str,
    transcripts: Sequence[Transcript],
    options: engine.SearchOptions,
    rebuild_seconds: float,
) -> engine.SearchResult:
    """Search the index without updating it; rebuild a damaged one for at most `rebuild_seconds`."""
    directory = workspace.data_directory
    try:
        return engine.search(directory, text, transcripts, options, index_complete=False)
    except DamagedIndex:
        # It has been deleted; rebuild as much as the time allows.
        update_text_index(workspace, transcripts, rebuild_seconds)
        return engine.search(directory, text, transcripts, options, index_complete=False)


def update_text_index(
    workspace: Workspace,
    transcripts: Sequence[Transcript],
    seconds: float | None = None,
    *,
    is_quiet: bool = False,
) -> bool:
    """Index texts for at most `seconds`; return whether all are indexed."""

    def report(at: TextProgress) -> None:
        if at.bytes >= _MEGABYTE:
            workspace.report_progress(
                "MB of text", at.bytes_done // _MEGABYTE, at.bytes // _MEGABYTE
            )

    return index_texts(
        workspace.data_directory,
        engine.ANALYZER,
        transcripts,
        seconds=seconds,
        on_progress=None if is_quiet else report,
    )


def _list_found(
    workspace: Workspace, hits: Iterable[Hit], transcripts: Iterable[Transcript]
) -> dict[str, SessionListing]:
    ids = {hit.session_id for hit in hits}
    found = [
        each for each in transcripts if each.kind is TranscriptKind.SESSION and each.name in ids
    ]
    return {each.id: each for each in reversed(list_current(workspace.data_directory, found))}
