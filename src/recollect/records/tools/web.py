"""Tools that search the web and fetch pages."""

from msgspec import Raw, Struct

from recollect.records.tools.values import ToolInput, ToolOutput


class WebSearchInput(ToolInput, frozen=True):
    """A query, within or without some domains."""

    query: str = ""
    allowed_domains: tuple[str, ...] | None = None
    blocked_domains: tuple[str, ...] | None = None


class WebHit(Struct, frozen=True, kw_only=True, gc=False):
    """One page that a search found."""

    title: str | None = None
    url: str | None = None
    snippet: str | None = None


class WebHits(Struct, frozen=True, kw_only=True, gc=False):
    """What one search on the API's side found."""

    tool_use_id: str | None = None
    content: tuple[WebHit, ...] = ()


class WebSearchResult(ToolOutput, frozen=True, rename="camel"):
    """Hits, and what the searching model wrote between them."""

    query: str = ""
    results: tuple[WebHits | str, ...] = ()
    duration_seconds: float | None = None
    search_count: int | None = None


class WebFetchInput(ToolInput, frozen=True):
    """A page, and what to find out from it."""

    url: str = ""
    prompt: str | None = None


class WebFetchResult(ToolOutput, frozen=True, rename="camel"):
    """How the page was served, and the answer of the model that read it."""

    url: str = ""
    code: int | None = None
    code_text: str | None = None
    bytes: int | None = None
    result: str | None = None
    duration_ms: float | None = None
    artifact_read: Raw = Raw()
