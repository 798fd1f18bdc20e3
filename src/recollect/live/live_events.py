"""The events of `follow` and their documents, the tracker that turns session status into events,
and cursors: how far a follower has read, as a string short enough to be an event id.

A mark is an offset and the hash of everything before it, so it also holds for a copy or a restored
file, which device and inode would not. A cursor has marks only for files that were read. The others
only have to be unchanged since then: `since_ns` is the newest mtime of any file when following
began, so only the file system's own clock is used.

The records appended to a file since its last `Reset` equal a fresh read of that file. Every event
has an id; resuming from it yields everything after that event, and nothing twice. The status of
running clients is read from their files, so it is refreshed periodically and not for every record.
"""

import base64
import binascii
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct

from recollect.digests import blake2b
from recollect.documents.events import EVENT_SCHEMA, EventDocument, EventName
from recollect.documents.kinds import StatusKind
from recollect.errors import UsageError
from recollect.live import session_status
from recollect.locations import TranscriptKind
from recollect.records.decoding import decode_value
from recollect.records.envelope import Chain, Damaged, Record
from recollect.records.state import ContinuedIn
from recollect.redact.quick_masks import mask_path

MAX_MARKS: Final = 64
"""Maximum number of marks in a cursor. A file whose mark was dropped is read from its start after
resuming."""

_VERSION: Final = "1."
_KEY_BYTES: Final = 8


class Mark(Struct, frozen=True, array_like=True, gc=False):
    """A position in a file: `digest` is the hash of its first `offset` bytes."""

    offset: int
    digest: bytes


class Cursor(Struct, frozen=True, array_like=True):
    """A position across all followed files, from which following can resume."""

    since_ns: int = 0
    marks: dict[bytes, Mark] = {}

    def find_mark(self, path: str) -> Mark | None:
        """Return the mark of the file at `path`; None if it has none."""
        return self.marks.get(path_key(path))

    def is_unchanged(self, mtime_ns: int) -> bool:
        """Return whether a file with this mtime has certainly not been written since."""
        return mtime_ns < self.since_ns


class Checkpoint(Struct, frozen=True):
    """The position after one event: the cursor before it, and one newer mark."""

    cursor: Cursor = Cursor()
    key: bytes = b""
    mark: Mark | None = None

    @property
    def id(self) -> str:
        """Return the cursor as text, encoded on access because few consumers need it."""
        return encode_cursor(advance(self.cursor, {self.key: self.mark} if self.mark else {}))


def path_key(path: str) -> bytes:
    """Return the key of the file at `path` in a cursor."""
    return blake2b(os.fsencode(path), digest_size=_KEY_BYTES).digest()


def advance(cursor: Cursor, marks: Mapping[bytes, Mark]) -> Cursor:
    """Return `cursor` with newer marks, dropping the oldest beyond `MAX_MARKS`."""
    if not marks:
        return cursor
    kept = {key: mark for key, mark in cursor.marks.items() if key not in marks} | {**marks}
    return Cursor(cursor.since_ns, dict(list(kept.items())[-MAX_MARKS:]))


def encode_cursor(cursor: Cursor) -> str:
    """Return the cursor as text that is safe in a URL and in a header."""
    data = base64.urlsafe_b64encode(msgspec.msgpack.encode(cursor))
    return _VERSION + data.decode().rstrip("=")


def decode_cursor(text: str) -> Cursor:
    """Return the cursor encoded in `text`; raises UsageError if it is not one."""
    body = text.removeprefix(_VERSION)
    try:
        data = base64.b64decode(body + "=" * (-len(body) % 4), altchars=b"-_", validate=True)
        return msgspec.msgpack.decode(data, type=Cursor)
    except (ValueError, binascii.Error, msgspec.DecodeError):
        raise UsageError(
            "This is not a position from `follow`. Pass the id of an event unchanged, "
            "or start without one."
        ) from None


class Event(Struct, frozen=True, kw_only=True):
    """An event; `checkpoint` is the position after it."""

    checkpoint: Checkpoint = Checkpoint()

    @property
    def id(self) -> str:
        """Return the position to resume after, as text."""
        return self.checkpoint.id


class EventSubject(Struct, frozen=True, kw_only=True):
    """The file of an event, and its session and project."""

    path: str
    session_id: str
    """For a subagent, the session that started it; "" while unknown."""
    agent_id: str | None
    kind: TranscriptKind
    project: str
    """The name of the project directory below `projects`."""


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
    """Everything on disk has been read; later events are live."""


class StatusChanged(Event, frozen=True, kw_only=True):
    """The status of a session changed."""

    session_id: str
    status: session_status.SessionStatus


