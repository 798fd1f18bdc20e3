"""A server's catalog of all sessions: an immutable in-memory snapshot, swapped atomically.

The indexer process fills it, so that listing sessions reads neither files nor the database. This
module also has the feed of changes for open pages, and the values that lists can be filtered by.
"""

import asyncio
import secrets
import threading
from collections import Counter, defaultdict, deque
from collections.abc import AsyncIterator, Iterable, Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct, structs

from recollect.documents import events, session_documents, session_listing
from recollect.errors import AmbiguousSession, Candidate, NothingFound
from recollect.health.retention import Retention
from recollect.locations import Transcript, TranscriptKind
from recollect.locations.discovery import refresh
from recollect.locations.references import MIN_PREFIX_LENGTH
from recollect.sync import find_transcripts, mask_listing
from recollect.workspace.session_queries import RuntimeState


class Update(Struct, frozen=True, kw_only=True):
    """What has changed since the last update; None if nothing has."""

    transcripts: tuple[Transcript, ...] = ()
    listings: tuple[tuple[str, session_listing.SessionListing | None], ...] = ()
    """By path; None if the file has no session."""
    gone: tuple[str, ...] = ()
    usage: Mapping[str, session_listing.SessionUsage] = {}
    live: Mapping[str, session_listing.LiveProcess] | None = None
    retentions: Mapping[str, Retention] | None = None
    """How long Claude Code keeps the transcripts of each Claude directory, by its path."""
    is_listed: bool = False
    """Whether every transcript has been listed."""
    is_searchable: bool | None = None
    """Whether the full-text index is up to date."""
    failure: str | None = None
    """Why the index cannot be used."""


class Snapshot(Struct, frozen=True, kw_only=True):
    """The state of all sessions at one moment."""

    version: int = 0
    sessions: tuple[session_listing.SessionListing, ...] = ()
    """Most recently active first."""
    transcripts: Mapping[str, Transcript] = {}
    """By path."""
    present: RuntimeState = RuntimeState()
    is_listed: bool = False
    is_searchable: bool = False
    failure: str | None = None

    def find_listings(self, session_id: str) -> list[session_listing.SessionListing]:
        """Return the sessions with that id, most recently active first."""
        return [each for each in self.sessions if each.id == session_id]


class SessionCatalog:
    """Holds the current snapshot; threads can wait for parts of it."""

    def __init__(self) -> None:
        self.snapshot = Snapshot()
        self._listings: dict[str, session_listing.SessionListing] = {}
        self._transcripts: dict[str, Transcript] = {}
        self._usage: dict[str, session_listing.SessionUsage] = {}
        self._lock = threading.Lock()
        self._has_list = threading.Event()
        self._has_all = threading.Event()
        self._has_texts = threading.Event()

    def wait_for_list(self, seconds: float) -> None:
        """Wait at most `seconds` until there are sessions to list."""
        self._has_list.wait(seconds)

    def wait_for_all(self, seconds: float) -> None:
        """Wait at most `seconds` until every session is listed."""
        self._has_all.wait(seconds)

    def wait_for_texts(self, seconds: float) -> None:
        """Wait at most `seconds` until every text can be searched."""
        self._has_texts.wait(seconds)

    def apply(self, update: Update) -> None:
        """Swap in a snapshot with these changes."""
        with self._lock:
            self._take(update)
            known = self.snapshot
            self.snapshot = Snapshot(
                version=known.version + 1,
                sessions=self._sort() if update.listings or update.gone else known.sessions,
                transcripts=dict(self._transcripts) if _moves(update) else known.transcripts,
                present=self._find_present(update),
                is_listed=known.is_listed or update.is_listed,
                is_searchable=(
                    known.is_searchable if update.is_searchable is None else update.is_searchable
                ),
                failure=update.failure,
            )
        if update.is_searchable:
            self._has_texts.set()
        if update.listings or update.is_listed:
            self._has_list.set()
        if update.is_listed:
            self._has_all.set()

    def _find_present(self, update: Update) -> RuntimeState:
        known = self.snapshot.present
        return RuntimeState(
            live=known.live if update.live is None else update.live,
            retentions=known.retentions if update.retentions is None else update.retentions,
            usage=dict(self._usage) if update.usage else known.usage,
        )

    def fail(self, reason: str) -> None:
        """Record that, and why, the snapshot is no longer updated."""
        with self._lock:
            self.snapshot = structs.replace(self.snapshot, failure=reason)

    def mark_text_index_lost(self) -> None:
        """Mark the full-text index as gone until an update reports that it is back."""
        with self._lock:
            self._has_texts.clear()
            self.snapshot = structs.replace(self.snapshot, is_searchable=False)

    def _take(self, update: Update) -> None:
        for each in update.transcripts:
            self._transcripts[each.file] = each
        for path in update.gone:
            self._transcripts.pop(path, None)
            self._listings.pop(path, None)
        for path, listing in update.listings:
            if listing is None:
                self._listings.pop(path, None)
            else:
                self._listings[path] = listing
        self._usage.update(update.usage)

    def _sort(self) -> tuple[session_listing.SessionListing, ...]:
        return tuple(sorted(self._listings.values(), key=lambda each: (-each.activity, each.path)))


