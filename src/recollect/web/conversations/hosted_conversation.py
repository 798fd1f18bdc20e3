"""One conversation that this server runs: its client, its session so far, and its events; and the
prompts that pages send to it, with references and images.

Records come in on the event loop and are only queued there; threads that render a page add them to
the session under a lock, because a session must not be read while it is being extended. Across a
resume, the stream does not link records: the first new one is placed after the last one that was
read from the file.

All pages of a conversation read the same numbered events, so nothing is lost after a reload, in a
second tab or on a lost connection. The event of a record is published once the record is in the
session, so the turns that a page then requests contain it. A prompt that is taken back for editing
is returned to the page as it was sent. Secrets are masked here, once for all pages; only the
client's requests stay unmasked, because they are answered.
"""

import asyncio
import base64
import binascii
import threading
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct
from msgspec.structs import replace

from recollect.documents.events import ConversationRow
from recollect.launch import conversation_events as events
from recollect.launch.context_references import ContextReference, read_reference
from recollect.launch.conversation import Conversation
from recollect.reader.line_blocks import mask_text, mask_value
from recollect.records.conversation_records import ApiMessage, Assistant, User, UserMessage
from recollect.records.envelope import Chain, Record, Span
from recollect.records.tools import canonical_name
from recollect.records.tools.file_tools import CHANGE_TOOLS
from recollect.redact.growing_text import GrowingText
from recollect.redact.quick_masks import cut_text
from recollect.render.views.growing_turns import GrowingTurns
from recollect.session import prompt_contexts, record_texts, session, subagents, tool_effects
from recollect.web.conversations.answers import Text
from recollect.web.conversations.rendered_turns import RenderedTurns
from recollect.web.http_messages import BadParameter

_RASTER: Final = {
    "image/png": b"\x89PNG",
    "image/jpeg": b"\xff\xd8\xff",
    "image/gif": b"GIF8",
    "image/webp": b"RIFF",
}


class ImageBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An image of a prompt; `data` is base64."""

    media_type: Literal["image/png", "image/jpeg", "image/gif", "image/webp"]
    data: str


class PromptBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A prompt with its references and images."""

    text: Text
    contexts: Annotated[list[ContextReference], Meta(max_length=50)] = []
    images: Annotated[list[ImageBody], Meta(max_length=20)] = []


def write_prompt(directory: str, body: PromptBody) -> str:
    """Return the text to send, with its references; reads files and git."""
    found = [read_reference(Path(directory), each) for each in body.contexts]
    return prompt_contexts.attach_contexts(
        body.text, [context for context, _ in found], [content for _, content in found]
    )


