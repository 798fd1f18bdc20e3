"""Server-sent events: what changes, as it changes, and again from any event on.

Without a session: which sessions have changed. With one: its records and how it stands, from the
follower that the command line uses too. Events say what happened and not what was said: a page
asks for the turns, so that there is one way to draw them.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from recollect.errors import IndexFailure, UsageError
from recollect.live import live_events as live
from recollect.live.cursors import decode_cursor
from recollect.live.follow import follow
from recollect.live.followed_files import SessionScope
from recollect.web.parameters import Id, read_parameters
from recollect.web.responses import encode_json
from recollect.web.services import Services
from recollect.web.session_catalog import ChangeFeed, SessionChange, find_session

PATH: Final = "/api/events"
HEARTBEAT_SECONDS: Final = 15.0
MAX_CLIENTS: Final = 24
RETRY_MS: Final = 1000
EVENT_STREAM: Final = "text/event-stream"

EventName = Literal["sessions", "reload", "appended", "found", "reset", "standing"]


class EventsParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to listen to, and from where on."""

    session: Annotated[Id, Meta(description="One session; all of them without it.")] | None = None
    last_id: Annotated[str, Meta(max_length=8000, description="Like the header Last-Event-ID.")] = (
        ""
    )


class SentEvent(Struct, frozen=True, kw_only=True):
    """An event on its way."""

    name: EventName
    id: str
    data: Struct


class ReloadEvent(Struct, frozen=True, kw_only=True):
    """Nothing more to say."""


class RecordEvent(Struct, frozen=True, kw_only=True):
    """Something about one file of a session."""

    session_id: str
    agent_id: str | None
    type: str = ""
    uuid: str | None = None
    timestamp: str | None = None
    reason: str = ""


class StatusEvent(Struct, frozen=True, kw_only=True):
    """How a session stands."""

    session_id: str
    status: str
    reason: str
    next_id: str | None = None


class EventKind(Struct, frozen=True):
    """What an event of one name says, for the document of the API."""

    data: type[Struct]
    meaning: str


EVENTS: Final[dict[EventName, EventKind]] = {
    "sessions": EventKind(SessionChange, "Of all sessions: these have changed."),
    "reload": EventKind(
        ReloadEvent,
        "Of all sessions: too much was missed, or the server was restarted; look at everything"
        " again.",
    ),
    "appended": EventKind(RecordEvent, "Of one session: a new record."),
    "found": EventKind(
        RecordEvent,
        "Of one session: a file is followed from here on, for example that of a new subagent.",
    ),
    "reset": EventKind(
        RecordEvent,
        "Of one session: a file was rewritten; what was told of it no longer counts.",
    ),
    "standing": EventKind(
        StatusEvent,
        "Of one session: how it stands now. The status level says that all on disk has been told.",
    ),
}


