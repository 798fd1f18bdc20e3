"""The events of `follow`, and the tracker that turns session status into events.

The records appended to a file since its last `Reset` equal a fresh read of that file. Every event
has an id; resuming from it yields everything after that event, and nothing twice. The status of
running clients is read from their files, so it is refreshed periodically and not for every record.
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Literal

from msgspec import Struct

from recollect.documents.kinds import StatusKind
from recollect.live.cursors import Checkpoint
from recollect.live.session_status import (
    Client,
    SessionStatus,
    TurnState,
    advance_turn,
    determine_status,
    is_at_rest,
    read_clients,
    read_turn_state,
)
from recollect.locations import TranscriptKind
from recollect.records.envelope import Record
from recollect.records.state import ContinuedIn


class Event(Struct, frozen=True, kw_only=True):
    """Something that happened; `checkpoint` is the position after it."""

    checkpoint: Checkpoint = Checkpoint()

    @property
    def id(self) -> str:
        """The position to resume after, as text."""
        return self.checkpoint.id


class EventSubject(Struct, frozen=True, kw_only=True):
    """The file that an event is about, and what it belongs to."""

    path: str
    session_id: str
    """For a subagent, the session it works for; "" while that is not known."""
    agent_id: str | None
    kind: TranscriptKind
    project: str
    """The name of its directory below `projects`."""


class Found(Event, frozen=True, kw_only=True):
    """A file is followed from now on; `is_new` if it did not exist when following began."""

    source: EventSubject
    is_new: bool


class Appended(Event, frozen=True, kw_only=True):
    """A record was appended; `raw` is its bytes, or empty if the line is too long to keep."""

    source: EventSubject
    record: Record
    raw: bytes


class Reset(Event, frozen=True, kw_only=True):
    """The file was rewritten: its earlier records no longer count, and all of it follows again."""

    source: EventSubject
    reason: str


class CaughtUp(Event, frozen=True):
    """Everything on disk has been read; whatever follows is happening now."""


class StatusChanged(Event, frozen=True, kw_only=True):
    """The status of a session changed."""

    session_id: str
    status: SessionStatus


class Continued(Event, frozen=True, kw_only=True):
    """A session continues in another file, after `/clear` or because a record says so."""

    session_id: str
    next_id: str
    reason: str


class Ended(Event, frozen=True, kw_only=True):
    """The client of a session exited, or its file was deleted; it may still be resumed later."""

    session_id: str
    reason: str


class Watching(Event, frozen=True, kw_only=True):
    """How changes are detected from now on; `reason` says why it polls."""

    is_polling: bool
    reason: str


AnyEvent = Found | Appended | Reset | CaughtUp | StatusChanged | Continued | Ended | Watching

Until = Literal["idle", "end"]

FindSession = Callable[[str], Path | None]

SAME_CLIENT = "its client opened another session"
ITS_RECORD = "its transcript says so"


class StatusTracker:
    """Tracks the status of sessions by id, from their records and their running clients."""

    def __init__(self, roots: Iterable[Path]) -> None:
        self._roots = tuple(roots)
        self._turns: dict[str, TurnState] = {}
        self._statuses: dict[str, SessionStatus] = {}
        self._pids: dict[int, str] = {}
        self._clients: dict[str, Client] = {}

    @property
    def session_ids(self) -> tuple[str, ...]:
        """The sessions seen so far."""
        return tuple(self._turns)

    def reset(self, session_id: str) -> None:
        """Forget the turn state of a session whose file is read again from the start."""
        self._turns[session_id] = TurnState()

    def add(self, session_id: str, record: Record, checkpoint: Checkpoint) -> Continued | None:
        """Apply a record of the session's own file; return where it continues, if it says so."""
        if session_id not in self._turns:
            self._turns[session_id] = TurnState()
        self._turns[session_id] = advance_turn(self._turns[session_id], record)
        if isinstance(record, ContinuedIn) and record.continued_in_session_id:
            return Continued(
                checkpoint=checkpoint,
                session_id=session_id,
                next_id=record.continued_in_session_id,
                reason=ITS_RECORD,
            )
        return None

    def refresh(self, find: FindSession, wanted: Iterable[str] = ()) -> None:
        """Read the clients' files, and the turn state of sessions without records yet; blocks."""
        before, self._clients = self._clients, {}
        for root in self._roots:
            self._clients |= read_clients(root, before)
        alive = (session for session, client in self._clients.items() if client.is_alive)
        for session_id in (*wanted, *alive):
            path = find(session_id) if session_id not in self._turns else None
            if path is not None:
                self._turns[session_id] = read_turn_state(path)

    def iter_changes(self, checkpoint: Checkpoint) -> Iterator[StatusChanged | Continued | Ended]:
        """Yield what changed since the last call."""
        yield from self._iter_switches(checkpoint)
        last_pids = {session: pid for pid, session in self._pids.items()}
        for session_id, turn in list(self._turns.items()):
            status = determine_status(
                turn, self._clients.get(session_id), last_pids.get(session_id)
            )
            before = self._statuses.get(session_id)
            if status == before:
                continue
            self._statuses[session_id] = status
            yield StatusChanged(checkpoint=checkpoint, session_id=session_id, status=status)
            if status.kind is StatusKind.ENDED and (before and before.kind) != StatusKind.ENDED:
                yield Ended(checkpoint=checkpoint, session_id=session_id, reason=status.reason)

    def _iter_switches(self, checkpoint: Checkpoint) -> Iterator[Continued]:
        for session_id, client in self._clients.items():
            before = self._pids.get(client.pid)
            if not client.is_alive:
                continue
            self._pids[client.pid] = session_id
            if before in self._turns and before != session_id:
                yield Continued(
                    checkpoint=checkpoint,
                    session_id=before,
                    next_id=session_id,
                    reason=SAME_CLIENT,
                )

    def is_done(self, until: Until, session_ids: Iterable[str]) -> bool:
        """Return whether all these sessions have reached the `until` condition."""
        return all(self._is_done(until, each) for each in session_ids)

    def _is_done(self, until: Until, session_id: str) -> bool:
        status, turn = self._statuses.get(session_id), self._turns.get(session_id, TurnState())
        if status is None:
            return False
        if until == "end":
            return status.kind is StatusKind.ENDED
        return is_at_rest(status, turn)
