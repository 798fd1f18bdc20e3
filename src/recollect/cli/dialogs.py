"""Requests of the client as lines in a terminal, and typed words as answers.

Independent of the terminal: a dialog returns lines and accepts a line. There is no default answer:
an empty line is never accepted, nor a word that is not among the choices. Secrets are masked until
the user reveals them; answers are sent unmasked.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeVar

import msgspec
from rich.text import Text

from recollect.cli.stream_masks import STREAM
from recollect.documents.kinds import ToolStatus
from recollect.documents.turn_documents import ToolStep
from recollect.errors import UsageError
from recollect.launch import conversation_events as events
from recollect.launch.request_details import FormField, describe_proposal, read_form
from recollect.reader.line_blocks import mask_value
from recollect.records.decoding import decode_value
from recollect.records.tools.planning_tools import Question
from recollect.render.terminal import safe_line, safe_text
from recollect.render.terminal.canvas import Canvas, indent
from recollect.render.terminal.terminal_turns import render_call, render_rule

T = TypeVar("T")

SKIP: Final = "/skip"
_SHELL: Final = "Bash"
_DESTINATIONS: Final = {
    "session": "in this session",
    "localSettings": "in this project, for you",
    "projectSettings": "in this project, for everyone",
    "userSettings": "in all projects",
}
"""Where Claude Code saves a rule."""
_MARGIN: Final = "  "


class Dialog:
    """One request, until it is answered."""

    def __init__(self, request: events.ConversationRequest) -> None:
        self.request = request
        self._answers: dict[str, str | tuple[str, ...]] = {}
        self._is_revealed = False
        self._has_secrets = False
        """Whether anything in the request was masked."""

    @property
    def choices(self) -> str:
        """The choices, in one line."""
        return f"{self._choices}  r reveal" if self._hides else self._choices

    @property
    def _hides(self) -> bool:
        return self._has_secrets and not self._is_revealed

    @property
    def _choices(self) -> str:
        match self.request:
            case events.ToolRequest(suggestions=suggestions):
                names = ["", "  a always", f"  a1…a{len(suggestions)} always"]
                always = names[min(len(suggestions), 2)]
                return f"Allow?  y yes{always}  e edit  n no [why]  s stop"
            case events.PlanRequest():
                return "Approve the plan?  y yes  a yes, and accept edits  n [what to change]"
            case events.QuestionRequest():
                question = self._find_open()
                several = "numbers, or" if question and question.multi_select else "a number, or"
                return f"Your answer: {several} your own words  {SKIP} to skip it"
            case events.ElicitationRequest(mode="url"):
                return "y done  d decline  c cancel"
        return "The answer as JSON  d decline  c cancel"

    def render(self, canvas: Canvas) -> Iterator[str]:
        """Yield the lines of the question."""
        columns = canvas.options.columns
        match request := self._mask(self.request):
            case events.ToolRequest():
                yield from render_rule("claude is asking for permission", canvas, columns, "yellow")
                yield from self._render_tool(request, canvas)
            case events.PlanRequest(plan=plan, path=path):
                yield from render_rule("claude wants to leave plan mode", canvas, columns, "yellow")
                words = plan or f"The plan is in {path or 'a file that claude did not name'}."
                yield from _render_words(words, canvas)
            case events.QuestionRequest():
                question = self._find_open()
                if question is not None:
                    yield from render_rule("claude asks", canvas, columns, "yellow")
                    yield from _render_question(self._mask(question), canvas)
            case events.ElicitationRequest(server=server, message=message, url=url, form=form):
                name = safe_line(server)
                yield from render_rule(f"{name} asks", canvas, columns, "yellow")
                yield from _render_words("\n".join(filter(None, (message, url))), canvas)
                for each in read_form(form):
                    yield from _render_words(_describe_field(each), canvas)

    def _mask(self, shown: T) -> T:
        if self._is_revealed:
            return shown
        masked = mask_value(STREAM, shown)
        self._has_secrets |= masked is not shown
        return masked

    def draft(self, text: str) -> str | None:
        """Return the unmasked line to edit, if `text` requests editing."""
        if not isinstance(self.request, events.ToolRequest) or text.strip() not in ("e", "edit"):
            return None
        given = decode_value(self.request.input, dict[str, Any]) or {}
        if self.request.tool == _SHELL and isinstance(given.get("command"), str):
            return f"e {given['command']}"
        return f"e {bytes(self.request.input).decode(errors='replace')}"

    def answer(self, text: str) -> events.RequestAnswer | None:
        """Return the answer, or None if more input is needed and the request must be shown again.

        Raises UsageError if `text` is none of the choices.
        """
        word, _, rest = text.strip().partition(" ")
        if self._hides and text.strip().lower() in ("r", "reveal"):
            self._is_revealed = True
            return None
        match self.request:
            case events.ToolRequest():
                return self._answer_tool(self.request, word.lower(), rest.strip())
            case events.PlanRequest():
                return self._answer_plan(word.lower(), rest.strip())
            case events.QuestionRequest():
                return self._answer_question(self.request, text.strip())
            case events.ElicitationRequest():
                return self._answer_form(self.request, text.strip())

    def _answer_tool(
        self, request: events.ToolRequest, word: str, rest: str
    ) -> events.RequestAnswer:
        if word in ("n", "no"):
            return events.Deny(message=rest)
        if word in ("e", "edit") and rest:
            return events.Allow(updated_input=_edit(request, rest))
        if not rest:
            if word in ("y", "yes"):
                return events.Allow()
            if word in ("s", "stop"):
                return events.Deny(interrupt=True)
            if word[:1] == "a":
                return self._remember(request, word)
        raise UsageError(self.choices)

    def _remember(self, request: events.ToolRequest, word: str) -> events.Allow:
        names = {f"a{number}": each for number, each in enumerate(request.suggestions, 1)}
        if len(names) == 1:
            names |= {"a": request.suggestions[0], "always": request.suggestions[0]}
        if word not in names:
            raise UsageError(self.choices)
        return events.Allow(remember=names[word])

    def _answer_plan(self, word: str, rest: str) -> events.RequestAnswer:
        if word in ("n", "no"):
            return events.KeepPlanning(rest)
        if not rest and word in ("y", "yes", "a"):
            return events.ApprovePlan(accept_edits=word == "a")
        raise UsageError(self.choices)

    def _find_open(self) -> Question | None:
        questions = (
            self.request.questions if isinstance(self.request, events.QuestionRequest) else ()
        )
        return next((each for each in questions if each.question not in self._answers), None)

    def _answer_question(
        self, request: events.QuestionRequest, text: str
    ) -> events.RequestAnswer | None:
        if text == SKIP:
            return events.Deny(message="The user skipped the question.")
        question = self._find_open()
        if not text or question is None:
            raise UsageError(self.choices)
        self._answers[question.question] = _choose(question, text)
        return None if self._find_open() else events.Answers(self._answers)

    def _answer_form(self, request: events.ElicitationRequest, text: str) -> events.RequestAnswer:
        actions = {"d": "decline", "c": "cancel"}
        if text in actions:
            return events.AnswerElicitation(action=actions[text])
        if request.mode == "url":
            if text == "y":
                return events.AnswerElicitation(action="accept")
            raise UsageError(self.choices)
        return events.AnswerElicitation(action="accept", content=_read_object(text))

    def _render_tool(self, request: events.ToolRequest, canvas: Canvas) -> Iterator[str]:
        # An edit is compared with its file first, so the request is masked after that.
        given = (
            self.request.input if isinstance(self.request, events.ToolRequest) else request.input
        )
        view = self._mask(describe_proposal(request.tool, given, request.call_id or ""))
        step = ToolStep(
            uuid=None,
            message_id="",
            call_id="",
            tool=request.tool,
            mcp_server=None,
            title=view.title,
            summary=view.summary,
            status=ToolStatus.PENDING,
            input=view.input,
            description=view.description,
        )
        yield from render_call(step, canvas.complete, canvas.options.columns)
        reasons = (request.description, request.reason, request.blocked_path)
        for reason in dict.fromkeys(filter(None, reasons)):
            yield from _render_words(reason, canvas)
        for number, each in enumerate(request.suggestions, 1):
            where = _DESTINATIONS.get(each.destination, each.destination)
            yield from _render_words(f"a{number} always: {each.text} ({where})", canvas)


def _choose(question: Question, text: str) -> str | tuple[str, ...]:
    """Return the labels of the numbers in `text`, or else the text itself."""
    labels = {str(number): each.label for number, each in enumerate(question.options, 1)}
    words = text.replace(",", " ").split()
    if not words or any(word not in labels for word in words):
        return text
    chosen = tuple(str(labels[word]) for word in words)
    if len(chosen) == 1:
        return chosen[0]
    if not question.multi_select:
        raise UsageError("Choose one.")
    return chosen


def _edit(request: events.ToolRequest, text: str) -> Mapping[str, object]:
    given = decode_value(request.input, dict[str, Any]) or {}
    return {**given, "command": text} if request.tool == _SHELL else _read_object(text)


def _read_object(text: str) -> dict[str, object]:
    try:
        return msgspec.json.decode(text.encode(errors="replace"), type=dict[str, object])
    except msgspec.DecodeError as error:
        raise UsageError(f"This is not a JSON object: {error}") from None


def _render_question(question: Question, canvas: Canvas) -> Iterator[str]:
    yield from _render_words(question.question, canvas)
    for number, each in enumerate(question.options, 1):
        about = f": {each.description}" if each.description else ""
        yield from _render_words(f"{number} {each.label}{about}", canvas)


def _describe_field(field: FormField) -> str:
    """Return the description of a form field, with its name in the answer."""
    choices = " | ".join(each.value for each in field.options)
    details = (choices or field.kind, "required" if field.is_required else "", field.description)
    return f"{field.name}: {', '.join(filter(None, details))}"


def _render_words(text: str, canvas: Canvas) -> Iterator[str]:
    for line in safe_text(text).splitlines():
        wrapped = canvas.wrap(Text(line), canvas.options.columns - len(_MARGIN))
        yield from indent(wrapped, _MARGIN)
