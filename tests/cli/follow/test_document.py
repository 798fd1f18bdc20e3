"""Tests of recollect.live.live_events: every event fits the published schema."""

import json
from typing import get_args

import jsonschema
import pytest

from recollect.cli.json_output import format_line
from recollect.documents.events import EVENT_SCHEMA, EventName
from recollect.documents.kinds import StatusKind
from recollect.live.live_events import (
    AnyEvent,
    Appended,
    CaughtUp,
    Continued,
    Ended,
    EventSubject,
    Found,
    Reset,
    StatusChanged,
    Watching,
    describe_event,
)
from recollect.live.session_status import SessionStatus
from recollect.locations import TranscriptKind
from recollect.records.envelope import Damaged, Span
from tools.generate_schemas import make_schema

SOURCE = EventSubject(
    path="/c/s.jsonl",
    session_id="",
    agent_id="a1",
    kind=TranscriptKind.SUBAGENT,
    project="-w-app",
)
ABOUT = {"agent_id": "a1", "path": "/c/s.jsonl", "project": "-w-app"}
EVENTS: dict[EventName, tuple[AnyEvent, dict[str, object]]] = {
    "found": (Found(source=SOURCE, is_new=True), {**ABOUT, "is_new": True}),
    "appended": (
        Appended(
            source=SOURCE,
            record=Damaged(span=Span("/c/s.jsonl", 5, 4), reason="cut off"),
            raw=b'{"a"',
        ),
        {**ABOUT, "offset": 5, "length": 4, "damage": "cut off"},
    ),
    "reset": (Reset(source=SOURCE, reason="shorter"), {**ABOUT, "reason": "shorter"}),
    "caught_up": (CaughtUp(), {}),
    "status": (
        StatusChanged(session_id="s", status=SessionStatus(StatusKind.IDLE, "it says so", 7)),
        {"session_id": "s", "status": "idle", "pid": 7, "reason": "it says so"},
    ),
    "continued": (
        Continued(session_id="s", next_id="t", reason="cleared"),
        {"session_id": "s", "next_id": "t", "reason": "cleared"},
    ),
    "ended": (
        Ended(session_id="s", reason="gone"),
        {"session_id": "s", "reason": "gone"},
    ),
    "watching": (Watching(is_polling=False, reason=""), {"is_polling": False}),
}


def test_every_event_is_tried() -> None:
    """No event is without an example."""
    assert tuple(EVENTS) == get_args(EventName)


@pytest.mark.parametrize("name", EVENTS)
def test_events_describe_what_they_are_about(name: EventName) -> None:
    """A line has only the fields that apply to its event."""
    event, expected = EVENTS[name]
    line = json.loads(format_line(describe_event(event)))
    assert line == {"schema": EVENT_SCHEMA, "event": name, "id": event.id, **expected}
    jsonschema.validate(line, make_schema(EVENT_SCHEMA))
