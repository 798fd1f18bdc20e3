"""Typed answers to dialogs, and dialogs that attack the terminal."""

import json
from pathlib import Path

import pytest
from msgspec import Raw

from recollect.cli.dialogs import Dialog
from recollect.errors import UsageError
from recollect.launch.conversation_events import (
    Allow,
    AnswerElicitation,
    Answers,
    ApprovePlan,
    ConversationRequest,
    Deny,
    ElicitationRequest,
    KeepPlanning,
    PlanRequest,
    QuestionRequest,
    RequestAnswer,
    Suggestion,
    ToolRequest,
)
from recollect.reader.line_blocks import masked_by
from recollect.records.tools.planning_tools import Option, Question
from recollect.render.terminal.canvas import Canvas, RenderOptions
from recollect.workspace.secret_masks import DisplayMask
from tests.hostile import PAYLOAD, find_harm, replay

RULE = Suggestion(kind="addRules", text="Bash(ls:*)", destination="session", raw=Raw(b"{}"))
MODE = Suggestion(kind="setMode", text="acceptEdits", destination="session", raw=Raw(b"[]"))
SHELL = ToolRequest(id="r", tool="Bash", input=Raw(b'{"command":"ls"}'), suggestions=(RULE,))
EDIT = ToolRequest(id="r", tool="Edit", input=Raw(b'{"a":1}'), suggestions=(RULE, MODE))
PLAN = PlanRequest(id="r", plan="1. Look", input=Raw(b"{}"))
COLOURS = Question(question="Which?", options=(Option(label="Blue"), Option(label="Red")))
SEVERAL = Question(
    question="Which ones?", options=(Option(label="A"), Option(label="B")), multi_select=True
)
CHOICE = QuestionRequest(id="r", questions=(COLOURS,), input=Raw(b"{}"))
FORM = ElicitationRequest(id="r", server="tides", message="Which port?")
PAGE = ElicitationRequest(id="r", server="tides", message="Sign in", mode="url", url="https://x")


@pytest.mark.parametrize(
    ("request_", "text", "answer"),
    [
        (SHELL, "y", Allow()),
        (SHELL, " Yes ", Allow()),
        (SHELL, "a", Allow(remember=RULE)),
        (EDIT, "a2", Allow(remember=MODE)),
        (SHELL, "e ls -l", Allow(updated_input={"command": "ls -l"})),
        (EDIT, 'e {"a": 2}', Allow(updated_input={"a": 2})),
        (SHELL, "n", Deny()),
        (SHELL, "n use find instead", Deny(message="use find instead")),
        (SHELL, "s", Deny(interrupt=True)),
        (PLAN, "y", ApprovePlan()),
        (PLAN, "a", ApprovePlan(accept_edits=True)),
        (PLAN, "n look twice", KeepPlanning("look twice")),
        (CHOICE, "2", Answers({"Which?": "Red"})),
        (CHOICE, "rather green", Answers({"Which?": "rather green"})),
        (CHOICE, "/skip", Deny(message="The user skipped the question.")),
        (FORM, '{"port": "Kiel"}', AnswerElicitation(action="accept", content={"port": "Kiel"})),
        (FORM, "d", AnswerElicitation(action="decline")),
        (PAGE, "y", AnswerElicitation(action="accept")),
    ],
)
def test_words_become_answers(
    request_: ConversationRequest, text: str, answer: RequestAnswer
) -> None:
    """Each dialog accepts the words that it offers."""
    assert Dialog(request_).answer(text) == answer


@pytest.mark.parametrize(
    ("request_", "text"),
    [
        *((SHELL, text) for text in ("", " ", "ready", "yes please", "a2", "e", "always now")),
        *((EDIT, text) for text in ("a", "a3", "e not json", "e [1]")),
        *((PLAN, text) for text in ("", "ok", "y then go")),
        *((CHOICE, text) for text in ("", "1 2")),
        *((FORM, text) for text in ("", "Kiel")),
        (PAGE, ""),
    ],
)
def test_other_words_are_no_answer(request_: ConversationRequest, text: str) -> None:
    """Nothing is allowed by default, by accident or by part of a word."""
    with pytest.raises(UsageError):
        Dialog(request_).answer(text)


