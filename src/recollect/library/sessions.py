"""Lists of sessions: which there are, in which order, page by page.

Knows roots, projects and orders; refuses a database, so every answer is read from the files again.
The order by activity is lazy: no record is newer than its file, so the newest sessions are known
long before the last file has been read.

A session by the names that people have for it, with what is known of each read from its file.

Slow over thousands of sessions when a title is asked for; where there is an index,
`recollect.sync.session_lists` gives the same answer from it.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from heapq import heappop, heappush
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Final, Literal

from msgspec import Struct

from recollect.documents.session_listing import SessionListing
from recollect.errors import UsageError
from recollect.library.listings import SessionContext, modified_of, read_listing
from recollect.library.session_filters import find_beginning, holds, is_under_way
from recollect.library.transcript_ends import find_cwd
from recollect.locations import (
    Transcript,
    TranscriptKind,
    discover_root,
    resolve_roots,
    select_transcripts,
)
from recollect.locations.references import SessionFacts, match_session

Order = Literal["activity", "modified", "created"]

Root = str | Path | Sequence[str | Path] | None
"""A Claude directory, several of them, or None for those that the environment names."""

_ORDERS: Final = ("activity", "modified", "created")


class SessionQuery(Struct, frozen=True, kw_only=True):
    """Which sessions are wanted beyond their project, and in which order, newest first.

    `text` stands in the title or the first prompt, in any case of letters; `since` and `until` are
    the ends of a stretch of time in which the session was under way. A time without a zone is UTC.
    """

    text: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    order: Order = "activity"


class SessionPage(Struct, frozen=True, kw_only=True):
    """One page of a list; `total` counts the sessions of all pages."""

    sessions: tuple[SessionListing, ...]
    total: int
    page: int
    page_size: int

    @property
    def has_more(self) -> bool:
        """Whether there is a page behind this one."""
        return self.page * self.page_size < self.total


def iter_sessions(
    project: str | Path | None = None,
    *,
    include_subagents: bool = False,
    root: Root = None,
) -> Iterator[SessionListing]:
    """The sessions of `root`, or of all roots, the most recently active first.

    `project` is a work directory, or the name of a project's directory below `projects/`. Raises
    NothingFound when there is no root at all.
    """
    transcripts = list_transcripts(project, include_subagents=include_subagents, root=root)
    return iter_by_activity(transcripts, SessionContext())


def list_sessions(
    project: str | Path | None = None,
    query: SessionQuery | None = None,
    *,
    include_subagents: bool = False,
    page: int = 1,
    page_size: int = 20,
    root: Root = None,
) -> SessionPage:
    """One page of the sessions that `query` wants; pages are counted from 1."""
    if page < 1 or page_size < 1:
        raise UsageError("Pages are counted from 1, and a page has room for one session at least.")
    query = query or SessionQuery()
    listings = iter_sessions(project, include_subagents=include_subagents, root=root)
    wanted = _sort([listing for listing in listings if _fits(listing, query)], query.order)
    start = (page - 1) * page_size
    return SessionPage(
        sessions=tuple(wanted[start : start + page_size]),
        total=len(wanted),
        page=page,
        page_size=page_size,
    )


def list_transcripts(
    project: str | Path | None, *, include_subagents: bool, root: Root
) -> tuple[Transcript, ...]:
    """The transcripts below all roots that belong to a project, none of them opened for more."""
    places = resolve_roots(list_roots(root))
    found = [
        transcript
        for place in places
        for transcript in discover_root(place).transcripts
        if include_subagents or transcript.kind is TranscriptKind.SESSION
    ]
    if project is None:
        return tuple(found)
    if _is_directory_name(project):
        return tuple(each for each in found if project in (each.project, each.project_dir.name))
    return select_transcripts(found, _complete_path(project), find_cwd)


def list_roots(root: Root) -> tuple[Path, ...]:
    """The directories that `root` names; none when the environment shall name them."""
    if root is None:
        return ()
    return (Path(root),) if isinstance(root, str | Path) else tuple(map(Path, root))


def _is_directory_name(project: str | Path) -> bool:
    """Whether `project` can only be the name of a directory below `projects/`, and no path."""
    return isinstance(project, str) and project not in {".", ".."} and not {"/", "\\"} & {*project}


def _complete_path(project: str | Path) -> str:
    """A work directory as records would write it; one of another system is left as it is."""
    is_complete = any(kind(project).is_absolute() for kind in (PurePosixPath, PureWindowsPath))
    return str(project) if is_complete else str(Path(project).resolve())


def iter_by_activity(
    transcripts: Iterable[Transcript], surroundings: SessionContext
) -> Iterator[SessionListing]:
    """What lists show of `transcripts`, the most recently active first, read as it is asked for."""
    read: list[tuple[float, str, SessionListing]] = []
    for transcript in sorted(transcripts, key=modified_of, reverse=True):
        while read and -read[0][0] > modified_of(transcript):
            yield heappop(read)[-1]
        listing = read_listing(transcript, surroundings)
        if listing is not None:
            heappush(read, (-listing.activity, listing.path, listing))
    while read:
        yield heappop(read)[-1]


def _fits(listing: SessionListing, query: SessionQuery) -> bool:
    return holds(query.text, listing.title, listing.first_prompt) and is_under_way(
        listing, query.since, query.until
    )


def _sort(listings: list[SessionListing], order: Order) -> list[SessionListing]:
    if order not in _ORDERS:
        raise UsageError(f"Sessions are ordered by {', '.join(_ORDERS)}, not by {order!r}.")
    if order == "modified":
        return sorted(listings, key=lambda listing: listing.modified, reverse=True)
    return sorted(listings, key=_created, reverse=True) if order == "created" else listings


def _created(listing: SessionListing) -> float:
    return find_beginning(listing.created, listing.modified)


def locate_session(ref: str, *, root: Root = None) -> Transcript:
    """The one transcript that `ref` names; it is never taken for a path.

    Raises NothingFound when there is none and AmbiguousSession when there are several.
    """
    places = resolve_roots(list_roots(root))
    transcripts = list_transcripts(None, include_subagents=True, root=places)
    return match_session(ref, transcripts, places, _read)


def _read(transcripts: Sequence[Transcript]) -> Iterator[SessionFacts]:
    by_path = {each.file: each for each in transcripts}
    for each in iter_by_activity(transcripts, SessionContext()):
        yield SessionFacts(by_path[each.path], each.title, each.cwd or each.project, each.activity)
