"""List sessions and open them: what `Workspace.sessions` and `Workspace.open` do.

The index contains data from transcripts; `RuntimeState` has the rest, which is only known when a
query runs: running clients, expiry and usage. Commands, pages and the library select, sort and
complete listings in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Final

from msgspec import Struct, structs

from recollect.archive.deleted_sessions import is_partial
from recollect.documents.session_listing import LiveProcess, SessionListing, SessionUsage
from recollect.errors import AmbiguousSession, NothingFound, UnreadableInput
from recollect.health.retention import Retention, find_expiry, read_retentions
from recollect.library import session_filters
from recollect.library.processes import find_live_processes
from recollect.locations import Transcript
from recollect.locations.claude_directories import PROJECTS_DIRECTORY
from recollect.locations.references import locate_file, looks_like_file
from recollect.reader.line_blocks import masked_by
from recollect.session.times import milliseconds_between
from recollect.sources.source import is_only_archived, is_present
from recollect.sync import (
    find_deleted_session,
    list_current,
    list_indexed,
    list_newest,
    locate_indexed,
    split_by_size,
)
from recollect.workspace.session_marks import NO_MARK, SessionMark, load_marks

if TYPE_CHECKING:
    from recollect.launch.client_commands import Resumption
    from recollect.lineage import SessionTree
    from recollect.locations.place_names import PlaceName
    from recollect.session.session import Session
    from recollect.workspace.workspace import Workspace


_COUNTED_BYTES: Final = 8 << 20
"""Bytes to read before the time is checked: a fifth of a second."""

_SECONDS_PER_DAY: Final = 86_400

_FILE_BYTES: Final = 256 << 10
"""Bytes that take as long to read as looking up a transcript and saving its figures."""


class RuntimeState(Struct, frozen=True, kw_only=True):
    """Running clients, usage and marks by session id; retention by the directory's path."""

    live: Mapping[str, LiveProcess] = {}
    retentions: Mapping[str, Retention] = {}
    usage: Mapping[str, SessionUsage] = {}
    marks: Mapping[str, SessionMark] = {}


def find_running(roots: Iterable[Path]) -> dict[str, LiveProcess]:
    """Return the running clients by the id of their open session."""
    running: dict[str, LiveProcess] = {}
    for root in roots:
        running |= find_live_processes(root)
    return running


def find_runtime_state(
    workspace: Workspace, usage: Mapping[str, SessionUsage] | None = None
) -> RuntimeState:
    """Return the running clients and the retention of all Claude directories, and all marks."""
    return RuntimeState(
        live=find_running(workspace.roots),
        retentions=read_retentions(workspace.roots),
        usage=usage or {},
        marks=load_marks(workspace.data_directory),
    )


def choose_sessions(
    listings: Iterable[SessionListing], query: session_filters.SessionQuery, present: RuntimeState
) -> list[SessionListing]:
    """Return the sessions that match `query`, in its order; `listings` are sorted by activity."""
    candidates = (
        each
        for each in listings
        if (query.include_subagents or not each.is_subagent)
        and (not query.is_live or each.id in present.live)
        and (not query.is_starred or present.marks.get(each.id, NO_MARK).starred)
        and (query.expires_by is None or expires_by(each, query.expires_by, present))
    )
    found = session_filters.select(candidates, query)
    if query.needs_usage:
        found = [add_usage(each, present) for each in found]
    return found if query.order == "activity" else session_filters.sort_sessions(found, query.order)


def find_last_change(moment: datetime, present: RuntimeState) -> float:
    """Return a time in seconds since 1970: what has changed later is kept beyond `moment`."""
    days = min((each.days for each in present.retentions.values()), default=0)
    # Plus a second, so that rounding never matters.
    return moment.timestamp() - days * _SECONDS_PER_DAY + 1


def expires_by(listing: SessionListing, moment: datetime, present: RuntimeState) -> bool:
    """Return whether Claude Code may delete a session at that time or before."""
    expiry = _find_expiry(listing, present)
    return expiry is not None and expiry <= moment


def _find_expiry(listing: SessionListing, present: RuntimeState) -> datetime | None:
    """Return when Claude Code may delete a session; None for subagents and archived ones."""
    if listing.is_subagent or is_only_archived(listing.path):
        return None
    return find_expiry(listing.path, listing.modified, present.retentions)


def complete_listing(listing: SessionListing, present: RuntimeState) -> SessionListing:
    """Return a listing with its usage, its running client and its expiry."""
    moment = _find_expiry(listing, present)
    mark = present.marks.get(listing.id, NO_MARK)
    return structs.replace(
        add_usage(listing, present),
        duration_ms=milliseconds_between(listing.created, listing.last_active),
        live=None if listing.is_subagent else present.live.get(listing.id),
        expires=moment.isoformat(timespec="seconds") if moment else None,
        is_archived=is_only_archived(listing.path),
        is_partial=is_partial(listing.path),
        starred=mark.starred,
        note=mark.note or None,
        children=tuple(complete_listing(each, present) for each in listing.children),
    )


