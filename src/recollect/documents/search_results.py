"""Search results: hits with snippets, and the titles of their sessions."""

from typing import Final, Literal

from msgspec import Struct

SNIPPET_WIDTH: Final = 220
"""Maximum length of a snippet in JSON and on pages, in characters."""


class Snippet(Struct, frozen=True):
    """One line of a text, with the spans to highlight."""

    text: str
    marks: tuple[tuple[int, int], ...]


class Hit(Struct, frozen=True, kw_only=True):
    """A text that matches the query."""

    session_id: str
    uuid: str | None
    link: str
    project: str
    path: str
    offset: int | None
    """Where the record starts in the file; None if the title is in another file."""
    part: str
    tool: str | None
    time: str | None
    is_error: bool
    is_subagent: bool
    snippet: Snippet
    more_in_session: int
    """Number of hits in its session that are not listed."""
    missing: tuple[str, ...] = ()
    """Words of the query that no text of its session contains."""
    turn: int | None = None
    """The turn of the session; None in a subagent, and for records appended a moment ago."""


class FacetValue(Struct, frozen=True):
    """One value of a facet."""

    value: str
    count: int
    """Hits with this value."""
    query: str
    """The term to add to a query for only these hits; put a query with OR in parentheses first."""


class Facet(Struct, frozen=True):
    """Counts of hits by the values of a field, most frequent first."""

    name: Literal["project", "role", "tool", "error", "model", "date"]
    values: tuple[FacetValue, ...]


class SessionMention(Struct, frozen=True, kw_only=True):
    """The title and project of a hit's session."""

    title: str | None
    project: str
    cwd: str | None
    last_active: str | None


class SearchDocument(Struct, frozen=True, kw_only=True):
    """The result of a query; `total` counts all hits, `hits` are the best of each session."""

    schema: Literal["recollect.search/2"] = "recollect.search/2"
    query: str
    """The query in canonical form."""
    total: int
    total_sessions: int
    """Number of sessions with a hit; `hits` has those from `offset` on."""
    offset: int
    is_total_exact: bool
    """False if there may be more hits than could be found in time."""
    index_complete: bool
    """False while texts are still being indexed: there may be more hits."""
    left_out: tuple[str, ...]
    """Words of the query that occur nowhere."""
    did_you_mean: str | None
    """The query with misspelt words and fields corrected, without words that are left out; its
    words are searched for already."""
    split: tuple[str, ...]
    """Names that occur nowhere as a whole: their parts are searched for instead."""
    corrected: dict[str, str] = {}
    """Words that occur nowhere, with the words searched for instead."""
    capped: tuple[str, ...] = ()
    """Words contained in more than 10,000 words, of which only the shortest were searched."""
    hits: tuple[Hit, ...]
    """Grouped by session, best session first."""
    sessions: dict[str, SessionMention]
    """The sessions of the hits, by id."""
    facets: tuple[Facet, ...] = ()
    """Counts of all hits by field, if requested."""
