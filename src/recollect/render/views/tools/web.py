"""Searches of the web and pages fetched from it, by the client or on the API's side."""

from msgspec import Raw, Struct

from recollect.records.blocks import ServerToolResult
from recollect.records.decoding import decode_value
from recollect.records.tools.web import (
    WebFetchInput,
    WebFetchResult,
    WebHit,
    WebHits,
    WebSearchInput,
    WebSearchResult,
)
from recollect.render.views.parts import Entry, Part
from recollect.render.views.tools.view import Case, ToolView
from recollect.render.views.values import show_entries, show_fields, show_json, show_prose
from recollect.render.views.words import count_of, join_facts, size_of, take_line


class _Query(Struct, frozen=True):
    """The input of a tool that runs on the API's side."""

    query: str = ""
    url: str = ""


class _Hit(Struct, frozen=True):
    """A page that a search on the API's side found."""

    title: str | None = None
    url: str | None = None
    page_age: str | None = None


def describe_search(case: Case) -> ToolView | None:
    """A query and the pages that were found."""
    wanted, result = case.input, case.result
    if not isinstance(wanted, WebSearchInput) or not wanted.query:
        return None
    found = result.results if isinstance(result, WebSearchResult) else ()
    hits = sum(len(group.content) for group in found if isinstance(group, WebHits))
    said = show_prose(case.text) if not isinstance(result, WebSearchResult) else ()
    return ToolView(
        title=take_line(wanted.query),
        summary=count_of(hits, "result") if found else take_line(case.text),
        input=show_fields(("only", wanted.allowed_domains), ("without", wanted.blocked_domains)),
        output=(*(part for group in found for part in _show_group(group)), *said),
    )


def _show_group(group: WebHits | str) -> tuple[Part, ...]:
    if isinstance(group, str):
        return show_prose(group)
    return show_entries(map(_show_hit, group.content))


def _show_hit(hit: WebHit) -> Entry:
    return Entry(hit.title or hit.url or "", url=hit.url, note=hit.snippet)


def describe_fetch(case: Case) -> ToolView | None:
    """A page and the answer that was found in it."""
    wanted, result = case.input, case.result
    if not isinstance(wanted, WebFetchInput) or not wanted.url:
        return None
    page = result if isinstance(result, WebFetchResult) else WebFetchResult()
    code = None if page.code is None else f"{page.code} {page.code_text or ''}".rstrip()
    return ToolView(
        title=wanted.url,
        summary=join_facts(code, None if page.bytes is None else size_of(page.bytes)),
        input=(
            *show_entries((Entry(wanted.url, url=wanted.url),)),
            *show_prose(wanted.prompt),
        ),
        output=show_prose(page.result or case.text),
    )


def describe_server_search(case: Case) -> ToolView | None:
    """A search on the API's side."""
    query, hits = _read_query(case), _read_hits(case)
    if not query.query or hits is None:
        return None
    return ToolView(
        title=take_line(query.query),
        summary=count_of(len(hits), "result"),
        output=show_entries(
            Entry(hit.title or hit.url or "", url=hit.url, note=hit.page_age) for hit in hits
        ),
    )


def describe_server_fetch(case: Case) -> ToolView | None:
    """A page that the API fetched."""
    query, block = _read_query(case), case.call.block
    if not query.url:
        return None
    found = (show_json(block.content),) if isinstance(block, ServerToolResult) else ()
    link = show_entries((Entry(query.url, url=query.url),))
    return ToolView(title=query.url, input=link, output=found)


def _read_query(case: Case) -> _Query:
    raw: Raw | bytes = case.call.raw_input
    if bytes(raw).startswith(b'"'):
        # Clients up to 2.0.77 keep the input of a tool on the API's side as JSON within a string.
        raw = (decode_value(raw, str) or "").encode(errors="replace")
    return decode_value(raw, _Query) or _Query()


def _read_hits(case: Case) -> tuple[_Hit, ...] | None:
    block = case.call.block
    raw = block.content if isinstance(block, ServerToolResult) else Raw(b"[]")
    return decode_value(raw, tuple[_Hit, ...])