class FoundSession(Struct, frozen=True, kw_only=True):
    """A session: its listing and its files."""

    listing: session_listing.SessionListing
    transcript: Transcript
    relatives: tuple[Transcript, ...]


class UnknownSession(NothingFound):
    """No session has the requested id."""


def find_session(known: Snapshot, session_id: str, project: str | None = None) -> FoundSession:
    """Return the session with that id; of several, the most recently active.

    Raises NothingFound if there is none, or none in that project.
    """
    listings = [
        each
        for each in known.find_listings(session_id)
        if project in (None, each.project) and each.path in known.transcripts
    ]
    if not listings:
        raise UnknownSession(f"There is no session {session_id!r}.")
    listing = listings[0]
    transcript = known.transcripts[listing.path]
    return FoundSession(
        listing=listing,
        transcript=transcript,
        relatives=tuple(_find_relatives(known, listing, transcript)),
    )


def find_on_disk(
    roots: Iterable[Path], session_id: str, project: str | None = None
) -> FoundSession:
    """Return the session with that id without a list: only its own transcript is read."""
    from recollect.library.listings import SessionContext, read_listing  # rarely needed

    context = SessionContext()
    transcripts = {each.file: each for each in find_transcripts(roots)}
    named = (each for each in transcripts.values() if each.name == session_id)
    listings = [mask_listing(found) for each in named if (found := read_listing(each, context))]
    listings.sort(key=lambda each: -each.activity)
    known = Snapshot(sessions=tuple(listings), transcripts=transcripts)
    return find_session(known, session_id, project)


def complete_id(known: Snapshot, prefix: str) -> str | None:
    """Return the id that begins with `prefix`; None if no session has one.

    Raises AmbiguousSession if several ids do.
    """
    if len(prefix) < MIN_PREFIX_LENGTH:
        return None
    # Reversed, so that of several sessions with one id the most recently active is described.
    found = {each.id: each for each in reversed(known.sessions) if each.id.startswith(prefix)}
    if len(found) > 1:
        newest_first = sorted(found.values(), key=lambda each: -each.activity)
        raise AmbiguousSession(prefix, [_make_candidate(each) for each in newest_first])
    return next(iter(found), None)


def _make_candidate(listing: session_listing.SessionListing) -> Candidate:
    title = listing.title or listing.first_prompt
    return Candidate(listing.id, title, listing.cwd or listing.project, listing.activity)


def _find_relatives(
    known: Snapshot, listing: session_listing.SessionListing, transcript: Transcript
) -> list[Transcript]:
    owner = listing.parent_id if listing.is_subagent else listing.id
    # Subagents of 2.0.x are beside the sessions, and only their records name their session.
    flat = {each.path for each in known.sessions if each.is_subagent and each.parent_id == owner}
    return [
        each
        for path, each in known.transcripts.items()
        if each.kind is not TranscriptKind.SESSION
        and each.file != transcript.file
        and (each.session_id == owner or path in flat)
        and each.project_dir == transcript.project_dir
    ]


def refresh_state(transcripts: Iterable[Transcript]) -> list[Transcript]:
    """Return the transcripts as they are now, without deleted ones."""
    return [current for each in transcripts if (current := refresh(each)) is not None]


def _moves(update: Update) -> bool:
    return bool(update.transcripts or update.gone)


KEPT: Final = 500


