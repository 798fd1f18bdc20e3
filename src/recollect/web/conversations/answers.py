"""What a page answers to a request of the client, checked against the request itself.

A page names the request, its decision and, at most, positions and texts: the rule to remember is
the client's own suggestion, and an edited input is the model's with other values. Nothing else of
what is sent to the client comes from a page.
"""

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta, Raw, Struct

from recollect.errors import UsageError
from recollect.launch.conversation_events import (
    Allow,
    AnswerElicitation,
    Answers,
    ApprovePlan,
    ClientRequest,
    Deny,
    ElicitationRequest,
    KeepPlanning,
    PlanRequest,
    QuestionRequest,
    RequestAnswer,
    Suggestion,
    ToolRequest,
)
from recollect.launch.elicitation_forms import fill_form, read_form
from recollect.records.decoding import decode_value
from recollect.records.tools.planning_tools import Question
from recollect.web.parameters import BadParameter

MAX_TEXT: Final = 1_000_000
Text = Annotated[str, Meta(max_length=MAX_TEXT)]
Decision = Literal["allow", "always", "edit", "deny", "answer", "approve", "accept_edits"]


class AnswerBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An answer to a request."""

    request: Annotated[str, Meta(min_length=1, max_length=200)]
    decision: Decision
    suggestion: Annotated[int, Meta(ge=0, le=100)] | None = None
    """Which suggestion to remember, with `always`."""
    fields: dict[str, Text] = {}
    """The edited input, with `edit`: strings as they are, everything else as JSON."""
    answers: dict[str, list[Annotated[int, Meta(ge=0, le=100)]]] = {}
    """The chosen options by question or field of a form, with `answer`; both by their positions.
    Own words, and texts of a form, are in `fields`, by the same position.
    """
    message: Text = ""
    """The message for the model, with `deny`."""


def make_answer(request: ClientRequest, body: AnswerBody) -> RequestAnswer:
    """Return the answer to `request`; raises BadParameter if it does not fit."""
    match request:
        case ToolRequest():
            answer = _answer_tool(request, body)
        case QuestionRequest():
            answer = _answer_questions(request, body)
        case PlanRequest():
            answer = _answer_plan(body)
        case ElicitationRequest():
            answer = _answer_elicitation(request, body)
        case _:
            answer = None
    if answer is None:
        raise BadParameter("decision", "This request cannot be answered like that.")
    return answer


def _answer_tool(request: ToolRequest, body: AnswerBody) -> RequestAnswer | None:
    match body.decision:
        case "allow":
            return Allow()
        case "always":
            return Allow(remember=_choose(request.suggestions, body.suggestion))
        case "edit":
            return Allow(updated_input=edit_input(request.input, body.fields))
        case "deny":
            return Deny(message=body.message)
    return None


def _answer_questions(request: QuestionRequest, body: AnswerBody) -> RequestAnswer | None:
    match body.decision:
        case "answer":
            found = (
                (each.question, _list_chosen(each, place, body))
                for place, each in enumerate(request.questions)
            )
            return Answers({question: chosen for question, chosen in found if chosen})
        case "deny":
            return Deny(message=body.message)
    return None


def _list_chosen(question: Question, place: int, body: AnswerBody) -> tuple[str, ...]:
    chosen = body.answers.get(str(place), [])
    if any(each >= len(question.options) for each in chosen):
        raise BadParameter("answers", "There is no such option.")
    own = body.fields.get(str(place), "").strip()
    return (*(question.options[each].label for each in chosen), *([own] if own else []))


def _answer_plan(body: AnswerBody) -> RequestAnswer | None:
    plan = body.fields.get("plan")
    match body.decision:
        case "approve" | "accept_edits":
            return ApprovePlan(plan=plan, accept_edits=body.decision == "accept_edits")
        case "deny":
            return KeepPlanning(body.message)
    return None


def _answer_elicitation(request: ElicitationRequest, body: AnswerBody) -> RequestAnswer | None:
    match body.decision:
        case "answer" if request.mode == "url":
            return AnswerElicitation(action="accept")
        case "answer":
            return AnswerElicitation(action="accept", content=_fill(request, body))
        case "deny":
            return AnswerElicitation(action="decline")
    return None


def _fill(request: ElicitationRequest, body: AnswerBody) -> dict[str, object]:
    texts = {int(place): text for place, text in body.fields.items() if place.isdecimal()}
    chosen = {int(place): each for place, each in body.answers.items() if place.isdecimal()}
    try:
        return fill_form(read_form(request.form), texts, chosen)
    except UsageError as error:
        raise BadParameter("fields", str(error)) from error


def _choose(known: tuple[Suggestion, ...], place: int | None) -> Suggestion:
    if place is None or place >= len(known):
        raise BadParameter("suggestion", "There is no such suggestion.")
    return known[place]


def list_fields(given: Raw) -> list[tuple[str, str]]:
    """Return the values of an input as texts to edit: strings as they are, the rest as JSON."""
    values = decode_value(given, dict[str, Raw]) or {}
    return [(name, _show(value)) for name, value in values.items()]


def edit_input(given: Raw, fields: dict[str, str]) -> dict[str, object]:
    """Return an input with edited values, of the same types as before where they were strings."""
    values = decode_value(given, dict[str, Raw]) or {}
    unknown = fields.keys() - values.keys()
    if unknown:
        raise BadParameter("fields", f"The input has no {', '.join(sorted(unknown))}.")
    return {
        name: _read(name, value, fields[name]) if name in fields else value
        for name, value in values.items()
    }


def _is_text(value: Raw) -> bool:
    return bytes(value).lstrip()[:1] == b'"'


def _show(value: Raw) -> str:
    return (decode_value(value, str) or "") if _is_text(value) else bytes(value).decode()


def _read(name: str, value: Raw, text: str) -> object:
    if _is_text(value):
        return text
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        raise BadParameter("fields", f"{name} is not JSON: {error}") from error
