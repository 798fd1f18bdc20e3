"""Server-sent events: changes as they happen, resumable after any event.

Without a session, they are the sessions that changed. With one, they are the events and documents
of `recollect follow`. Pages receive no records: they request the turns, so that turns are rendered
in one way only.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from recollect.documents.events import EventDocument, EventName, ReloadEvent, SessionChange
from recollect.errors import IndexFailure, UsageError
from recollect.live.live_events import AnyEvent, decode_cursor, describe_event
from recollect.web.http_messages import Id, encode_json, read_parameters
from recollect.web.services import Services
from recollect.workspace.session_catalog import ChangeFeed

PATH: Final = "/api/events"
HEARTBEAT_SECONDS: Final = 15.0
MAX_CLIENTS: Final = 24
RETRY_MS: Final = 1000
EVENT_STREAM: Final = "text/event-stream"


class EventsParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters: the session to follow, and the event to resume after."""

    session: Annotated[Id, Meta(description="One session; all of them without it.")] | None = None
    last_id: Annotated[str, Meta(max_length=8000, description="Like the header Last-Event-ID.")] = (
        ""
    )
    records: Annotated[
        bool, Meta(description="Whether events of one session include the records themselves.")
    ] = True


StreamName = EventName | Literal["sessions", "reload"]


class SentEvent(Struct, frozen=True, kw_only=True):
    """An event to send."""

    name: str
    id: str
    """Empty for an event that cannot be resumed after."""
    data: Struct


class EventKind(Struct, frozen=True):
    """The data of the events with one name, for the API document."""

    data: type[Struct]
    meaning: str


EVENTS: Final[dict[StreamName, EventKind]] = {
    "sessions": EventKind(SessionChange, "All sessions: these have changed."),
    "reload": EventKind(
        ReloadEvent,
        "All sessions: events were missed, or the server was restarted; reload everything.",
    ),
    "found": EventKind(
        EventDocument,
        "One session: a file is followed from now on, for example that of a new subagent.",
    ),
    "appended": EventKind(EventDocument, "One session: a new record."),
    "reset": EventKind(
        EventDocument, "One session: a file was rewritten; its earlier records no longer count."
    ),
    "caught_up": EventKind(EventDocument, "One session: everything on disk has been sent."),
    "status": EventKind(EventDocument, "One session: its status changed."),
    "continued": EventKind(EventDocument, "One session: it continues in another file."),
    "ended": EventKind(EventDocument, "One session: its client exited, or its file is gone."),
    "watching": EventKind(EventDocument, "One session: how changes are detected from now on."),
}


class EventSource:
    """Serves events to a bounded number of listeners."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._clients = 0
        self._closing = asyncio.Event()
        self._endings: set[asyncio.Future[None]] = set()
        """Referenced here, because asyncio keeps only weak references to tasks."""

    def close(self) -> None:
        """End all streams."""
        self._closing.set()

    async def serve(self, request: Request) -> Response:
        """Return a stream of events; 503 if there are too many already."""
        wanted = read_parameters(request, EventsParameters)
        last_id = request.headers.get("last-event-id") or wanted.last_id or None
        if wanted.session is None:
            events = _iter_changes(self._services.workspace.changes, last_id)
        else:
            # Finding a session may have to wait for the first list.
            live = await asyncio.to_thread(self._follow, wanted.session, last_id)
            events = _iter_session(live, with_record=wanted.records)
        return self.respond(events)

    def respond(self, events: AsyncGenerator[SentEvent, None]) -> Response:
        """Return the response that sends these events; raises if there are too many already."""
        if self._clients >= MAX_CLIENTS:
            raise IndexFailure("Too many pages are open. Close some of them.")
        return StreamingResponse(self._stream(events), media_type=EVENT_STREAM)

    def _follow(self, session_id: str, last_id: str | None) -> AsyncGenerator[AnyEvent, None]:
        return self._services.workspace.follow(session_id, start=_check(last_id))

    async def _stream(self, events: AsyncGenerator[SentEvent, None]) -> AsyncIterator[bytes]:
        self._clients += 1
        closing = asyncio.ensure_future(self._closing.wait())
        next_event: asyncio.Future[SentEvent] | None = None
        try:
            yield f"retry: {RETRY_MS}\n\n".encode()
            while not self._closing.is_set():
                next_event = next_event or asyncio.ensure_future(anext(events))
                await _wait(next_event, closing)
                if next_event.done():
                    yield _encode(next_event.result())
                    next_event = None
                else:
                    yield b": still here\n\n"
        finally:
            self._clients -= 1
            closing.cancel()
            # In another task: this one has usually been cancelled and must not wait any more.
            ending = asyncio.ensure_future(_end(events, next_event))
            self._endings.add(ending)
            ending.add_done_callback(self._endings.discard)


async def _wait(*futures: asyncio.Future[Any]) -> None:
    """Wait until one of them is done, or a keep-alive is due."""
    await asyncio.wait(futures, timeout=HEARTBEAT_SECONDS, return_when=asyncio.FIRST_COMPLETED)


async def _end(
    events: AsyncGenerator[SentEvent, None], next_event: asyncio.Future[SentEvent] | None
) -> None:
    """Close a generator, once its pending request for an event is done."""
    if next_event is not None:
        next_event.cancel()
        await asyncio.wait({next_event})
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
    """Return the id to resume after; the end if it is invalid or of another version."""
    if last_id is None:
        return "end"
    try:
        decode_cursor(last_id)
    except UsageError:
        return "end"
    return last_id


async def _iter_session(
    events: AsyncGenerator[AnyEvent, None], *, with_record: bool
) -> AsyncGenerator[SentEvent, None]:
    async with aclosing(events):
        async for event in events:
            data = describe_event(event, with_record=with_record)
            yield SentEvent(name=data.event, id=event.id, data=data)


def _encode(sent: SentEvent) -> bytes:
    """Encode an event; its JSON has no line breaks, and its id is one of ours."""
    name = f"id: {sent.id}\n" if sent.id else ""
    head = f"event: {sent.name}\n{name}data: ".encode()
    return head + encode_json(sent.data) + b"\n\n"
