"""Convert events of the follower to documents."""

from collections.abc import Mapping
from typing import Any, Final

from recollect.documents.events import EVENT_SCHEMA, EventDocument, EventName
from recollect.live.live_events import (
    AnyEvent,
    Appended,
    CaughtUp,
    Continued,
    Ended,
    Found,
    Reset,
    StatusChanged,
    Watching,
)
from recollect.records.decoding import decode_value
from recollect.records.envelope import Chain, Damaged

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
    """Convert an event to its document, without the record itself if it is not wanted."""
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
        "path": source.path,
        "project": source.project,
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
