"""One conversation that this server runs: its client, its session so far, and its events.

Every page that shows it reads the same numbered events, so a reload, a second tab or a lost
connection misses nothing. The event of a record is published once the record is in the session, so
the turns that a page then asks for contain it.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Final

from recollect.documents.events import ConversationRow
from recollect.launch import conversation_events as events
from recollect.launch.conversation import Conversation
from recollect.launch.conversation_events import ConversationEvent, ConversationRequest
from recollect.records.envelope import Record
from recollect.web.conversations.drawing import Drawing
from recollect.web.conversations.session_view import SessionView

MAX_TITLE: Final = 200
NO_THINKING: Final = "off"
"""The effort of a model that does not think."""

_BlockName = tuple[str | None, str, int]


class HostedConversation:
    """A conversation, and what pages need of it."""

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
        """Whether prompts can be sent; a client that has exited is started again for one."""
        self.view = SessionView(history)
        self.drawing = Drawing()
        """What pages have of the session; only changed while the session is in use."""
        self.started = self.active = time.time()
        self.prompts: tuple[events.PromptQueued, ...] = ()
        """Prompts that wait, in order."""
        self.requests: tuple[ConversationRequest, ...] = ()
        """What waits for a person, in the order in which it was asked."""
        self.tasks: dict[str, str] = {}
        self.notice = ""
        """Why the client ended, if not as asked."""
        self._number = 0
        self._progress = asyncio.Event()
        self._is_fed = False
        self._open_blocks: dict[_BlockName, int] = {}

    @property
    def resume_after(self) -> int:
        """The event after which a page that was just rendered goes on.

        What was streamed of a block that is still open is sent again: no record has it yet.
        """
        first = min(self._open_blocks.values(), default=None)
        return self._number if first is None else first - 1

    def describe(self) -> ConversationRow:
        """Return the conversation as lists show it."""
        conversation = self.conversation
        return ConversationRow(
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
        )

    def _name_status(self) -> str:
        status = self.conversation.status
        # A client that died can be started again: until then nothing is going on.
        is_asleep = self.is_running and status is events.ConversationStatus.ENDED
        return (events.ConversationStatus.IDLE if is_asleep else status).value

    def _name_effort(self) -> str | None:
        options = self.conversation.options
        return NO_THINKING if options.thinking_tokens == 0 else options.effort

    async def feed(self, on_change: Callable[[], None]) -> None:
        """Take every event in; returns when there will be no more."""
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

    async def iter_events(self, after: int) -> AsyncGenerator[ConversationEvent, None]:
        """Yield the events after this number, each once it is part of the session."""
        async for event in self.conversation.events(after):
            while event.number > self._number and not self._is_fed:
                await self._progress.wait()
            yield event

    def _wake(self) -> None:
        progress, self._progress = self._progress, asyncio.Event()
        progress.set()

    def _take(self, event: ConversationEvent) -> None:
        if not isinstance(event, events.BlockEvent):
            self.active = event.time
        match event:
            case events.RecordReceived(record=record, agent=agent):
                self.view.add(agent, record)
                if event.index is not None:
                    self._open_blocks.pop((agent, event.message_id or "", event.index), None)
            case events.BlockStarted():
                self._open_blocks[event.agent, event.message_id, event.index] = event.number
            case events.TurnFinished() | events.ClientEnded():
                self._open_blocks.clear()
                self.notice = event.words if isinstance(event, events.ClientEnded) else ""
            case events.TasksChanged(tasks=tasks):
                self.tasks = tasks
            case _:
                self._take_waiting(event)

    def _take_waiting(self, event: ConversationEvent) -> None:
        """Take in what waits, for the client or for a person, and what no longer does."""
        match event:
            case events.PromptQueued():
                self.prompts = (*self.prompts, event)
                self.title = self.title or " ".join(event.text.split())[:MAX_TITLE]
            case events.PromptTaken(uuid=uuid) | events.PromptWithdrawn(uuid=uuid):
                self.prompts = tuple(each for each in self.prompts if each.uuid != uuid)
            case events.RequestAsked(request=request):
                self.requests = (*self.requests, request)
            case events.RequestSettled(id=request_id):
                self.requests = tuple(each for each in self.requests if each.id != request_id)


def name_request(request: ConversationRequest) -> str:
    """Return what a request is about, in a word."""
    match request:
        case events.ToolRequest(tool=tool):
            return tool
        case events.QuestionRequest():
            return "question"
        case events.PlanRequest():
            return "plan"
    return "elicitation"
