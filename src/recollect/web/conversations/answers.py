"""Cards for the client's requests, and the answers of pages, validated against the request.

A page sends the id of the request, a decision and, at most, positions and texts: a rule to remember
is always one of the client's suggestions, and an edited input is the model's with changed values.
Nothing else from a page reaches the client. Pages have tags instead of secrets; the secrets are
restored here.

A tool's request shows what the tool would do: an edit as a diff against the current file, a command
as a command, a page to fetch as its URL. Secrets in it are masked, and a click reveals one;
approving a request approves it unmasked.
"""

import re
from collections.abc import Callable
from typing import Annotated, Final, Literal, TypeVar

import msgspec
from markupsafe import Markup

from recollect.documents.turn_documents import Diff, Fields, Part
from recollect.errors import UsageError
from recollect.launch import conversation_events
from recollect.launch.request_details import FormField, describe_proposal, fill_form, read_form
from recollect.reader.line_blocks import mask_value
from recollect.records.decoding import decode_value
from recollect.records.tools.planning_tools import Question
from recollect.render.html.html_parts import render_parts
from recollect.render.html.html_text import TAG, TAG_START, add_chips, render_markdown
from recollect.render.views.part_builders import shorten_path
from recollect.web.http_messages import BadParameter

MAX_TEXT: Final = 1_000_000
Text = Annotated[str, msgspec.Meta(max_length=MAX_TEXT)]
Decision = Literal["allow", "always", "edit", "deny", "answer", "approve", "accept_edits"]


class AnswerBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An answer to a request."""

    request: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
    decision: Decision
    suggestion: Annotated[int, msgspec.Meta(ge=0, le=100)] | None = None
    """The index of the suggestion to remember, with `always`."""
    fields: dict[str, Text] = {}
    """The edited input, with `edit`: strings as they are, everything else as JSON."""
    answers: dict[str, list[Annotated[int, msgspec.Meta(ge=0, le=100)]]] = {}
    """The chosen options by question or form field, with `answer`; all by position.
    Free text, and texts of a form, are in `fields`, by the same positions.
    """
    message: Text = ""
    """The message for the model, with `deny`."""


RevealTag = Callable[[str, int], str | None]
"""Maps the kind and number of a tag to its secret."""


def restore_secrets(
    body: AnswerBody,
    request: conversation_events.ConversationRequest,
    shown: conversation_events.ConversationRequest,
    reveal: RevealTag,
) -> AnswerBody:
    """Return an answer to `request` with its tags replaced by the secrets."""
    if not any(TAG_START in text for text in body.fields.values()):
        return body
    real, masked = _list_editable(request), _list_editable(shown)
    as_json = _list_json_fields(request)
    fields = {
        name: real[name]
        if text == masked.get(name)
        else _restore(text, real.get(name), reveal, is_json=name in as_json)
        for name, text in body.fields.items()
    }
    return msgspec.structs.replace(body, fields=fields)


def _list_json_fields(request: conversation_events.ConversationRequest) -> set[str]:
    """Return the fields of a tool's input that are edited as JSON."""
    given = request.input if isinstance(request, conversation_events.ToolRequest) else msgspec.Raw()
    values = decode_value(given, dict[str, msgspec.Raw]) or {}
    return {name for name, value in values.items() if not _is_text(value)}


def _list_editable(request: conversation_events.ConversationRequest) -> dict[str, str]:
    """Return the texts of a request that the user can edit, by field name."""
    match request:
        case conversation_events.ToolRequest(input=given):
            return dict(list_fields(given))
        case conversation_events.PlanRequest(plan=plan):
            return {"plan": plan}
        case conversation_events.ElicitationRequest(form=form):
            return {str(place): each.default for place, each in enumerate(read_form(form))}
    return {}


def _restore(text: str, real: str | None, reveal: RevealTag, *, is_json: bool) -> str:
    """Return an edited text with its secrets.

    A tag that the model itself wrote is left unchanged: it never was a secret.
    """
    if real is None or TAG_START in real:
        return text

    def restore(found: re.Match[str]) -> str:
        value = reveal(found[1], int(found[2]))
        if value is None:
            return found[0]
        return msgspec.json.encode(value).decode()[1:-1] if is_json else value

    return TAG.sub(restore, text)


