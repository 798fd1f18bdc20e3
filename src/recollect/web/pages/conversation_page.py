"""`/c/{id}` and below: a running conversation, its turns, tool calls and requests; `/running` and
`/new`: everything that runs on this machine, and the form that starts a conversation.

The turns come from the session in memory and are rendered like those of any session. The page has
the number of the last event that it includes, and its script continues from there.
"""

import shlex
from collections.abc import Iterable, Iterator
from typing import Annotated, Final

from markupsafe import Markup
from msgspec import Meta, Struct, structs

from recollect.documents.events import ConversationRow
from recollect.documents.file_versions import FileChange
from recollect.documents.session_listing import SessionListing
from recollect.launch.conversation_events import ConversationRequest, PromptQueued
from recollect.library.session_filters import SessionQuery
from recollect.records.tools.planning_tools import Todo
from recollect.render.html.html_parts import PartOptions
from recollect.render.html.html_turns import Frame, render_call, render_turn
from recollect.render.views.overview import list_changes
from recollect.render.views.part_builders import shorten_path
from recollect.render.views.turn_views import build_turn_views
from recollect.session.session import Session
from recollect.web import http_messages, session_endpoints, templating
from recollect.web.conversations import answers, hosted_conversation, page_messages, registry
from recollect.web.pages.session_page import FIRST_TURNS, TurnsFragment
from recollect.web.services import Services
from recollect.workspace.session_places import find_agent, find_call

MAX_TURNS = 200
Name = Annotated[str, Meta(min_length=1, max_length=http_messages.MAX_ID)]


class ConversationParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters: a conversation."""

    id: Name


class ConversationTurnsParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters: a range of turns of a conversation, or of one of its subagents."""

    id: Name
    agent: str = ""
    start: Annotated[int, Meta(ge=0, le=10_000_000)] = 0
    count: Annotated[int, Meta(ge=1, le=MAX_TURNS)] = FIRST_TURNS
    since: Annotated[int, Meta(ge=0)] | None = None
    """The page's revision: only changes since then are sent."""


class ConversationCallParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters: a tool call of a conversation."""

    id: Name
    call: Name
    whole: bool = False
    """Whether to include fields that the view of its tool leaves out."""


class ConversationRequestParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters: a request of a conversation."""

    id: Name
    request: Name


class ConversationPage(Struct, frozen=True, kw_only=True):
    """A conversation with its last turns, and the data to continue it."""

    conversation: ConversationRow
    url: str
    nonce: str
    start_nonce: str
    last_event: int
    details_revision: int
    turns: tuple[Markup, ...]
    start: int
    total: int
    cards: tuple[answers.RequestCard, ...]
    prompts: tuple[PromptQueued, ...]
    tasks: dict[str, str]
    modes: tuple[str, ...]
    others: tuple[ConversationRow, ...]
    """All conversations of the server, for the list beside it."""
    max_running: int


class RequestFragment(Struct, frozen=True, kw_only=True):
    """The card of a request."""

    card: answers.RequestCard | None
    """None if the request is already settled."""


class CallBody(Struct, frozen=True, kw_only=True):
    """The details of a tool call."""

    body: Markup


class FileRow(Struct, frozen=True, kw_only=True):
    """A file that the conversation changed."""

    path: str
    name: str
    """Relative to the directory of the conversation, if inside."""
    lines_added: int
    lines_removed: int


class DetailsFragment(Struct, frozen=True, kw_only=True):
    """The current todo list, and the changed files, latest first."""

    todos: tuple[Todo, ...]
    files: tuple[FileRow, ...]


def make_path(conversation_id: str) -> str:
    """Return the path of a conversation's page."""
    return f"/c/{conversation_id}"


