"""Events of growing sessions: the lines of `recollect follow`, and the stream of the API."""

from typing import Any, Final, Literal

from msgspec import Struct

from recollect.documents.kinds import StatusKind

EVENT_SCHEMA: Final = "recollect.event/2"

EventName = Literal[
    "found", "appended", "reset", "caught_up", "status", "continued", "ended", "watching"
]


class EventDocument(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One event; fields that do not apply to it are omitted."""

    schema: str
    event: EventName
    id: str
    session_id: str | None = None
    agent_id: str | None = None
    path: str | None = None
    project: str | None = None
    offset: int | None = None
    length: int | None = None
    uuid: str | None = None
    record: Any = None
    damage: str | None = None
    is_new: bool | None = None
    status: StatusKind | None = None
    pid: int | None = None
    next_id: str | None = None
    is_polling: bool | None = None
    reason: str | None = None


class SessionChange(Struct, frozen=True, kw_only=True):
    """Sessions that changed, in one update."""

    number: int
    sessions: tuple[str, ...]
    """Ids of new and changed sessions."""
    gone: tuple[str, ...] = ()
    """Paths of transcripts that no longer exist."""
    live: dict[str, str | None] | None = None
    """What running clients are doing, by session; None if that has not changed."""
    is_searchable: bool | None = None


class ReloadEvent(Struct, frozen=True, kw_only=True):
    """Events were missed that cannot be sent again: load everything again."""
