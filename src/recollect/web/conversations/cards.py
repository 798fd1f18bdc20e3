"""Cards for what the client asks: drawn from its request alone, never from what was said.

A tool's request is shown as the tool would act: an edit as the difference to the file as it is now,
a command as a command, a page to fetch by its address.
"""

from typing import Final

from markupsafe import Markup
from msgspec import Struct
from msgspec.structs import replace

from recollect.documents.turns import Diff, Fields, Part
from recollect.launch.conversation_events import (
    ConversationRequest,
    ElicitationRequest,
    PlanRequest,
    QuestionRequest,
    Suggestion,
    ToolRequest,
)
from recollect.launch.elicitation_forms import FormField, read_form
from recollect.launch.proposed_changes import describe_proposal
from recollect.records.tools.planning_tools import Question
from recollect.render.html.html_parts import render_parts
from recollect.render.html.markdown import render_markdown
from recollect.render.views.part_builders import shorten_path
from recollect.web.conversations.answers import list_fields

ACCEPT_EDITS: Final = "acceptEdits"


class Rule(Struct, frozen=True, kw_only=True):
    """Something to allow from now on."""

    place: int
    kind: str
    """`addRules`, `addDirectories` or `setMode`."""
    text: str
    destination: str


class RequestCard(Struct, frozen=True, kw_only=True):
    """A request to a person."""

    id: str
    kind: str
    """`tool`, `question`, `plan` or `elicitation`."""
    tool: str = ""
    title: str = ""
    summary: str = ""
    reason: str = ""
    agent: str = ""
    body: Markup = Markup()
    rules: tuple[Rule, ...] = ()
    fields: tuple[tuple[str, str], ...] = ()
    questions: tuple[Question, ...] = ()
    form: tuple[FormField, ...] = ()
    """What an MCP server asks for."""


def make_card(request: ConversationRequest, directory: str) -> RequestCard:
    """Return the card of a request; reads the file that an edit would change."""
    match request:
        case ToolRequest():
            return _make_tool_card(request, directory)
        case QuestionRequest(questions=questions):
            return RequestCard(id=request.id, kind="question", questions=questions)
        case PlanRequest(plan=plan):
            return RequestCard(
                id=request.id,
                kind="plan",
                title=shorten_path(request.path or "", directory),
                body=Markup('<div class="prose">{}</div>').format(render_markdown(plan)),
                fields=(("plan", plan),),
            )
        case ElicitationRequest():
            named = (("server", request.server), ("url", request.url or ""))
            shown = Fields(tuple(each for each in named if each[1]))
            return RequestCard(
                id=request.id,
                kind="elicitation",
                title=request.message,
                body=render_parts((shown,)),
                form=read_form(request.form) if request.mode != "url" else (),
            )


def _make_tool_card(request: ToolRequest, directory: str) -> RequestCard:
    view = describe_proposal(request.tool, request.input, request.call_id or "")
    return RequestCard(
        id=request.id,
        kind="tool",
        tool=request.tool,
        title=shorten_path(view.title, directory),
        summary=view.summary,
        reason=request.reason or "",
        agent=request.agent_id or "",
        body=render_parts(_shorten(part, directory) for part in view.input),
        rules=_list_rules(request.suggestions),
        fields=tuple(list_fields(request.input)),
    )


def _shorten(part: Part, directory: str) -> Part:
    """Return a change with its path relative to the project."""
    if isinstance(part, Diff) and part.path:
        return replace(part, path=shorten_path(part.path, directory))
    return part


def _list_rules(suggestions: tuple[Suggestion, ...]) -> tuple[Rule, ...]:
    return tuple(
        Rule(place=place, kind=each.kind, text=each.text, destination=each.destination)
        for place, each in enumerate(suggestions)
    )
