"""Messages between pages and a conversation: events, which contain data and no markup; the body
that starts a conversation (in a directory, or by resuming or forking a session); the bodies of
actions, and the table that describes them.

Streamed output is sent and shown as plain text. For a finished record there is only a notification:
the page requests the turns, so they are rendered as on every other page. Streamed text is masked
when it arrives; everything else is masked here.

A directory is an absolute path on this machine. A session is looked up by its id, as everywhere
else, and continues in its own directory and Claude directory.

Each action is a POST to `/c/ID/NAME`; the OpenAPI document is generated from the table.
"""

import asyncio
import os
import unicodedata
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Annotated, Final

from msgspec import Meta, Struct

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
from recollect.launch.client_commands import make_root_environment, plan_resume
from recollect.launch.conversation_options import ConversationOptions
from recollect.reader.line_blocks import mask_value
from recollect.reader.transcript_reader import read_transcript
from recollect.records.envelope import Chain, Record
from recollect.session.prompt_contexts import summarize_prompt
from recollect.web.conversations import answers, hosted_conversation, registry
from recollect.web.event_stream import EventKind, SentEvent
from recollect.web.http_messages import MAX_ID, BadParameter
from recollect.web.services import Services

PAGE_EVENTS: Final[dict[str, EventKind]] = {
    "status": EventKind(ConversationStatusEvent, "Status, settings or cost changed."),
    "block": EventKind(BlockEvent, "The model is writing: a block was started or has more text."),
    "record": EventKind(RecordEvent, "A block is complete; its turn can be loaded."),
    "prompt": EventKind(
        PromptEvent, "A prompt was queued, picked up by Claude Code, or withdrawn."
    ),
    "request": EventKind(
        RequestEvent, "Claude Code made a request, or a request is no longer open."
    ),
    "tasks": EventKind(TasksEvent, "The background tasks changed."),
    "notice": EventKind(ConversationNotice, "A notice to show, such as a line on stderr."),
    "finished": EventKind(ConversationStatusEvent, "The turn is over."),
    "reload": EventKind(ReloadEvent, "Too many events were missed: reload the page."),
}
RUNNING_EVENTS: Final[dict[str, EventKind]] = {
    "conversations": EventKind(
        ConversationsDocument, "All conversations: sent on connect, and whenever one changes."
    ),
}


async def iter_page_events(
    hosted: hosted_conversation.HostedConversation, after: int
) -> AsyncGenerator[SentEvent, None]:
    """Yield the events of a page, with their numbers as ids."""
    async for event in hosted.iter_events(after):
        made = describe_event(event, hosted)
        if made is not None:
            name, data = made
            masked = mask_value(hosted.stream_name, data)
            yield SentEvent(name=name, id=str(event.number), data=masked)
    yield SentEvent(name="status", id="", data=_describe_status(hosted))
    await asyncio.Event().wait()


def describe_event(
    event: events.ConversationEvent, hosted: hosted_conversation.HostedConversation
) -> tuple[str, Struct] | None:
    """Return the name and the data of an event; None for one that pages do not use."""
    match event:
        case events.BlockEvent():
            return "block", _describe_block(event, hosted.find_streamed(event))
        case events.RecordReceived():
            return "record", _describe_record(event)
        case events.EventsDropped():
            return "reload", ReloadEvent()
        case events.TasksChanged(tasks=tasks):
            return "tasks", TasksEvent(tasks=tasks)
    return _describe_waiting(event) or _describe_notice(event) or _describe_change(event, hosted)


def _describe_block(event: events.BlockEvent, text: str) -> BlockEvent:
    kind: BlockKind
    tool: str | None = None
    match event:
        case events.BlockStarted(kind="text" | "thinking" | "tool" as kind, tool=tool):
            pass
        case events.TextStreamed():
            kind = "text"
        case events.ThinkingStreamed():
            kind = "thinking"
        case events.ToolInputStreamed():
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


def _describe_waiting(event: events.ConversationEvent) -> tuple[str, Struct] | None:
    match event:
        case events.PromptQueued(uuid=uuid, text=text, images=images):
            shown = summarize_prompt(text)
            return "prompt", PromptEvent(uuid=uuid, state="queued", text=shown, images=images)
        case events.PromptTaken(uuid=uuid):
            return "prompt", PromptEvent(uuid=uuid, state="taken")
        case events.PromptWithdrawn(uuid=uuid):
            return "prompt", PromptEvent(uuid=uuid, state="withdrawn")
        case events.RequestAsked(request=request):
            return "request", RequestEvent(id=request.id)
        case events.RequestSettled(id=request_id, how=how, by=by):
            return "request", RequestEvent(id=request_id, how=how, by=by)
    return None


def _describe_notice(event: events.ConversationEvent) -> tuple[str, Struct] | None:
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
    event: events.ConversationEvent, hosted: hosted_conversation.HostedConversation
) -> tuple[str, Struct] | None:
    match event:
        case events.StatusChanged(detail=detail):
            return "status", _describe_status(hosted, detail or "")
        case events.SettingsChanged() | events.ClientStarted() | events.ClientEnded():
            return "status", _describe_status(hosted)
        case events.TurnFinished():
            return "finished", _describe_status(hosted)
    return None


def _describe_status(
    hosted: hosted_conversation.HostedConversation, detail: str = ""
) -> ConversationStatusEvent:
    return ConversationStatusEvent(conversation=hosted.describe(), detail=detail)


async def iter_running(conversations: registry.Conversations) -> AsyncGenerator[SentEvent, None]:
    """Yield all conversations, now and after each change."""
    before = None
    while True:
        # Taken before the document, so that changes while it is being sent are not missed.
        changed = conversations.changed
        document = conversations.document
        if document != before:
            before = document
            yield SentEvent(name="conversations", id="", data=document)
        await changed.wait()