def render_conversation_page(
    services: Services, wanted: ConversationParameters, translator: templating.Translator
) -> templating.PageContent:
    """Render a conversation."""
    hosted = services.conversations.find(wanted.id)
    # Read first, so that an event in between is sent twice rather than lost.
    last_event = hosted.resume_after
    known = services.conversations.document
    with hosted.view.use_turns() as growing:
        total = growing.count
        start = max(total - FIRST_TURNS, 0)
        views = growing.show(range(start, total))
        details_revision = hosted.view.details_revision
    frame = _make_frame(hosted, translator)
    page = ConversationPage(
        conversation=hosted.describe(),
        url=make_path(hosted.id),
        nonce=services.run_access.make_nonce(hosted.id),
        start_nonce=services.run_access.make_nonce("start"),
        last_event=last_event,
        details_revision=details_revision,
        turns=tuple(render_turn(view, frame) for view in views),
        start=start,
        total=total,
        cards=tuple(_make_card(each, hosted, translator) for each in hosted.requests),
        prompts=hosted.prompts,
        tasks=hosted.tasks,
        modes=registry.MODES,
        others=known.conversations,
        max_running=known.max_running,
    )
    title = hosted.title or "converse.untitled"
    return templating.PageContent("conversation.html", page, title=title, section="running")


def render_conversation_turns(
    services: Services, wanted: ConversationTurnsParameters, translator: templating.Translator
) -> templating.PageContent:
    """Render some turns of a conversation, or of one of its subagents."""
    hosted = services.conversations.find(wanted.id)
    frame = _make_frame(hosted, translator)
    if wanted.agent:
        return templating.PageContent("turns.html", _render_agent(hosted, wanted, frame))
    with hosted.view.use_turns() as growing:
        total = growing.count
        stop = min(wanted.start + wanted.count, total)
        turns = hosted.rendered.render(growing.show(range(wanted.start, stop)), frame, wanted.since)
        revision, details_revision = hosted.rendered.revision, hosted.view.details_revision
    fragment = TurnsFragment(
        turns=turns,
        start=wanted.start,
        next_start=max(stop, wanted.start),
        total=total,
        is_partial=False,
        agent="",
        at="",
        revision=revision,
        details_revision=details_revision,
    )
    return templating.PageContent("turns.html", fragment)


def _render_agent(
    hosted: hosted_conversation.HostedConversation,
    wanted: ConversationTurnsParameters,
    frame: Frame,
) -> TurnsFragment:
    with hosted.view.use() as session:
        owner = find_agent(session, wanted.agent)
        total = len(owner.turns)
        stop = min(wanted.start + wanted.count, total)
        views = build_turn_views(owner, start=wanted.start, stop=stop)
    return TurnsFragment(
        turns=tuple(render_turn(view, frame) for view in views),
        start=wanted.start,
        next_start=max(stop, wanted.start),
        total=total,
        is_partial=False,
        agent=wanted.agent,
        at="",
    )


def render_conversation_call(
    services: Services, wanted: ConversationCallParameters, translator: templating.Translator
) -> templating.PageContent:
    """Render the details of a tool call."""
    hosted = services.conversations.find(wanted.id)
    with hosted.view.use() as session:
        call = find_call(session, wanted.call, hosted.directory)
        body = render_call(
            call.whole if wanted.whole else call.step,
            _make_frame(hosted, translator),
            has_more=not wanted.whole and call.whole != call.step,
        )
    return templating.PageContent("call.html", CallBody(body=body))


def render_request(
    services: Services, wanted: ConversationRequestParameters, translator: templating.Translator
) -> templating.PageContent:
    """Render the card of a request; nothing once it is settled."""
    hosted = services.conversations.find(wanted.id)
    request = next((each for each in hosted.requests if each.id == wanted.request), None)
    card = _make_card(request, hosted, translator) if request else None
    return templating.PageContent("request.html", RequestFragment(card=card))


def _make_card(
    request: ConversationRequest,
    hosted: hosted_conversation.HostedConversation,
    translator: templating.Translator,
) -> answers.RequestCard:
    mask = answers.CardMask(
        stream_name=hosted.stream_name,
        url=f"{make_path(hosted.id)}/reveal",
        reveal=translator.translate("Reveal"),
    )
    card = answers.make_card(request, hosted.directory, mask)
    return structs.replace(card, asked=hosted.asked.get(request.id))


