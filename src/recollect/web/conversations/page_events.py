"""Events of a conversation as pages receive them: what is new, never how it looks.

What is streamed goes out as text, which a page shows as text. A finished record is only announced:
the page asks for its turns, so that there is one way to draw them, that of every other page.
"""

import asyncio
from collections.abc import AsyncGenerator
from typing import Final

from msgspec import Struct

from recollect.documents.events import (
    BlockEvent,
    BlockKind,
    ConversationNotice,
    ConversationsDocument,
    ConversationStatusEvent,
    PromptEvent,
    RecordEvent,
    ReloadEvent,
    RequestEvent,
    TasksEvent,
)
from recollect.launch import conversation_events as events
from recollect.launch.conversation_events import ConversationEvent
from recollect.records.envelope import Chain
from recollect.web.api.event_stream import EventKind, SentEvent
from recollect.web.conversations.hosting import HostedConversation
from recollect.web.conversations.registry import Conversations

PAGE_EVENTS: Final[dict[str, EventKind]] = {
    "status": EventKind(ConversationStatusEvent, "Status, settings or cost changed."),
    "block": EventKind(BlockEvent, "The model writes: a block was started, or has more text."),
    "record": EventKind(RecordEvent, "A block is complete; its turn can be read."),
    "prompt": EventKind(PromptEvent, "A prompt was queued, taken or withdrawn."),
    "request": EventKind(RequestEvent, "Claude Code asks, or the request was settled."),
    "tasks": EventKind(TasksEvent, "The background tasks changed."),
    "notice": EventKind(ConversationNotice, "Something to show, such as a line on stderr."),
    "finished": EventKind(ConversationStatusEvent, "The turn is over."),
    "reload": EventKind(ReloadEvent, "Too much was missed: load the page again."),
}
RUNNING_EVENTS: Final[dict[str, EventKind]] = {
    "conversations": EventKind(
        ConversationsDocument, "All conversations: at first, and whenever one is different."
    ),
}


async def iter_page_events(
    hosted: HostedConversation, after: int
) -> AsyncGenerator[SentEvent, None]:
    """Yield what a page needs to know, with the number of each event as its id."""
    async for event in hosted.iter_events(after):
        made = describe_event(event, hosted)
        if made is not None:
            name, data = made
            yield SentEvent(name=name, id=str(event.number), data=data)
    yield SentEvent(name="status", id="", data=_describe_status(hosted))
    await asyncio.Event().wait()


def describe_event(
    event: ConversationEvent, hosted: HostedConversation
) -> tuple[str, Struct] | None:
    """Return the name and the data of an event; None if pages need not know of it."""
    match event:
        case events.BlockEvent():
            return "block", _describe_block(event)
        case events.RecordReceived():
            return "record", _describe_record(event)
        case events.EventsDropped():
            return "reload", ReloadEvent()
        case events.TasksChanged(tasks=tasks):
            return "tasks", TasksEvent(tasks=tasks)
    return _describe_waiting(event) or _describe_notice(event) or _describe_change(event, hosted)


def _describe_block(event: events.BlockEvent) -> BlockEvent:
    kind: BlockKind
    tool: str | None = None
    text = ""
    match event:
        case events.BlockStarted(kind="text" | "thinking" | "tool" as kind, tool=tool):
            pass
        case events.TextStreamed(text=text):
            kind = "text"
        case events.ThinkingStreamed(text=text):
            kind = "thinking"
        case events.ToolInputStreamed(text=text):
            kind = "tool"
        case _:
            kind = "other"
    return BlockEvent(
        message=event.message_id,
        index=event.index,
        agent=event.agent,
        kind=kind,
        tool=tool,
        text=text,
    )


def _describe_record(event: events.RecordReceived) -> RecordEvent:
    return RecordEvent(
        uuid=event.record.uuid if isinstance(event.record, Chain) else None,
        agent=event.agent,
        message=event.message_id,
        index=event.index,
    )


def _describe_waiting(event: ConversationEvent) -> tuple[str, Struct] | None:
    match event:
        case events.PromptQueued(uuid=uuid, text=text, images=images):
            return "prompt", PromptEvent(uuid=uuid, state="queued", text=text, images=images)
        case events.PromptTaken(uuid=uuid):
            return "prompt", PromptEvent(uuid=uuid, state="taken")
        case events.PromptWithdrawn(uuid=uuid):
            return "prompt", PromptEvent(uuid=uuid, state="withdrawn")
        case events.RequestAsked(request=request):
            return "request", RequestEvent(id=request.id)
        case events.RequestSettled(id=request_id, how=how, by=by):
            return "request", RequestEvent(id=request_id, how=how, by=by)
    return None


def _describe_notice(event: ConversationEvent) -> tuple[str, Struct] | None:
    match event:
        case events.NoticeReceived(text=text):
            return "notice", ConversationNotice(kind="notice", text=text)
        case events.StderrPrinted(text=text) if text.strip():
            return "notice", ConversationNotice(kind="stderr", text=text)
        case events.LineUnparsed(text=text):
            return "notice", ConversationNotice(kind="unparsed", text=text)
        case events.ClientSilent(seconds=seconds):
            return "notice", ConversationNotice(kind="silent", text=f"{seconds:.0f}")
        case events.ClientEnded(reason="died" | "failed", words=words, code=code):
            return "notice", ConversationNotice(kind="ended", text=words or str(code))
    return None


def _describe_change(
    event: ConversationEvent, hosted: HostedConversation
) -> tuple[str, Struct] | None:
    match event:
        case events.StatusChanged(detail=detail):
            return "status", _describe_status(hosted, detail or "")
        case events.SettingsChanged() | events.ClientStarted() | events.ClientEnded():
            return "status", _describe_status(hosted)
        case events.TurnFinished():
            return "finished", _describe_status(hosted)
    return None


def _describe_status(hosted: HostedConversation, detail: str = "") -> ConversationStatusEvent:
    return ConversationStatusEvent(conversation=hosted.describe(), detail=detail)


async def iter_running(conversations: Conversations) -> AsyncGenerator[SentEvent, None]:
    """Yield all conversations, now and whenever one of them is different."""
    before = None
    while True:
        # Taken before the document: what changes while that is being sent is not missed.
        changed = conversations.changed
        document = conversations.document
        if document != before:
            before = document
            yield SentEvent(name="conversations", id="", data=document)
        await changed.wait()