class EventSource:
    """Serves events to a bounded number of listeners."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._clients = 0
        self._closing = asyncio.Event()
        self._endings: set[asyncio.Future[None]] = set()
        """Held, because a task that nobody holds may vanish before it is done."""

    def close(self) -> None:
        """End all streams."""
        self._closing.set()

    async def serve(self, request: Request) -> Response:
        """A stream of events; 503 when there are too many already."""
        wanted = read_parameters(request, EventsParameters)
        last_id = request.headers.get("last-event-id") or wanted.last_id or None
        if wanted.session is None:
            events = _iter_changes(self._services.changes, last_id)
        else:
            events = self._follow(wanted.session, last_id)
        if self._clients >= MAX_CLIENTS:
            raise IndexFailure("Too many pages listen already. Close some of them.")
        return StreamingResponse(self._stream(events), media_type=EVENT_STREAM)

    def _follow(self, session_id: str, last_id: str | None) -> AsyncGenerator[SentEvent, None]:
        found = find_session(self._services.catalog.snapshot, session_id)
        return _iter_session(SessionScope(found.transcript), _check(last_id))

    async def _stream(self, events: AsyncGenerator[SentEvent, None]) -> AsyncIterator[bytes]:
        self._clients += 1
        closing = asyncio.ensure_future(self._closing.wait())
        coming: asyncio.Future[SentEvent] | None = None
        try:
            yield f"retry: {RETRY_MS}\n\n".encode()
            while not self._closing.is_set():
                coming = coming or asyncio.ensure_future(anext(events))
                await _wait(coming, closing)
                if coming.done():
                    yield _encode(coming.result())
                    coming = None
                else:
                    yield b": still here\n\n"
        finally:
            self._clients -= 1
            closing.cancel()
            # By another task: this one is mostly cancelled, and may wait for nothing any more.
            ending = asyncio.ensure_future(_end(events, coming))
            self._endings.add(ending)
            ending.add_done_callback(self._endings.discard)


async def _wait(*futures: asyncio.Future[Any]) -> None:
    """Wait until one of them is done, or it is time to show life."""
    await asyncio.wait(futures, timeout=HEARTBEAT_SECONDS, return_when=asyncio.FIRST_COMPLETED)


async def _end(
    events: AsyncGenerator[SentEvent, None], coming: asyncio.Future[SentEvent] | None
) -> None:
    """Close a generator, which cannot be done while it is being asked for the next event."""
    if coming is not None:
        coming.cancel()
        await asyncio.wait({coming})
    await events.aclose()


async def _iter_changes(
    changes: ChangeFeed, last_id: str | None
) -> AsyncGenerator[SentEvent, None]:
    async for change in changes.iter_since(last_id):
        if change is None:
            yield SentEvent(name="reload", id=changes.name(0), data=ReloadEvent())
        else:
            yield SentEvent(name="sessions", id=changes.name(change.number), data=change)


def _check(last_id: str | None) -> str:
    """The id to go on from; one from elsewhere, or of another version, starts at the end."""
    if last_id is None:
        return "end"
    try:
        decode_cursor(last_id)
    except UsageError:
        return "end"
    return last_id


async def _iter_session(scope: SessionScope, start: str) -> AsyncGenerator[SentEvent, None]:
    async with aclosing(follow(scope, start)) as events:
        async for event in events:
            described = _describe(event)
            if described is not None:
                yield SentEvent(name=described[0], id=event.id, data=described[1])


def _describe(event: live.AnyEvent) -> tuple[EventName, Struct] | None:
    """The name and the data of an event; None for one that pages need not know."""
    match event:
        case live.Found(source=source):
            return "found", _about(source)
        case live.Reset(source=source, reason=reason):
            return "reset", _about(source, reason)
        case live.Appended(source=source, record=record):
            return "appended", RecordEvent(
                session_id=source.session_id,
                agent_id=source.agent_id,
                type=type(record).__name__,
                uuid=getattr(record, "uuid", None),
                timestamp=getattr(record, "timestamp", None),
            )
    standing = _describe_status(event)
    return None if standing is None else ("standing", standing)


def _describe_status(event: live.AnyEvent) -> StatusEvent | None:
    match event:
        case live.StatusChanged(session_id=session_id, status=status):
            kind = status.kind.value
            return StatusEvent(session_id=session_id, status=kind, reason=status.reason)
        case live.Continued(session_id=session_id, next_id=next_id, reason=reason):
            return StatusEvent(
                session_id=session_id, status="continued", reason=reason, next_id=next_id
            )
        case live.Ended(session_id=session_id, reason=reason):
            return StatusEvent(session_id=session_id, status="ended", reason=reason)
        case live.CaughtUp():
            return StatusEvent(session_id="", status="level", reason="")
    return None


def _about(source: live.EventSubject, reason: str = "") -> RecordEvent:
    return RecordEvent(session_id=source.session_id, agent_id=source.agent_id, reason=reason)


def _encode(sent: SentEvent) -> bytes:
    """The event on the wire; JSON has no line ends in it, and an id is ours."""
    head = f"event: {sent.name}\nid: {sent.id}\ndata: ".encode()
    return head + encode_json(sent.data) + b"\n\n"