def render_details(services: Services, wanted: ConversationParameters) -> templating.PageContent:
    """Render the side panel of a conversation: its todo list, and the files that it changed."""
    hosted = services.conversations.find(wanted.id)
    with hosted.view.use() as session:
        todos, changes = _list_todos(session), list_changes([session], with_diff=False)
    files = tuple(_sum_files(changes, hosted.directory))
    return templating.PageContent("details.html", DetailsFragment(todos=todos, files=files))


def _sum_files(changes: Iterable[FileChange], directory: str) -> Iterator[FileRow]:
    by_path: dict[str, list[FileChange]] = {}
    for change in changes:
        by_path[change.path] = [*by_path.pop(change.path, ()), change]
    for path, members in reversed(by_path.items()):
        yield FileRow(
            path=path,
            name=shorten_path(path, directory),
            lines_added=sum(each.lines_added for each in members),
            lines_removed=sum(each.lines_removed for each in members),
        )


def _list_todos(session: Session) -> tuple[Todo, ...]:
    """Return the entries of the latest todo or task list."""
    tasks = session.tasks[-1].tasks if session.tasks else ()
    if tasks:
        return tuple(Todo(content=each.subject or "", status=each.status) for each in tasks)
    return session.todos[-1].items if session.todos else ()


def _make_frame(
    hosted: hosted_conversation.HostedConversation, translator: templating.Translator
) -> Frame:
    return Frame(
        url=make_path(hosted.id),
        translate=translator.translate,
        translate_phrase=translator.translate_phrase,
        parts=PartOptions(translate=translator.translate_phrase, directory=hosted.directory),
        language=translator.language,
        directory=hosted.directory,
        has_raw=False,
        reveals=True,
    )


MODELS: Final = ("opus", "sonnet", "haiku")
"""Aliases that every client supports; a conversation's page has the client's own list."""

MAX_PROJECTS: Final = 200


class NewParameters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The directory or session to start with, if any."""

    directory: Annotated[str, Meta(max_length=page_messages.MAX_PATH)] = ""


class NewPage(Struct, frozen=True, kw_only=True):
    """The form for a new conversation; without `--allow-run`, the command to copy."""

    allow_run: bool
    nonce: str
    directory: str
    projects: tuple[str, ...]
    """The working directories of sessions, most recently active first."""
    models: tuple[str, ...]
    modes: tuple[str, ...]
    command: str


class RunningPage(Struct, frozen=True, kw_only=True):
    """Running conversations of this server, and clients that were started elsewhere."""

    allow_run: bool
    conversations: tuple[ConversationRow, ...]
    nonces: dict[str, str]
    """By conversation, because each can be stopped from here."""
    max_running: int
    elsewhere: tuple[SessionListing, ...]


def render_new_page(services: Services, wanted: NewParameters) -> templating.PageContent:
    """Render the form for a new conversation."""
    known = services.workspace.choices.projects[:MAX_PROJECTS]
    projects = tuple(dict.fromkeys(each.path for each in known if each.path))
    directory = wanted.directory or next(iter(projects), "")
    page = NewPage(
        allow_run=services.run_access.allow_run,
        nonce=services.run_access.make_nonce(registry.START),
        directory=directory,
        projects=projects,
        models=MODELS,
        modes=registry.MODES,
        command=f"cd {shlex.quote(directory)} && claude" if directory else "claude",
    )
    return templating.PageContent("new.html", page, title="converse.new", section="running")


def render_running_page(
    services: Services, _: session_endpoints.NoParameters
) -> templating.PageContent:
    """Render the page of everything that is running."""
    known = services.conversations.document
    own = {each.session_id for each in known.conversations if each.status != "ended"}
    live = services.workspace.sessions(SessionQuery(is_live=True), page_size=100).sessions
    page = RunningPage(
        allow_run=services.run_access.allow_run,
        conversations=known.conversations,
        nonces={each.id: services.run_access.make_nonce(each.id) for each in known.conversations},
        max_running=known.max_running,
        elsewhere=tuple(each for each in live if each.id not in own),
    )
    return templating.PageContent("running.html", page, title="running.title", section="running")