def add_usage(listing: SessionListing, present: RuntimeState) -> SessionListing:
    """Return a listing with its usage if known; a subagent's usage is part of its session's."""
    usage = None if listing.is_subagent else present.usage.get(listing.id)
    if usage is None:
        return listing
    return structs.replace(
        listing,
        models=listing.models or usage.models,
        replies=usage.replies,
        tokens=usage.tokens,
        copied_tokens=usage.copied_tokens,
        cost_usd=usage.cost_usd,
        client_priced=usage.client_priced,
    )


def list_sessions(
    workspace: Workspace,
    query: session_filters.SessionQuery | None,
    page: tuple[int, int | None],
    *,
    with_usage: bool,
    as_tree: bool,
) -> session_filters.SessionPage:
    """Return one page of sessions; `page` is its number and its size."""
    query = query or session_filters.SessionQuery()
    if as_tree:
        query = structs.replace(query, include_subagents=True)
    transcripts = workspace.find_transcripts(include_subagents=query.include_subagents)
    listings, unsearched = _list_for_page(workspace, transcripts, query, page)
    has_usage = bool(listings) and (with_usage or query.needs_usage)
    usage = workspace.read_usage()[0] if has_usage else {}
    present = find_runtime_state(workspace, usage)
    found = choose_sessions(listings, query, present)
    if as_tree:
        found = _arrange(workspace, listings, found)
    chosen = session_filters.make_page(found, *page)
    sessions = _search_titles(workspace, transcripts, chosen.sessions, unsearched)
    shown = tuple(complete_listing(each, present) for each in sessions)
    return structs.replace(chosen, sessions=shown)


def _list_for_page(
    workspace: Workspace,
    transcripts: Sequence[Transcript],
    query: session_filters.SessionQuery,
    page: tuple[int, int | None],
) -> tuple[list[SessionListing], frozenset[str]]:
    """Return the sessions, and the paths of those whose files were not searched for titles."""
    directory, on_read = workspace.data_directory, workspace.count_files
    number, size = page
    if size and query == session_filters.SessionQuery():
        return list_newest(directory, transcripts, number * size, on_read)
    found = list_current(directory, transcripts, on_read, is_complete=query.needs_figures)
    return found, frozenset()


def _search_titles(
    workspace: Workspace,
    transcripts: Sequence[Transcript],
    shown: Sequence[SessionListing],
    unsearched: frozenset[str],
) -> Sequence[SessionListing]:
    """Return the sessions of a page with their titles."""
    wanted = unsearched.intersection(each.path for each in shown)
    if not wanted:
        return shown
    files = [each for each in transcripts if each.file in wanted]
    titled = {each.path: each for each in list_current(workspace.data_directory, files)}
    return [titled.get(each.path, each) for each in shown]


def list_cached(
    workspace: Workspace, matches: Callable[[SessionListing], bool], limit: int
) -> list[SessionListing]:
    """Return sessions from the index as it is, newest first; files are not read."""
    projects = [root / PROJECTS_DIRECTORY for root in workspace.roots]
    known = (
        each
        for each in list_indexed(workspace.data_directory)
        if matches(each)
        and any(Path(each.path).is_relative_to(project) for project in projects)
        and is_present(each.path)
    )
    return list(islice(known, limit))


def count_failures(
    workspace: Workspace, transcripts: Sequence[Transcript], seconds: float
) -> dict[str, int]:
    """Return the failures by path, of as many of `transcripts` as can be read in `seconds`.

    At least one is read. An unreadable one has none.
    """
    until = monotonic() + seconds
    counts: dict[str, int] = {}
    for batch in split_by_size(transcripts, lambda each: each.size + _FILE_BYTES, _COUNTED_BYTES):
        found = list_current(workspace.data_directory, batch, is_complete=True)
        counts |= dict.fromkeys((each.file for each in batch), 0)
        counts |= {each.path: each.error_count or 0 for each in found}
        if monotonic() >= until:
            break
    return counts


def _arrange(
    workspace: Workspace, listings: Sequence[SessionListing], wanted: Sequence[SessionListing]
) -> list[SessionListing]:
    """Return the trees that contain a wanted session."""
    from recollect.library.sidecar_files import load_clears
    from recollect.lineage import build_trees  # not for every list

    paths = {each.path for each in wanted}
    trees = build_trees(listings, load_clears(workspace.roots))
    return [_to_listing(tree) for tree in trees if any(each.path in paths for each in tree)]


