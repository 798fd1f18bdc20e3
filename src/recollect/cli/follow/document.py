"""An event as `recollect follow --json-lines` prints it."""

from collections.abc import Mapping
from typing import Any, Final, Literal

from msgspec import Struct

from recollect.live.events import (
    AnyEvent,
    Appended,
    Continued,
    Ended,
    Found,
    Level,
    Reset,
    StatusChanged,
    Watching,
)
from recollect.live.status import StatusKind
from recollect.records.decoding import decode_value
from recollect.records.irregular import Damaged

SCHEMA = "recollect.event/1"

EventName = Literal[
    "found", "appended", "reset", "level", "status", "continued", "ended", "watching"
]
_NAMES: Final[Mapping[type, EventName]] = {
    Found: "found",
    Appended: "appended",
    Reset: "reset",
    Level: "level",
    StatusChanged: "status",
    Continued: "continued",
    Ended: "ended",
    Watching: "watching",
}
_PLAIN: Final = ("session_id", "next_id", "reason")
_FLAGS: Final = ("is_new", "is_polling")


class EventDocument(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of `--json-lines`; fields that say nothing about an event are left out."""

    schema: str
    event: EventName
    id: str
    session_id: str | None = None
    agent_id: str | None = None
    path: str | None = None
    project: str | None = None
    offset: int | None = None
    length: int | None = None
    record: Any = None
    damage: str | None = None
    is_new: bool | None = None
    status: StatusKind | None = None
    pid: int | None = None
    next_id: str | None = None
    is_polling: bool | None = None
    reason: str | None = None


def describe_event(event: AnyEvent) -> EventDocument:
    """The document of an event."""
    plain = {name: getattr(event, name) or None for name in _PLAIN if hasattr(event, name)}
    flags = {name: getattr(event, name) for name in _FLAGS if hasattr(event, name)}
    return EventDocument(
        schema=SCHEMA, event=_NAMES[type(event)], id=event.id, **plain, **flags, **_unfold(event)
    )


def _unfold(event: AnyEvent) -> dict[str, Any]:
    """What an event says through its parts."""
    if isinstance(event, StatusChanged):
        status = event.status
        return {"status": status.kind, "reason": status.reason, "pid": status.pid}
    if not isinstance(event, Found | Appended | Reset):
        return {}
    source = event.source
    return {
        "session_id": source.session_id or None,
        "agent_id": source.agent_id,
        "path": source.path,
        "project": source.project,
        **(_describe_record(event) if isinstance(event, Appended) else {}),
    }


def _describe_record(event: Appended) -> dict[str, Any]:
    record = event.record
    if record.span is None:
        return {}
    damage = record.reason if isinstance(record, Damaged) else record.span.damage
    return {
        "offset": record.span.offset,
        "length": record.span.length,
        "record": decode_value(event.raw, object) if event.raw.strip() else None,
        "damage": damage or None,
    }