def read_image(image: ImageBody) -> events.PromptImage:
    """Return an image; raises BadParameter if its data is not of its media type."""
    try:
        data = base64.b64decode(image.data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise BadParameter("images", "An image is not valid base64.") from error
    if not data.startswith(_RASTER[image.media_type]):
        raise BadParameter("images", f"An image is not {image.media_type}.")
    return events.PromptImage(image.media_type, data)


ReceivedRecord = tuple[str | None, Record]
"""A record, and the tool call that started its subagent; None for the main conversation."""


_DETAIL_TOOLS: Final = tool_effects.LIST_TOOLS | CHANGE_TOOLS
"""Tools whose results are shown beside the conversation."""


class SessionView:
    """A session that grows while it is shown."""

    def __init__(self, records: Sequence[Record] = ()) -> None:
        self._known = {uuid for record in records if (uuid := _uuid_of(record))}
        self._waiting: list[ReceivedRecord] = []
        self._lock = threading.Lock()
        self._session = session.Session(records)
        self._last = self._session.main_path[-1] if self._session.main_path else None
        self._end = max((each.span.end for each in records if each.span), default=0)
        """The offset of the next record if all were in one file."""
        self._agents: dict[str, GrowingTurns] = {}
        self._is_attached = True
        self._detail_calls: set[str] = set()
        self.details_revision = 0
        """Counts the changes of the todo list and of files since the conversation was started."""
        self._turns = GrowingTurns(self._session, self._agents, self._attach)

    def add(self, agent: str | None, record: Record) -> None:
        """Queue a record; it is added to the session at the next use."""
        self._waiting.append((agent, record))

    @contextmanager
    def use(self) -> Iterator[session.Session]:
        """Lock the session, and return it up to date."""
        with self.use_turns():
            self._attach()
            yield self._session

    @contextmanager
    def use_turns(self) -> Iterator[GrowingTurns]:
        """Lock the views of its turns, which cost less than the session while a turn is running."""
        with self._lock:
            waiting, self._waiting = self._waiting, []
            if waiting:
                self._extend(waiting)
            yield self._turns

    def _extend(self, received: Sequence[ReceivedRecord]) -> None:
        own: list[Record] = []
        grown: dict[str, None] = {}
        for agent, record in received:
            uuid = _uuid_of(record)
            if uuid in self._known:
                continue
            if uuid:
                self._known.add(uuid)
            self._note_details(record)
            if agent is None:
                own.append(self._place(self._link(record)))
            else:
                self._agents.setdefault(agent, GrowingTurns(session.Session())).add([record])
                grown[agent] = None
        self._turns.add(own)
        for agent in grown:
            self._turns.note_growth(agent)
        self._is_attached = not self._agents

    def _attach(self) -> None:
        if not self._is_attached:
            subagents.attach_subagents(self._session, self._list_children())
            self._is_attached = True

    def _link(self, record: Record) -> Record:
        if isinstance(record, Chain) and record.uuid and record.parent_uuid is None:
            record = replace(record, parent_uuid=self._last)
        # Only the first one lacks its parent.
        self._last = None if isinstance(record, Chain) and record.uuid else self._last
        return record

    def _place(self, record: Record) -> Record:
        """Put a record after all others: every client counts the bytes of its stream from 0."""
        span = Span("", self._end, record.span.length if record.span else 1)
        self._end = span.end
        return replace(record, span=span)

    def _note_details(self, record: Record) -> None:
        match record:
            case Assistant(message=ApiMessage(content=content)):
                self._detail_calls.update(
                    use.id
                    for use in record_texts.iter_tool_uses(content)
                    if canonical_name(use.name) in _DETAIL_TOOLS
                )
            case User(message=UserMessage(content=content)) if self._detail_calls:
                done = {result.tool_use_id for result in record_texts.iter_tool_results(content)}
                self.details_revision += not done.isdisjoint(self._detail_calls)

    def _list_children(self) -> list[subagents.Child]:
        return [
            subagents.Child(
                agent_id=call, session=each.session, meta=subagents.SubagentMeta(tool_use_id=call)
            )
            for call, each in self._agents.items()
        ]


def _uuid_of(record: Record) -> str | None:
    return record.uuid if isinstance(record, Chain) else None


MAX_TITLE: Final = 200
NO_THINKING: Final = "off"
"""The effort of a model that does not think."""

_BlockName = tuple[str | None, str, int]


class _OpenBlock:
    """A block that is being written, and what each event adds to it."""

    def __init__(self, first: int, mask: Callable[[str], str]) -> None:
        self.first = first
        self.growing = GrowingText(mask)
        self.shown: dict[int, str] = {}


class HostedConversation:
    """A conversation, and its state for pages."""

    def __init__(
        self,
        conversation_id: str,
        conversation: Conversation,
        directory: str,
        *,
        title: str = "",
        history: Sequence[Record] = (),
    ) -> None:
        self.id = conversation_id
        self.conversation = conversation
        self.directory = directory
        self.title = title
        """The title of the session, or the first prompt here."""
        self.is_running = True
        """Whether prompts can be sent; a client that has exited is restarted for a prompt."""
        self.view = SessionView(history)
        self.rendered = RenderedTurns()
        """The rendered turns that pages have; only changed while the session is in use."""
        self.started = self.active = time.time()
        self.prompts: tuple[events.PromptQueued, ...] = ()
        """Queued prompts, in order."""
        self.requests: tuple[events.ConversationRequest, ...] = ()
        """Open requests to the user, oldest first."""
        self.asked: dict[str, float] = {}
        """When each request arrived."""
        self.waited_seconds = 0.0
        self.waiting_since: float | None = None
        self.tasks: dict[str, str] = {}
        self.notice = ""
        """Why the client ended, if that was unexpected."""
        self._number = 0
        self._progress = asyncio.Event()
        self._is_fed = False
        self._open_blocks: dict[_BlockName, _OpenBlock] = {}
        self._drafts: dict[str, PromptBody] = {}

    @property
    def stream_name(self) -> str:
        """The name under which its secrets are recorded."""
        return self.conversation.options.stream_name

    def find_streamed(self, event: events.BlockEvent) -> str:
        """Return the text of a block since the previous event; empty once it is closed."""
        block = self._open_blocks.get(_name_block(event))
        return block.shown.get(event.number, "") if block else ""

    @property
    def resume_after(self) -> int:
        """The number of the event after which a newly rendered page continues.

        The text streamed so far in an open block is sent again: it is not in any record yet.
        """
        first = min((each.first for each in self._open_blocks.values()), default=None)
        return self._number if first is None else first - 1

    def describe(self) -> ConversationRow:
        """Return the conversation as lists show it."""
        conversation = self.conversation
        row = ConversationRow(
            id=self.id,
            session_id=conversation.session_id,
            title=self.title,
            directory=self.directory,
            status=self._name_status(),
            waiting=tuple(map(name_request, conversation.pending)),
            model=conversation.model,
            permission_mode=conversation.permission_mode,
            effort=self._name_effort(),
            cost_usd=conversation.cost,
            started=self.started,
            active=self.active,
            waited_seconds=self.waited_seconds,
            waiting_since=self.waiting_since,
        )
        return mask_value(self.stream_name, row)

    def _name_status(self) -> str:
        status = self.conversation.status
        # A client that died can be restarted; until then, the conversation is idle.
        is_asleep = self.is_running and status is events.ConversationStatus.ENDED
        return (events.ConversationStatus.IDLE if is_asleep else status).value

    def _name_effort(self) -> str | None:
        options = self.conversation.options
        return NO_THINKING if options.thinking_tokens == 0 else options.effort

    def keep_draft(self, uuid: str, draft: PromptBody) -> None:
        """Keep a prompt in the form that a page sent, while it is queued."""
        if any(each.uuid == uuid for each in self.conversation.queue):
            self._drafts[uuid] = draft

    def find_draft(self, uuid: str) -> PromptBody | None:
        """Return a queued prompt in the form that a page sent; None if it is no longer queued."""
        queued = next((each for each in self.conversation.queue if each.uuid == uuid), None)
        return self._drafts.get(uuid, PromptBody(text=queued.text)) if queued else None

    async def feed(self, on_change: Callable[[], None]) -> None:
        """Process every event; return after the last one."""
        try:
            async for event in self.conversation.events():
                self._take(event)
                self._number = event.number
                self._wake()
                if not isinstance(event, events.BlockEvent):
                    on_change()
        finally:
            self._is_fed = True
            self._wake()

    async def iter_events(self, after: int) -> AsyncGenerator[events.ConversationEvent, None]:
        """Yield the events after this number, each once the session contains it."""
        async for event in self.conversation.events(after):
            while event.number > self._number and not self._is_fed:
                await self._progress.wait()
            yield event

    def _wake(self) -> None:
        progress, self._progress = self._progress, asyncio.Event()
        progress.set()

    def _take(self, event: events.ConversationEvent) -> None:
        if not isinstance(event, events.BlockEvent):
            self.active = event.time
        match event:
            case events.RecordReceived(record=record, agent=agent):
                self.view.add(agent, record)
                if event.index is not None:
                    self._open_blocks.pop((agent, event.message_id or "", event.index), None)
            case events.BlockStarted():
                self._open_blocks[_name_block(event)] = _OpenBlock(event.number, self._mask)
            case events.BlockEvent():
                self._take_streamed(event)
            case events.TurnFinished() | events.ClientEnded():
                self._open_blocks.clear()
                self.notice = (
                    self._mask(event.words) if isinstance(event, events.ClientEnded) else ""
                )
            case events.TasksChanged(tasks=tasks):
                self.tasks = mask_value(self.stream_name, tasks)
            case _:
                self._take_waiting(event)

    def _take_streamed(self, event: events.BlockEvent) -> None:
        block = self._open_blocks.get(_name_block(event))
        text = getattr(event, "text", "")
        if block is not None and text:
            block.shown[event.number] = block.growing.add(text)

    def _mask(self, text: str) -> str:
        return mask_text(self.stream_name, text)

    def _take_waiting(self, event: events.ConversationEvent) -> None:
        """Update the queued prompts and the open requests."""
        match event:
            case events.PromptQueued():
                shown = replace(
                    event, text=prompt_contexts.summarize_prompt(self._mask(event.text))
                )
                self.prompts = (*self.prompts, shown)
                self.title = self.title or cut_text(" ".join(shown.text.split()), MAX_TITLE)
            case events.PromptTaken(uuid=uuid) | events.PromptWithdrawn(uuid=uuid):
                self.prompts = tuple(each for each in self.prompts if each.uuid != uuid)
                self._drafts.pop(uuid, None)
            case events.RequestAsked(request=request):
                self.requests = (*self.requests, request)
                self.asked[request.id] = event.time
                self._count_waiting(event.time)
            case events.RequestSettled(id=request_id):
                self.requests = tuple(each for each in self.requests if each.id != request_id)
                self.asked.pop(request_id, None)
                self._count_waiting(event.time)

    def _count_waiting(self, moment: float) -> None:
        """Add the time since the last request was opened or settled, if one was open."""
        if self.waiting_since is not None:
            self.waited_seconds += max(moment - self.waiting_since, 0.0)
        self.waiting_since = moment if self.requests else None


def _name_block(event: events.BlockEvent) -> _BlockName:
    return event.agent, event.message_id, event.index


def name_request(request: events.ConversationRequest) -> str:
    """Return the subject of a request in one word."""
    match request:
        case events.ToolRequest(tool=tool):
            return tool
        case events.QuestionRequest():
            return "question"
        case events.PlanRequest():
            return "plan"
    return "elicitation"
