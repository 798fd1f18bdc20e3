"""`/c/{id}` and below: a conversation that runs, its turns, its tool calls and what it asks.

The turns come from the session in memory and are drawn like those of any session. The page is given
the number of the last event that it contains; its script goes on from there.
"""

from typing import Annotated

from markupsafe import Markup
from msgspec import Meta, Struct

from recollect.documents.events import ConversationRow
from recollect.launch.conversation_events import PromptQueued
from recollect.records.tools.planning_tools import Todo
from recollect.render.html.html_turns import Frame, render_call, render_turn
from recollect.render.views.turn_views import build_turn_views
from recollect.session.session import Session
from recollect.web.conversations.cards import RequestCard, make_card
from recollect.web.conversations.drawing import Drawing
from recollect.web.conversations.hosting import HostedConversation
from recollect.web.conversations.registry import MODES
from recollect.web.pages.session_page import FIRST_TURNS, TurnsFragment
from recollect.web.parameters import MAX_ID
from recollect.web.services import Services
from recollect.web.templating import PageContent, Translator
from recollect.workspace.session_places import find_agent, find_call

MAX_TURNS = 200
Name = Annotated[str, Meta(min_length=1, max_length=MAX_ID)]


class ConversationParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which conversation."""

    id: Name


class ConversationTurnsParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which turns of which conversation, or of one of its subagents."""

    id: Name
    agent: str = ""
    start: Annotated[int, Meta(ge=0, le=10_000_000)] = 0
    count: Annotated[int, Meta(ge=1, le=MAX_TURNS)] = FIRST_TURNS
    since: Annotated[int, Meta(ge=0)] | None = None
    """The revision that the page has: only what has changed since is sent."""


class ConversationCallParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which tool call of which conversation."""

    id: Name
    call: Name
    whole: bool = False
    """Whether to include fields that the view of its tool leaves out."""


class ConversationRequestParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which request of which conversation."""

    id: Name
    request: Name


class ConversationPage(Struct, frozen=True, kw_only=True):
    """A conversation with its last turns, and all that is needed to go on."""

    conversation: ConversationRow
    address: str
    nonce: str
    start_nonce: str
    last_event: int
    turns: tuple[Markup, ...]
    start: int
    total: int
    cards: tuple[RequestCard, ...]
    prompts: tuple[PromptQueued, ...]
    tasks: dict[str, str]
    modes: tuple[str, ...]
    others: tuple[ConversationRow, ...]
    """All conversations of the server, for the list beside it."""
    max_running: int


class RequestFragment(Struct, frozen=True, kw_only=True):
    """The card of a request."""

    card: RequestCard | None
    """None if the request is settled by now."""


class CallBody(Struct, frozen=True, kw_only=True):
    """The details of a tool call."""

    body: Markup


class TodosFragment(Struct, frozen=True, kw_only=True):
    """The todo list as it is now."""

    todos: tuple[Todo, ...]


def make_path(conversation_id: str) -> str:
    """Return the path of a conversation's page."""
    return f"/c/{conversation_id}"


def render_conversation_page(
    services: Services, wanted: ConversationParameters, translator: Translator
) -> PageContent:
    """Render a conversation."""
    hosted = services.conversations.find(wanted.id)
    # Read first: what comes in between is then sent again, instead of lost.
    last_event = hosted.resume_after
    known = services.conversations.document
    with hosted.view.use() as session:
        total = len(session.turns)
        start = max(total - FIRST_TURNS, 0)
        turns = _render(session, hosted, translator, start, total)
    page = ConversationPage(
        conversation=hosted.describe(),
        address=make_path(hosted.id),
        nonce=services.permits.make_nonce(hosted.id),
        start_nonce=services.permits.make_nonce("start"),
        last_event=last_event,
        turns=turns,
        start=start,
        total=total,
        cards=tuple(make_card(each, hosted.directory) for each in hosted.requests),
        prompts=hosted.prompts,
        tasks=hosted.tasks,
        modes=MODES,
        others=known.conversations,
        max_running=known.max_running,
    )
    title = hosted.title or "converse.untitled"
    return PageContent("conversation.html", page, title=title, section="running")


def render_conversation_turns(
    services: Services, wanted: ConversationTurnsParameters, translator: Translator
) -> PageContent:
    """Render some turns of a conversation, or of one of its subagents."""
    hosted = services.conversations.find(wanted.id)
    with hosted.view.use() as session:
        owner = find_agent(session, wanted.agent) if wanted.agent else session
        total = len(owner.turns)
        stop = min(wanted.start + wanted.count, total)
        frame = _make_frame(hosted, translator)
        drawing = Drawing() if wanted.agent else hosted.drawing
        turns = drawing.draw(owner, frame, range(wanted.start, stop), wanted.since)
    fragment = TurnsFragment(
        turns=turns,
        start=wanted.start,
        next_start=max(stop, wanted.start),
        total=total,
        is_partial=False,
        agent=wanted.agent,
        at="",
        revision=None if wanted.agent else drawing.revision,
    )
    return PageContent("turns.html", fragment)


def render_conversation_call(
    services: Services, wanted: ConversationCallParameters, translator: Translator
) -> PageContent:
    """Render the details of a tool call."""
    hosted = services.conversations.find(wanted.id)
    with hosted.view.use() as session:
        call = find_call(session, wanted.call)
        body = render_call(
            call.whole if wanted.whole else call.step,
            _make_frame(hosted, translator),
            has_more=not wanted.whole and call.whole != call.step,
        )
    return PageContent("call.html", CallBody(body=body))


def render_request(services: Services, wanted: ConversationRequestParameters) -> PageContent:
    """Render the card of a request; nothing once it is settled."""
    hosted = services.conversations.find(wanted.id)
    request = next((each for each in hosted.requests if each.id == wanted.request), None)
    card = make_card(request, hosted.directory) if request else None
    return PageContent("request.html", RequestFragment(card=card))


def render_todos(services: Services, wanted: ConversationParameters) -> PageContent:
    """Render the todo list of a conversation."""
    with services.conversations.find(wanted.id).view.use() as session:
        return PageContent("todos.html", TodosFragment(todos=_list_todos(session)))


def _list_todos(session: Session) -> tuple[Todo, ...]:
    """Return the entries of the latest list, by whichever tool it is kept."""
    tasks = session.tasks[-1].tasks if session.tasks else ()
    if tasks:
        return tuple(Todo(content=each.subject or "", status=each.status) for each in tasks)
    return session.todos[-1].items if session.todos else ()


def _render(
    session: Session, hosted: HostedConversation, translator: Translator, start: int, stop: int
) -> tuple[Markup, ...]:
    frame = _make_frame(hosted, translator)
    views = build_turn_views(session, start=start, stop=stop)
    return tuple(render_turn(view, frame) for view in views)


def _make_frame(hosted: HostedConversation, translator: Translator) -> Frame:
    return Frame(
        address=make_path(hosted.id),
        translate=translator.translate,
        language=translator.language,
        directory=hosted.directory,
        has_raw=False,
    )
