"""What the server knows of all sessions, in memory: one state at a time, replaced as a whole.

Filled by the process that keeps the index level, so a request for a list touches no file and no
database. Every thread sees a state from before or from after an update, never a half of one.
"""

import threading
from collections.abc import Iterable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from recollect.errors import NothingFound
from recollect.locations import Transcript, TranscriptKind
from recollect.session.live_process import LiveProcess
from recollect.store.listings import Listing
from recollect.usage.totals import Totals


class SessionUsage(Struct, frozen=True):
    """What a session used, with its subagents, and which models."""

    totals: Totals
    models: tuple[str, ...] = ()


class Update(Struct, frozen=True, kw_only=True):
    """What has changed since the update before; None where nothing has."""

    transcripts: tuple[Transcript, ...] = ()
    listings: tuple[tuple[str, Listing | None], ...] = ()
    """By path; without a listing when the file holds no session."""
    gone: tuple[str, ...] = ()
    usage: Mapping[str, SessionUsage] = {}
    live: Mapping[str, LiveProcess] | None = None
    keeps_days: float | None = None
    """How long Claude Code keeps transcripts."""
    is_listed: bool = False
    """Whether every transcript has been described."""
    is_searchable: bool | None = None
    """Whether the full-text index is level with the files."""
    failure: str | None = None
    """Why the index cannot be used."""


class Known(Struct, frozen=True, kw_only=True):
    """All that is known at one moment."""

    version: int = 0
    sessions: tuple[Listing, ...] = ()
    """The most recently active first."""
    transcripts: Mapping[str, Transcript] = {}
    """By path."""
    usage: Mapping[str, SessionUsage] = {}
    live: Mapping[str, LiveProcess] = {}
    keeps_days: float | None = None
    is_listed: bool = False
    is_searchable: bool = False
    failure: str | None = None

    def find_listings(self, session_id: str) -> list[Listing]:
        """The sessions of that id, the most recently active first."""
        return [each for each in self.sessions if each.id == session_id]


class Shelf:
    """Holds what is known, and says when it has changed."""

    def __init__(self) -> None:
        self.known = Known()
        self._listings: dict[str, Listing] = {}
        self._transcripts: dict[str, Transcript] = {}
        self._usage: dict[str, SessionUsage] = {}
        self._lock = threading.Lock()
        self._has_list = threading.Event()
        self._has_all = threading.Event()

    def wait_for_list(self, seconds: float) -> None:
        """Wait until there are sessions to list, or for that long."""
        self._has_list.wait(seconds)

    def wait_for_all(self, seconds: float) -> None:
        """Wait until every session is listed, or for that long."""
        self._has_all.wait(seconds)

    def apply(self, update: Update) -> None:
        """Take in what has changed."""
        with self._lock:
            self._take(update)
            known = self.known
            self.known = Known(
                version=known.version + 1,
                sessions=self._sort() if update.listings or update.gone else known.sessions,
                transcripts=dict(self._transcripts) if _moves(update) else known.transcripts,
                usage=dict(self._usage) if update.usage else known.usage,
                live=known.live if update.live is None else update.live,
                keeps_days=update.keeps_days or known.keeps_days,
                is_listed=known.is_listed or update.is_listed,
                is_searchable=(
                    known.is_searchable if update.is_searchable is None else update.is_searchable
                ),
                failure=update.failure,
            )
        if update.listings or update.is_listed:
            self._has_list.set()
        if update.is_listed:
            self._has_all.set()

    def fail(self, reason: str) -> None:
        """Say that what is known is no longer kept level."""
        with self._lock:
            self.known = replace(self.known, failure=reason)

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

    def _sort(self) -> tuple[Listing, ...]:
        return tuple(sorted(self._listings.values(), key=lambda each: (-each.activity, each.path)))


class Found(Struct, frozen=True, kw_only=True):
    """One session: what lists show of it, and the files that it consists of."""

    listing: Listing
    transcript: Transcript
    relatives: tuple[Transcript, ...]


def find_session(known: Known, session_id: str, project: str | None = None) -> Found:
    """The session of that id; of several in different projects, the most recently active."""
    listings = [
        each
        for each in known.find_listings(session_id)
        if project in (None, each.project) and each.path in known.transcripts
    ]
    if not listings:
        raise NothingFound(f"There is no session {session_id!r}.")
    listing = listings[0]
    transcript = known.transcripts[listing.path]
    return Found(
        listing=listing,
        transcript=transcript,
        relatives=tuple(_find_relatives(known, listing, transcript)),
    )


def _find_relatives(known: Known, listing: Listing, transcript: Transcript) -> list[Transcript]:
    owner = listing.parent_id if listing.is_subagent else listing.id
    # Subagents of 2.0.x lie beside the sessions, and only their records tell whose they are.
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
    """The transcripts as they are now; those that are gone are left out."""
    return [current for each in transcripts if (current := _look_again(each)) is not None]


def _look_again(transcript: Transcript) -> Transcript | None:
    try:
        status = transcript.path.lstat()
    except OSError:
        return None
    return transcript._replace(
        size=status.st_size, mtime_ns=status.st_mtime_ns, inode=status.st_ino
    )


def _moves(update: Update) -> bool:
    return bool(update.transcripts or update.gone)