def make_answer(
    request: conversation_events.ClientRequest, body: AnswerBody
) -> conversation_events.RequestAnswer:
    """Return the answer to `request`; raises BadParameter if it does not fit."""
    match request:
        case conversation_events.ToolRequest():
            answer = _answer_tool(request, body)
        case conversation_events.QuestionRequest():
            answer = _answer_questions(request, body)
        case conversation_events.PlanRequest():
            answer = _answer_plan(body)
        case conversation_events.ElicitationRequest():
            answer = _answer_elicitation(request, body)
        case _:
            answer = None
    if answer is None:
        raise BadParameter("decision", "This is not a valid decision for this kind of request.")
    return answer


def _answer_tool(
    request: conversation_events.ToolRequest, body: AnswerBody
) -> conversation_events.RequestAnswer | None:
    match body.decision:
        case "allow":
            return conversation_events.Allow()
        case "always":
            return conversation_events.Allow(remember=_choose(request.suggestions, body.suggestion))
        case "edit":
            return conversation_events.Allow(updated_input=edit_input(request.input, body.fields))
        case "deny":
            return conversation_events.Deny(message=body.message)
    return None


def _answer_questions(
    request: conversation_events.QuestionRequest, body: AnswerBody
) -> conversation_events.RequestAnswer | None:
    match body.decision:
        case "answer":
            found = (
                (each.question, _list_chosen(each, place, body))
                for place, each in enumerate(request.questions)
            )
            return conversation_events.Answers(
                {question: chosen for question, chosen in found if chosen}
            )
        case "deny":
            return conversation_events.Deny(message=body.message)
    return None


def _list_chosen(question: Question, place: int, body: AnswerBody) -> tuple[str, ...]:
    chosen = body.answers.get(str(place), [])
    if any(each >= len(question.options) for each in chosen):
        raise BadParameter("answers", "There is no such option.")
    own = body.fields.get(str(place), "").strip()
    return (*(question.options[each].label for each in chosen), *([own] if own else []))


def _answer_plan(body: AnswerBody) -> conversation_events.RequestAnswer | None:
    plan = body.fields.get("plan")
    match body.decision:
        case "approve" | "accept_edits":
            return conversation_events.ApprovePlan(
                plan=plan, accept_edits=body.decision == "accept_edits"
            )
        case "deny":
            return conversation_events.KeepPlanning(body.message)
    return None


def _answer_elicitation(
    request: conversation_events.ElicitationRequest, body: AnswerBody
) -> conversation_events.RequestAnswer | None:
    match body.decision:
        case "answer" if request.mode == "url":
            return conversation_events.AnswerElicitation(action="accept")
        case "answer":
            return conversation_events.AnswerElicitation(
                action="accept", content=_fill(request, body)
            )
        case "deny":
            return conversation_events.AnswerElicitation(action="decline")
    return None


def _fill(request: conversation_events.ElicitationRequest, body: AnswerBody) -> dict[str, object]:
    texts = {int(place): text for place, text in body.fields.items() if place.isdecimal()}
    chosen = {int(place): each for place, each in body.answers.items() if place.isdecimal()}
    try:
        return fill_form(read_form(request.form), texts, chosen)
    except UsageError as error:
        raise BadParameter("fields", str(error)) from error


def _choose(
    known: tuple[conversation_events.Suggestion, ...], place: int | None
) -> conversation_events.Suggestion:
    if place is None or place >= len(known):
        raise BadParameter("suggestion", "There is no such suggestion.")
    return known[place]


def list_fields(given: msgspec.Raw) -> list[tuple[str, str]]:
    """Return the values of an input as texts to edit: strings as they are, the rest as JSON."""
    values = decode_value(given, dict[str, msgspec.Raw]) or {}
    return [(name, _show(value)) for name, value in values.items()]