def test_several_questions_are_asked_one_by_one() -> None:
    """The answer is complete with the last one."""
    request = QuestionRequest(id="r", questions=(COLOURS, SEVERAL), input=Raw(b"{}"))
    dialog = Dialog(request)
    assert dialog.answer("1") is None
    assert dialog.answer("1, 2") == Answers({"Which?": "Blue", "Which ones?": ("A", "B")})


def test_an_edit_starts_with_what_was_asked_for() -> None:
    """The command of a shell, the JSON of other tools, and nothing for other questions."""
    assert Dialog(SHELL).draft("e") == "e ls"
    assert Dialog(EDIT).draft("edit") == 'e {"a":1}'
    assert Dialog(PLAN).draft("e") is None


def test_a_form_is_shown_by_its_names() -> None:
    """Each value with its kind or its choices, so that the answer can be typed as JSON."""
    properties = {
        "port": {"type": "string", "enum": ["Kiel", "Cuxhaven"]},
        "depth": {"type": "integer", "description": "In metres"},
    }
    schema = Raw(json.dumps({"properties": properties, "required": ["depth"]}).encode())
    request = ElicitationRequest(id="r", server="tides", message="Which port?", form=schema)
    lines = list(Dialog(request).render(Canvas(RenderOptions(columns=60))))
    assert [line.strip() for line in lines][-3:] == [
        "Which port?",
        "port: Kiel | Cuxhaven",
        "depth: integer, required, In metres",
    ]


def test_questions_cannot_attack_the_terminal() -> None:
    """The lines of any request only display text."""
    hostile = Raw(json.dumps({"command": PAYLOAD, "description": PAYLOAD}).encode())
    rule = Suggestion(kind=PAYLOAD, text=PAYLOAD, destination=PAYLOAD, raw=Raw(b"{}"))
    option = Option(label=PAYLOAD, description=PAYLOAD)
    question = Question(question=PAYLOAD, header=PAYLOAD, options=(option,))
    asked = {"type": "string", "description": PAYLOAD, "enum": [PAYLOAD]}
    form = Raw(json.dumps({"properties": {PAYLOAD: asked}}).encode())
    requests: list[ConversationRequest] = [
        ToolRequest(
            id="r",
            tool=PAYLOAD,
            input=hostile,
            description=PAYLOAD,
            reason=PAYLOAD,
            blocked_path=PAYLOAD,
            suggestions=(rule,),
        ),
        ToolRequest(id="r", tool="Bash", input=hostile),
        PlanRequest(id="r", plan=PAYLOAD, input=Raw(b"{}"), path=PAYLOAD),
        QuestionRequest(id="r", questions=(question,), input=Raw(b"{}")),
        ElicitationRequest(id="r", server=PAYLOAD, message=PAYLOAD, url=PAYLOAD, form=form),
    ]
    canvas = Canvas(RenderOptions(columns=80, is_coloured=True))
    for request in requests:
        output = "\n".join(Dialog(request).render(canvas))
        assert find_harm(output) == []
        assert replay(output, 80) == set()


def test_a_secret_is_shown_when_asked_for() -> None:
    """It is masked first, the choices offer to reveal it, and what is allowed is the real input."""
    key = "AKIAIOSFODNN7RTGHJKL"
    given = Raw(json.dumps({"command": f"deploy {key}"}).encode())
    dialog = Dialog(ToolRequest(id="r", tool="Bash", input=given, reason=f"needs {key}"))
    canvas = Canvas(RenderOptions(columns=80, is_coloured=False))
    with masked_by(DisplayMask(Path)):
        hidden = "\n".join(dialog.render(canvas))
        choices = dialog.choices
        assert dialog.answer("r") is None
        shown = "\n".join(dialog.render(canvas))
    assert (key in hidden, hidden.count("[redacted:aws-key#1]")) == (False, 3)
    assert choices == "Allow?  y yes  e edit  n no [why]  s stop  r reveal"
    assert (shown.count(key), dialog.choices) == (3, "Allow?  y yes  e edit  n no [why]  s stop")
    assert dialog.draft("e") == f"e deploy {key}"
    assert dialog.answer("y") == Allow()