def _to_listing(tree: SessionTree) -> SessionListing:
    return structs.replace(
        tree.listing,
        relation=tree.relation.value if tree.relation else None,
        children=tuple(map(_to_listing, tree.children)),
    )


class FoundPlace(Struct, frozen=True):
    """A session, and the place in it that was named."""

    transcript: Transcript
    place: PlaceName


def find_place(workspace: Workspace, name: str) -> FoundPlace:
    """Return what `name` means; raises NothingFound if none of its readings is a session."""
    from recollect.locations.place_names import read_place  # not for lists

    readings = read_place(name)
    for reading in readings[:-1]:
        try:
            return FoundPlace(_find_named(workspace, reading.session), reading)
        except AmbiguousSession:
            raise
        except NothingFound:
            continue
    return FoundPlace(_find_named(workspace, readings[-1].session), readings[-1])


def _find_named(workspace: Workspace, name: str) -> Transcript:
    if looks_like_file(name):
        return locate_file(Path(name))
    try:
        return locate_indexed(name, workspace.data_directory, workspace.searched_roots)
    except AmbiguousSession:
        raise
    except NothingFound:
        # If there are no sessions at all, say that instead.
        workspace.require_sessions()
        raise


def open_with_prices(transcript: Transcript, workspace: Workspace | None) -> Session:
    """Open a session with the prices of a workspace.

    Without a workspace, only sessions in which an old client recorded a cost are priced, for
    comparison.
    """
    from recollect.library.opening import open_transcript, price_messages, price_recorded_costs

    if workspace is None:
        return open_transcript(transcript, price_recorded_costs)
    return open_transcript(
        transcript, lambda messages: price_messages(messages, workspace.price_list)
    )


def find_matching(workspace: Workspace, query: session_filters.SessionQuery) -> list[Transcript]:
    """Return the sessions that match, oldest first; raises NothingFound if there are none."""
    found = workspace.find_transcripts(include_subagents=False)
    listings = list_current(workspace.data_directory, found)
    wanted = choose_sessions(listings, query, find_runtime_state(workspace))
    if not wanted:
        workspace.require_sessions()
        raise NothingFound(
            f"No project path contains {query.project!r}."
            if query.project
            else "No matching sessions."
        )
    by_path = {each.file: each for each in found}
    return [by_path[listing.path] for listing in reversed(wanted)]


def open_matching(
    workspace: Workspace, query: session_filters.SessionQuery
) -> Iterator[Session | UnreadableInput]:
    """Yield the sessions that match, oldest first; raises NothingFound if there are none."""
    from recollect.library.opening import open_transcript  # the whole model

    found = find_matching(workspace, query)
    for number, transcript in enumerate(found):
        workspace.report_progress("sessions", number, len(found))
        try:
            yield open_transcript(transcript)
        except UnreadableInput as error:
            yield error


def plan_session(
    workspace: Workspace, name: str, *, fork: bool, extra_arguments: Sequence[str]
) -> Resumption:
    """Return how to resume a session; one that was deleted is named in the error."""
    from recollect.launch.client_commands import plan_resume

    transcript = _find_resumable(workspace, name)
    listings = list_current(workspace.data_directory, [transcript])
    cwd = listings[0].cwd if listings else None
    return plan_resume(transcript, cwd, fork=fork, extra_arguments=extra_arguments)


def plan_resume_at(
    workspace: Workspace, name: str, turn: int, extra_arguments: Sequence[str]
) -> Resumption:
    """Copy the session up to a turn, and return how to resume the copy."""
    from recollect.launch.client_commands import plan_resume
    from recollect.launch.session_forks import fork_session
    from recollect.library.opening import open_transcript
    from recollect.locations.references import locate_file

    transcript = _find_resumable(workspace, name)
    listings = list_current(workspace.data_directory, [transcript])
    cwd = listings[0].cwd if listings else None
    # Before anything is written: a session that cannot be resumed needs no copy.
    plan_resume(transcript, cwd)
    # A copy has to be the same as the original.
    with masked_by(None):
        fork = fork_session(open_transcript(transcript), transcript, turn)
    return plan_resume(locate_file(fork.path), cwd, extra_arguments=extra_arguments)


def _find_resumable(workspace: Workspace, name: str) -> Transcript:
    try:
        return workspace.find(name)
    except AmbiguousSession:
        raise
    except NothingFound as error:
        gone = find_deleted_session(name, workspace.data_directory)
        if gone is None:
            raise
        raise NothingFound(
            f"Cannot resume {gone.id}: its transcript no longer exists: {gone.path}\n"
            "Claude Code deletes old transcripts; `recollect doctor` shows which are next."
        ) from error


def find_session_process(transcript: Transcript) -> LiveProcess | None:
    """Return the client that has the session of `transcript` open."""
    root = transcript.root
    return find_live_processes(root).get(transcript.name) if root else None