class ChangeFeed:
    """The last changes, numbered; published from any thread, read in the event loop.

    A page that reconnects sends the id of the last change that it received and gets those after it.
    If they were dropped, or belong to another run of the server, it has to reload.
    """

    def __init__(self) -> None:
        self._run = secrets.token_hex(4)
        self._kept: deque[events.SessionChange] = deque(maxlen=KEPT)
        self._number = 0
        self._listeners: set[asyncio.Event] = set()
        self._loop: asyncio.AbstractEventLoop | None = None

    def attach(self, loop: asyncio.AbstractEventLoop) -> None:
        """Set the event loop of the readers."""
        self._loop = loop

    def publish(self, update: Update) -> None:
        """Publish an update; may be called from any thread."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._add, update)

    def name(self, number: int) -> str:
        """Return the id of the event with that number."""
        return f"{self._run}-{number}"

    @property
    def last_id(self) -> str:
        """The id of the newest event."""
        return self.name(self._number)

    async def iter_since(self, last_id: str | None) -> AsyncIterator[events.SessionChange | None]:
        """Yield the changes after that event, endlessly; None if some of them are missing."""
        number = self._number if last_id is None else self._find_number(last_id)
        if number is None:
            yield None
            number = self._number
        woken = asyncio.Event()
        self._listeners.add(woken)
        try:
            while True:
                woken.clear()
                for change in [each for each in self._kept if each.number > number]:
                    number = change.number
                    yield change
                await woken.wait()
        finally:
            self._listeners.discard(woken)

    def _add(self, update: Update) -> None:
        from recollect.redact.quick_masks import mask_path  # only a server announces changes

        change = events.SessionChange(
            number=self._number + 1,
            sessions=tuple(
                dict.fromkeys([each.id for _, each in update.listings if each] + [*update.usage])
            ),
            gone=tuple(map(mask_path, update.gone)),
            live=None
            if update.live is None
            else {key: each.status for key, each in update.live.items()},
            is_searchable=update.is_searchable,
        )
        if _is_empty(change):
            return
        self._number = change.number
        self._kept.append(change)
        for each in self._listeners:
            each.set()

    def _find_number(self, last_id: str) -> int | None:
        """Return the number of an event of this run, unless later ones have been dropped."""
        run, _, text = last_id.partition("-")
        number = int(text) if text.isdecimal() and len(text) < 12 else -1  # noqa: PLR2004
        oldest = self._kept[0].number - 1 if self._kept else self._number
        return number if run == self._run and oldest <= number <= self._number else None


def _is_empty(change: events.SessionChange) -> bool:
    is_quiet = change.live is None and change.is_searchable is None
    return is_quiet and not change.sessions and not change.gone


class FilterChoices(Struct, frozen=True, kw_only=True):
    """The values that lists can be filtered by; subagents are not counted."""

    sessions: int
    projects: tuple[session_documents.ProjectRow, ...]
    branches: tuple[str, ...]
    models: tuple[str, ...]


class ChoiceCache:
    """Computes the choices once per snapshot, since every page with a list shows them."""

    def __init__(self) -> None:
        self._kept: tuple[int, FilterChoices] | None = None

    def find(self, known: Snapshot) -> FilterChoices:
        """Return the choices of a snapshot."""
        kept = self._kept
        if kept is None or kept[0] != known.version:
            kept = self._kept = (known.version, _find(known))
        return kept[1]


def _find(known: Snapshot) -> FilterChoices:
    own = [each for each in known.sessions if not each.is_subagent]
    return FilterChoices(
        sessions=len(own),
        projects=tuple(_describe_projects(known)),
        branches=tuple(sorted({each.git_branch for each in own if each.git_branch})),
        models=tuple(sorted({model for each in own for model in each.models})),
    )


def _describe_projects(known: Snapshot) -> list[session_documents.ProjectRow]:
    """Return the projects of all sessions, most recently active first."""
    members: defaultdict[str, list[session_listing.SessionListing]] = defaultdict(list)
    for each in known.sessions:
        if not each.is_subagent:
            members[each.project].append(each)
    return [_describe(name, listings) for name, listings in members.items()]


def _describe(
    name: str, listings: list[session_listing.SessionListing]
) -> session_documents.ProjectRow:
    places = Counter(each.cwd for each in listings if each.cwd)
    return session_documents.ProjectRow(
        id=name,
        path=next((place for place, _ in places.most_common(1)), None),
        sessions=len(listings),
        bytes=sum(each.size for each in listings),
        last_active=max(each.activity for each in listings),
        branches=sorted({each.git_branch for each in listings if each.git_branch}),
    )
