"""Lists of sessions and sessions by name, read from the files each time, without an index.

The order by activity is lazy: no record is newer than its file, so the newest sessions are known
long before the last file has been read. Finding a title among thousands of sessions is slow;
`recollect.workspace` gives the same answers from an index.
"""

from collections.abc import Iterable, Iterator, Sequence
from heapq import heappop, heappush
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import get_args

from recollect.documents.session_listing import SessionListing
from recollect.errors import UsageError
from recollect.library.listings import SessionContext, modified_of, read_listing
from recollect.library.session_filters import (
    SessionOrder,
    SessionPage,
    SessionQuery,
    make_page,
    select,
    sort_sessions,
)
from recollect.library.transcript_ends import find_cwd
from recollect.locations import (
    Transcript,
    TranscriptKind,
    discover_root,
    resolve_roots,
    select_transcripts,
)
from recollect.locations.references import SessionFacts, match_session

Root = str | Path | Sequence[str | Path] | None
"""A Claude directory, several of them, or None for those that the environment names."""


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
    """Return one page of the sessions that match `query`; pages are counted from 1.

    `project` is given as for `iter_sessions`.
    """
    query = query or SessionQuery()
    if query.needs_usage or query.order not in get_args(SessionOrder):
        raise UsageError(
            f"Files alone cannot be sorted by {query.order!r}. Use activity, modified, created or "
            "size, or `Workspace.sessions`, which knows the usage of sessions."
        )
    found = iter_sessions(
        project, include_subagents=include_subagents or query.include_subagents, root=root
    )
    matching = [each for each in select(found, query) if each.live or not query.is_live]
    return make_page(sort_sessions(matching, query.order), page, page_size)


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
