"""The events of a conversation as lines, drawn like the turns of `show`.

Complete records become permanent lines; the block that is being written is returned apart, because
it changes until its record is there.
"""

from collections.abc import Iterator

from recollect.cli.follow_text import render_notice
from recollect.cli.run_text import StreamRenderer, describe_figures
from recollect.launch.conversation import Conversation
from recollect.launch.conversation_events import (
    ClientEnded,
    ClientSilent,
    ConversationEvent,
    LineUnparsed,
    NoticeReceived,
    PromptWithdrawn,
    RecordReceived,
    RequestSettled,
    StderrPrinted,
    TurnFinished,
)
from recollect.launch.stream_session import StreamRecord
from recollect.quantities import format_dollars
from recollect.records.stream.messages import Result
from recollect.render.terminal.canvas import Canvas
from recollect.render.views.part_builders import join_facts

_SUCCESS = "success"
_SETTLED_ELSEWHERE = {
    "cancelled": "the question was withdrawn",
    "lost": "the question was lost: claude ended",
}


class ChatOutput:
    """Draws events."""

    def __init__(self, conversation: Conversation, canvas: Canvas) -> None:
        self._conversation = conversation
        self._canvas = canvas
        self._renderer = StreamRenderer(canvas, conversation.stream)

    def draw(self, event: ConversationEvent) -> Iterator[str]:
        """Yield the permanent lines of an event."""
        if isinstance(event, RecordReceived):
            yield from self._renderer.feed(StreamRecord(event.agent, event.record))
            yield from self._renderer.flush()
            return
        text = describe_event(event)
        if text:
            yield from self._renderer.flush()
            yield from render_notice(text, self._canvas)

    def draw_partial(self) -> list[str]:
        """Return the lines of the block that is being written."""
        return self._renderer.render_partial()

    def draw_end(self) -> Iterator[str]:
        """Yield the totals, and how to go on later."""
        yield from self._renderer.flush()
        if self._conversation.stream.results:
            figures = describe_figures(self._conversation.stream.figures)
            yield from render_notice(figures, self._canvas)
            name = self._conversation.session_id
            yield from render_notice(f"continue with: recollect chat {name}", self._canvas)

    @property
    def status(self) -> str:
        """What the conversation is doing, in one line."""
        conversation = self._conversation
        queued, tasks = len(conversation.queue), len(conversation.tasks)
        cost = conversation.cost
        return join_facts(
            str(conversation.status),
            conversation.model,
            conversation.permission_mode,
            f"{queued} queued" if queued else None,
            f"{tasks} in the background" if tasks else None,
            None if cost is None else format_dollars(cost, 4),
        )


def describe_event(event: ConversationEvent) -> str | None:
    """Return a sentence about an event that is not part of the conversation itself."""
    text: str | None = None
    match event:
        case NoticeReceived(text=said):
            text = said
        case StderrPrinted(text=said) | LineUnparsed(text=said):
            text = f"claude: {said}" if said.strip() else None
        case TurnFinished(result=result):
            text = _describe_end(result)
        case RequestSettled(how=how):
            text = _SETTLED_ELSEWHERE.get(how)
        case PromptWithdrawn():
            text = "the queued prompt was withdrawn"
        case ClientSilent(seconds=seconds):
            text = f"claude has printed nothing for {seconds:.0f} s"
        case ClientEnded(reason="died" | "failed", code=code):
            text = f"claude ended with code {code}; the next prompt starts it again"
    return text


def _describe_end(result: Result) -> str | None:
    if result.subtype in (None, _SUCCESS) and not result.is_error:
        return None
    return join_facts(f"ended: {result.subtype}", result.terminal_reason, "; ".join(result.errors))
