"""What a follower tells, one frozen value per thing that happened.

The records of a file that were appended since its last `Reset` are those of a fresh read of it.
Each event has an id; whoever follows from that id is told what comes behind it, and nothing twice.
"""

from msgspec import Struct

from recollect.live.positions import Checkpoint
from recollect.live.status import SessionStatus
from recollect.locations import TranscriptKind
from recollect.records.envelope import Record


class Event(Struct, frozen=True, kw_only=True):
    """Something that happened; `checkpoint` is the place behind it."""

    checkpoint: Checkpoint = Checkpoint()

    @property
    def id(self) -> str:
        """From where a later follower goes on."""
        return self.checkpoint.id


class Source(Struct, frozen=True, kw_only=True):
    """The file that an event is about, and whose it is."""

    path: str
    session_id: str
    """Of a subagent it is that of the session it works for; "" while nobody knows that."""
    agent_id: str | None
    kind: TranscriptKind
    project: str
    """The name of its directory below `projects`."""


class Found(Event, frozen=True, kw_only=True):
    """A file is followed from here on; `is_new` if it was not there at the beginning."""

    source: Source
    is_new: bool


class Appended(Event, frozen=True, kw_only=True):
    """A record, with its bytes; those of a line too long to hold are empty."""

    source: Source
    record: Record
    raw: bytes


class Reset(Event, frozen=True, kw_only=True):
    """The file was rewritten: what was told of it no longer counts, and all of it comes again."""

    source: Source
    reason: str


class Level(Event, frozen=True):
    """All that is on disk has been told; what comes from here on is happening now."""


class StatusChanged(Event, frozen=True, kw_only=True):
    """A session does something else than before."""

    session_id: str
    status: SessionStatus


class Continued(Event, frozen=True, kw_only=True):
    """A session goes on in another file, after `/clear` or because its record says so."""

    session_id: str
    next_id: str
    reason: str


class Ended(Event, frozen=True, kw_only=True):
    """A session's client has ended, or its file is gone; it may be resumed all the same."""

    session_id: str
    reason: str


class Watching(Event, frozen=True, kw_only=True):
    """How changes are noticed from here on; `reason` is why the system is not asked."""

    is_polling: bool
    reason: str


AnyEvent = Found | Appended | Reset | Level | StatusChanged | Continued | Ended | Watching