Word = Annotated[str, Meta(max_length=200)]
MAX_PATH: Final = 4096


class StartBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The session to continue, or the directory to start in."""

    directory: Annotated[str, Meta(max_length=MAX_PATH)] = ""
    session: Annotated[str, Meta(max_length=MAX_ID)] = ""
    project: Annotated[str, Meta(max_length=MAX_PATH)] | None = None
    """The project of the session, if several have its id."""
    fork: bool = False
    at: Word = ""
    """The message after which a fork begins."""
    model: Word = ""
    permission_mode: Word = ""


def plan_start(
    services: Services, body: StartBody
) -> tuple[ConversationOptions, registry.StartedFrom]:
    """Return how to start the requested conversation; reads the session's file, if there is one."""
    check_mode(body.permission_mode)
    if body.session:
        return _plan_resume(services, body)
    options = ConversationOptions(
        directory=check_directory(body.directory),
        model=body.model or None,
        permission_mode=body.permission_mode or None,
        environment=_find_root(services),
    )
    return options, registry.StartedFrom()


def check_mode(mode: str) -> None:
    """Raise BadParameter for a mode that pages may not choose."""
    if mode and mode not in registry.MODES:
        raise BadParameter("permission_mode", f"Choose one of {', '.join(registry.MODES)}.")


def check_directory(given: str) -> str:
    """Return the directory for a typed path; raises BadParameter if it does not exist."""
    text = given.strip()
    if not text or any(unicodedata.category(each).startswith("C") for each in text):
        raise BadParameter("directory", "Specify a directory.")
    # `~user` is not expanded.
    path = Path(text).expanduser() if text == "~" or text.startswith("~/") else Path(text)
    if not path.is_absolute():
        raise BadParameter("directory", "Use an absolute path, or one that starts with ~.")
    if not path.is_dir():
        raise BadParameter("directory", f"No such directory: {path}")
    return os.path.normpath(path)


def _find_root(services: Services) -> dict[str, str]:
    roots = services.settings.roots
    # The sample sessions are part of the package: nothing is written there.
    if services.settings.is_demo or not roots:
        return {}
    return make_root_environment(roots[0], os.environ)


def _plan_resume(
    services: Services, body: StartBody
) -> tuple[ConversationOptions, registry.StartedFrom]:
    if services.settings.is_demo:
        raise BadParameter("session", "The sample sessions cannot be continued.")
    found = services.workspace.locate(body.session, body.project)
    plan = plan_resume(found.transcript, found.listing.cwd)
    options = ConversationOptions(
        directory=check_directory(plan.directory),
        session=plan.session_id,
        fork=body.fork,
        at=body.at or None,
        model=body.model or None,
        permission_mode=body.permission_mode or None,
        environment=plan.environment,
        stream_name=found.transcript.file,
    )
    records = tuple(read_transcript(found.transcript.file))
    title = found.listing.title or found.listing.first_prompt or ""
    return options, registry.StartedFrom(title=title, records=_cut(records, body.at))


def _cut(records: Sequence[Record], at: str) -> Sequence[Record]:
    """Return the records up to a message, in the order of the file."""
    if not at:
        return records
    for place, record in enumerate(records, 1):
        if isinstance(record, Chain) and record.uuid == at:
            return records[:place]
    raise BadParameter("at", "The session has no such message.")


PREFIX: Final = "/c"


class SettingsBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings to change; None for those that stay the same."""

    model: Word | None = None
    permission_mode: Word | None = None
    effort: Word | None = None
    """A level that the model supports, `off` for no thinking, or `on` for the default."""


class NamedBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The name of a queued prompt or background task, or instructions for a summary."""

    name: answers.Text = ""


class EventParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters: a conversation, and the event to resume after."""

    id: Annotated[Word, Meta(description="The conversation.")]
    last_id: Annotated[str, Meta(max_length=20, description="Like the header Last-Event-ID.")] = ""


class Done(Struct, frozen=True, kw_only=True):
    """The action was performed; `id` is what was started, sent or answered."""

    id: str = ""


class NoBody(Struct, frozen=True, kw_only=True):
    """Nothing: `{}`."""


class SecretTag(Struct, frozen=True, forbid_unknown_fields=True):
    """The tag of a secret: `[redacted:aws-key#1]`."""

    kind: str
    number: int


class RevealedSecret(Struct, frozen=True):
    """The secret behind a tag."""

    value: str


class Action(Struct, frozen=True):
    """Something that a page can request from a conversation."""

    body: type[Struct]
    summary: str
    answer: type[Struct] = Done


START_ACTION: Final = Action(
    StartBody, "Start a conversation; resume or fork a session if one is given."
)
ACTIONS: Final[dict[str, Action]] = {
    "prompts": Action(
        hosted_conversation.PromptBody, "Send a prompt; while Claude Code works it is queued."
    ),
    "answers": Action(answers.AnswerBody, "Answer an open request, once."),
    "interrupt": Action(NoBody, "Interrupt the turn."),
    "settings": Action(SettingsBody, "Change the model, permission mode or effort."),
    "compact": Action(NamedBody, "Compact the conversation; `name` tells the model what to keep."),
    "withdraw": Action(NamedBody, "Withdraw the queued prompt `name`."),
    "edit": Action(
        NamedBody, "Withdraw the queued prompt `name` for editing.", hosted_conversation.PromptBody
    ),
    "tasks": Action(NamedBody, "Stop the background task `name`."),
    "reveal": Action(SecretTag, "Show the secret behind a tag.", RevealedSecret),
    "end": Action(NoBody, "End the conversation; its session can be resumed."),
}
