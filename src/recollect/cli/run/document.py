"""What `recollect run --json-lines` prints: the client's own messages, between a start and an end.

A message is the JSON that the client printed, decoded and not interpreted, so that a script sees
what a newer client says before Recollect knows it.
"""

from typing import Any, Literal

from msgspec import Struct

from recollect.launch.client_process import Complaint, Told
from recollect.launch.figures import RunFigures
from recollect.launch.stream_session import StreamSession
from recollect.records.decoding import decode_value

SCHEMA = "recollect.run/1"

EventName = Literal["started", "message", "text", "complaint", "ended"]


class RunDocument(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of `--json-lines`; fields that say nothing about an event are left out."""

    schema: str
    event: EventName
    """A text is what is no message, and a complaint what came on stderr."""
    pid: int | None = None
    arguments: tuple[str, ...] | None = None
    message: dict[str, Any] | None = None
    text: str | None = None
    session_id: str | None = None
    code: int | None = None
    figures: RunFigures | None = None


def describe_start(pid: int, arguments: tuple[str, ...]) -> RunDocument:
    """The first line."""
    return RunDocument(schema=SCHEMA, event="started", pid=pid, arguments=arguments)


def describe_told(told: Told | Complaint) -> RunDocument | None:
    """The line of what the client said; None for an empty line."""
    if isinstance(told, Complaint):
        return RunDocument(schema=SCHEMA, event="complaint", text=told.text)
    message = decode_value(told.raw, dict[str, Any])
    if message is not None:
        return RunDocument(schema=SCHEMA, event="message", message=message)
    text = told.raw.decode(errors="replace").strip()
    return RunDocument(schema=SCHEMA, event="text", text=text) if text else None


def describe_end(session: StreamSession, code: int) -> RunDocument:
    """The last line."""
    return RunDocument(
        schema=SCHEMA,
        event="ended",
        session_id=session.session_id,
        code=code,
        figures=session.figures,
    )
