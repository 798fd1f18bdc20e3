"""Filter and sort the sessions of a list.

Works on listings only, so lists from files, from the index and from memory have the same results.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from recollect.documents.session_listing import SessionListing
from recollect.errors import UsageError
from recollect.session.times import parse_time

SessionOrder = Literal["activity", "modified", "created", "size", "cost", "tokens"]


class SessionQuery(Struct, frozen=True, kw_only=True):
    """Filters for sessions and their order, newest, largest or most expensive first.

    Texts match anywhere and ignore case. A time without a zone is UTC.
    """

    text: str | None = None
    """Only sessions with these words in the title, the first prompt or the id, in any order."""
    project: str | None = None
    """Only sessions whose project path contains this text."""
    directory: str | None = None
    """Only sessions of this project: a working directory, or the name of its directory below
    `projects/`."""
    branch: str | None = None
    """Only sessions that were last on this git branch."""
    model: str | None = None
    """Only sessions with a reply of a model whose name contains this text."""
    since: datetime | None = None
    """Only sessions active at this time or later."""
    until: datetime | None = None
    """Only sessions that started before this time."""
    has_errors: bool = False
    """Whether to include only sessions with failed tool calls or API errors."""
    has_compactions: bool = False
    """Whether to include only sessions with a compaction."""
    is_live: bool = False
    """Whether to include only sessions that are open in a client right now."""
    is_starred: bool = False
    """Whether to include only sessions that you have starred."""
    expires_by: datetime | None = None
    """Only sessions that Claude Code will delete at this time or before."""
    include_subagents: bool = False
    order: SessionOrder = "activity"

    @property
    def needs_figures(self) -> bool:
        """Whether the filters require reading whole transcripts."""
        return self.model is not None or self.has_errors or self.has_compactions

    @property
    def needs_usage(self) -> bool:
        """Whether the order depends on usage, which only the index has."""
        return self.order in ("cost", "tokens")


class SessionPage(Struct, frozen=True, kw_only=True):
    """One page of a list; `total` counts the sessions of all pages."""

    sessions: tuple[SessionListing, ...]
    total: int
    page: int
    page_size: int

    @property
    def has_more(self) -> bool:
        """Whether there are more pages."""
        return self.page * self.page_size < self.total


def select(listings: Iterable[SessionListing], query: SessionQuery) -> list[SessionListing]:
    """Return the listings that match all filters that depend on transcripts alone."""
    belongs = _make_directory_filter(query.directory)
    return [each for each in listings if belongs(each) and _matches(each, query)]


def _matches(listing: SessionListing, query: SessionQuery) -> bool:
    return (
        has_words(query.text, listing.title, listing.first_prompt, listing.id)
        and contains(query.project, listing.cwd, listing.project)
        and query.branch in (None, listing.git_branch)
        and contains(query.model, *listing.models)
        and _is_in_range(listing, query.since, query.until)
        and bool(listing.error_count or not query.has_errors)
        and bool(listing.compaction_count or not query.has_compactions)
    )


def has_words(words: str | None, *texts: str | None) -> bool:
    """Return whether `texts` together contain every word, in any order and ignoring case."""
    whole = "\n".join(filter(None, texts)).casefold() if words else ""
    return all(word in whole for word in (words or "").casefold().split())


def contains(wanted: str | None, *texts: str | None) -> bool:
    """Return whether one of `texts` contains `wanted`, ignoring case; True without `wanted`."""
    return not wanted or any(wanted.casefold() in (text or "").casefold() for text in texts)


def _is_in_range(listing: SessionListing, since: datetime | None, until: datetime | None) -> bool:
    return (since is None or listing.activity >= _to_seconds(since)) and (
        until is None or find_start(listing) < _to_seconds(until)
    )


def _to_seconds(moment: datetime) -> float:
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _make_directory_filter(directory: str | None) -> Callable[[SessionListing], bool]:
    if not directory:
        return lambda _: True
    from recollect.locations.references import work_directory  # rarely needed

    place = work_directory(directory)

    # Comparing paths is slow, and thousands of sessions share a few dozen of them.
    @cache
    def is_in_directory(name: str, cwd: str | None) -> bool:
        if name == directory or (cwd and place.is_at(cwd)):
            return True
        return place.is_named(name) and (cwd is None or not place.collides_with(cwd))

    return lambda listing: is_in_directory(listing.project, listing.cwd)


def hide_path(listing: SessionListing) -> SessionListing:
    """Mask the path of a session for output: like other names, it may contain a secret."""
    from recollect.redact.quick_masks import mask_path  # only for JSON

    path = mask_path(listing.path)
    return listing if path == listing.path else replace(listing, path=path)


def find_start(listing: SessionListing) -> float:
    """Return when a session started, or its file was written if unknown, in seconds since 1970."""
    moment = parse_time(listing.created)
    return listing.modified if moment is None else moment.timestamp()


def sort_sessions(listings: Iterable[SessionListing], order: SessionOrder) -> list[SessionListing]:
    """Return the listings in the given order; usage must be filled in already."""
    keys: dict[SessionOrder, Callable[[SessionListing], float]] = {
        "activity": lambda each: each.activity,
        "modified": lambda each: each.modified,
        "created": find_start,
        "size": lambda each: each.size,
        "cost": lambda each: -1 if each.tokens is None else each.cost_usd or 0,
        "tokens": lambda each: -1 if each.tokens is None else each.tokens,
    }
    key = keys[order]
    return sorted(listings, key=lambda each: (-key(each), -each.activity, each.path))


def make_page(
    sessions: Sequence[SessionListing], page: int = 1, page_size: int | None = None
) -> SessionPage:
    """Return one page of `sessions`; all of them without `page_size`."""
    size = max(len(sessions), 1) if page_size is None else page_size
    if page < 1 or size < 1:
        raise UsageError("Page numbers start at 1, and the page size must be at least 1.")
    start = (page - 1) * size
    return SessionPage(
        sessions=tuple(sessions[start : start + size]),
        total=len(sessions),
        page=page,
        page_size=size,
    )