def edit_input(given: msgspec.Raw, fields: dict[str, str]) -> dict[str, object]:
    """Return an input with edited values; strings stay strings."""
    values = decode_value(given, dict[str, msgspec.Raw]) or {}
    unknown = fields.keys() - values.keys()
    if unknown:
        raise BadParameter("fields", f"The input has no {', '.join(sorted(unknown))}.")
    return {
        name: _read(name, value, fields[name]) if name in fields else value
        for name, value in values.items()
    }


def _is_text(value: msgspec.Raw) -> bool:
    return bytes(value).lstrip()[:1] == b'"'


def _show(value: msgspec.Raw) -> str:
    return (decode_value(value, str) or "") if _is_text(value) else bytes(value).decode()


def _read(name: str, value: msgspec.Raw, text: str) -> object:
    if _is_text(value):
        return text
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        raise BadParameter("fields", f"{name} is not JSON: {error}") from error


T = TypeVar("T")


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """A permission rule that the user can accept."""

    place: int
    kind: str
    """`addRules`, `addDirectories` or `setMode`."""
    text: str
    destination: str


class RequestCard(msgspec.Struct, frozen=True, kw_only=True):
    """A request to the user."""

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
    """The fields that an MCP server requests."""
    asked: float | None = None
    """When it was asked, in seconds since 1970."""


class CardMask(msgspec.Struct, frozen=True, kw_only=True):
    """The masking of secrets in a card, and the URL that reveals one."""

    stream_name: str
    url: str
    reveal: str
    """The label of the button."""

    def mask(self, shown: T) -> T:
        """Return a struct without its secrets."""
        return mask_value(self.stream_name, shown)

    def render(self, html: Markup) -> Markup:
        """Return HTML with a button at each tag."""
        return add_chips(html, self.url, self.reveal)


def make_card(
    request: conversation_events.ConversationRequest, directory: str, mask: CardMask
) -> RequestCard:
    """Return the card of a request; reads the file that an edit would change."""
    match mask.mask(request):
        case conversation_events.ToolRequest() as masked:
            assert isinstance(request, conversation_events.ToolRequest)  # noqa: S101 - for the type checker
            return _make_tool_card(request, masked, directory, mask)
        case conversation_events.QuestionRequest(questions=questions):
            return RequestCard(id=request.id, kind="question", questions=questions)
        case conversation_events.PlanRequest(plan=plan, path=path):
            return RequestCard(
                id=request.id,
                kind="plan",
                title=shorten_path(path or "", directory),
                body=mask.render(
                    Markup('<div class="prose">{}</div>').format(render_markdown(plan))
                ),
                fields=(("plan", plan),),
            )
        case conversation_events.ElicitationRequest() as masked:
            named = (("server", masked.server), ("url", masked.url or ""))
            shown = Fields(tuple(each for each in named if each[1]))
            return RequestCard(
                id=request.id,
                kind="elicitation",
                title=masked.message,
                body=mask.render(render_parts((shown,))),
                form=read_form(masked.form) if masked.mode != "url" else (),
            )


def _make_tool_card(
    request: conversation_events.ToolRequest,
    masked: conversation_events.ToolRequest,
    directory: str,
    mask: CardMask,
) -> RequestCard:
    # An edit is compared with its file first; the diff is masked afterwards.
    view = mask.mask(describe_proposal(request.tool, request.input, request.call_id or ""))
    return RequestCard(
        id=request.id,
        kind="tool",
        tool=masked.tool,
        title=shorten_path(view.title, directory),
        summary=view.summary,
        reason=masked.reason or "",
        agent=request.agent_id or "",
        body=mask.render(render_parts(_shorten(part, directory) for part in view.input)),
        rules=_list_rules(masked.suggestions),
        fields=tuple(list_fields(masked.input)),
    )


def _shorten(part: Part, directory: str) -> Part:
    """Return a change with its path relative to the project."""
    if isinstance(part, Diff) and part.path:
        return msgspec.structs.replace(part, path=shorten_path(part.path, directory))
    return part


def _list_rules(suggestions: tuple[conversation_events.Suggestion, ...]) -> tuple[Rule, ...]:
    return tuple(
        Rule(place=place, kind=each.kind, text=each.text, destination=each.destination)
        for place, each in enumerate(suggestions)
    )