class Continued(Event, frozen=True, kw_only=True):
    """A session continues in another file, after `/clear` or because a record says so."""

    session_id: str
    next_id: str
    reason: str


class Ended(Event, frozen=True, kw_only=True):
    """The client of a session exited, or its file was deleted; the session may still be resumed."""

    session_id: str
    reason: str


class Watching(Event, frozen=True, kw_only=True):
    """How changes are detected from now on; `reason` explains why it polls."""

    is_polling: bool
    reason: str


AnyEvent = Found | Appended | Reset | CaughtUp | StatusChanged | Continued | Ended | Watching

Until = Literal["idle", "end"]

FindSession = Callable[[str], Path | None]

SAME_CLIENT = "its client opened another session"
ITS_RECORD = "according to its transcript"


class StatusTracker:
    """Tracks the status of sessions by id, from their records and their running clients."""

    def __init__(self, roots: Iterable[Path]) -> None:
        self._roots = tuple(roots)
        self._turns: dict[str, session_status.TurnState] = {}
        self._statuses: dict[str, session_status.SessionStatus] = {}
        self._pids: dict[int, str] = {}
        self._clients: dict[str, session_status.Client] = {}

    @property
    def session_ids(self) -> tuple[str, ...]:
        """Return the sessions seen so far."""
        return tuple(self._turns)

    def reset(self, session_id: str) -> None:
        """Discard the turn state of a session whose file is read again from the start."""
        self._turns[session_id] = session_status.TurnState()

    def add(self, session_id: str, record: Record, checkpoint: Checkpoint) -> Continued | None:
        """Apply a record of the session's own file; return the continuation if it names one."""
        if session_id not in self._turns:
            self._turns[session_id] = session_status.TurnState()
        self._turns[session_id] = session_status.advance_turn(self._turns[session_id], record)
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
            self._clients |= session_status.read_clients(root, before)
        alive = (session for session, client in self._clients.items() if client.is_alive)
        for session_id in (*wanted, *alive):
            path = find(session_id) if session_id not in self._turns else None
            if path is not None:
                self._turns[session_id] = session_status.read_turn_state(path)

    def iter_changes(self, checkpoint: Checkpoint) -> Iterator[StatusChanged | Continued | Ended]:
        """Yield what changed since the last call."""
        yield from self._iter_switches(checkpoint)
        last_pids = {session: pid for pid, session in self._pids.items()}
        for session_id, turn in list(self._turns.items()):
            status = session_status.determine_status(
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
        status, turn = (
            self._statuses.get(session_id),
            self._turns.get(session_id, session_status.TurnState()),
        )
        if status is None:
            return False
        if until == "end":
            return status.kind is StatusKind.ENDED
        return session_status.is_waiting_for_input(status, turn)


_NAMES: Final[Mapping[type, EventName]] = {
    Found: "found",
    Appended: "appended",
    Reset: "reset",
    CaughtUp: "caught_up",
    StatusChanged: "status",
    Continued: "continued",
    Ended: "ended",
    Watching: "watching",
}
_PLAIN: Final = ("session_id", "next_id", "reason")
_FLAGS: Final = ("is_new", "is_polling")


def describe_event(event: AnyEvent, *, with_record: bool = True) -> EventDocument:
    """Convert an event to its document, with or without its record."""
    plain = {name: getattr(event, name) or None for name in _PLAIN if hasattr(event, name)}
    flags = {name: getattr(event, name) for name in _FLAGS if hasattr(event, name)}
    return EventDocument(
        schema=EVENT_SCHEMA,
        event=_NAMES[type(event)],
        id=event.id,
        **plain,
        **flags,
        **_unfold(event, with_record=with_record),
    )


def _unfold(event: AnyEvent, *, with_record: bool) -> dict[str, Any]:
    """Return the fields that come from nested values."""
    if isinstance(event, StatusChanged):
        status = event.status
        return {"status": status.kind, "reason": status.reason, "pid": status.pid}
    if not isinstance(event, Found | Appended | Reset):
        return {}
    source = event.source
    return {
        "session_id": source.session_id or None,
        "agent_id": source.agent_id,
        "path": mask_path(source.path),
        "project": mask_path(source.project),
        **(_describe_record(event, with_record) if isinstance(event, Appended) else {}),
    }


def _describe_record(event: Appended, with_record: bool) -> dict[str, Any]:
    record = event.record
    if record.span is None:
        return {}
    damage = record.reason if isinstance(record, Damaged) else record.span.damage
    return {
        "offset": record.span.offset,
        "length": record.span.length,
        "uuid": record.uuid if isinstance(record, Chain) else None,
        "record": decode_value(event.raw, object) if with_record and event.raw.strip() else None,
        "damage": damage or None,
    }
