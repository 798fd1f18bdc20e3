"""Views of subagents, skills and messages."""

import pytest

from recollect.documents.turn_documents import Fields, Json, Plain, Prose
from recollect.render.views.tools import ToolView, describe_call
from tests.session.recordings import make_call

TASK = {"description": "Look around", "prompt": "Look *everywhere*.", "subagent_type": "Explore"}


def test_subagent_with_its_answer() -> None:
    """The task and the answer are prose; the figures are the client's."""
    result = {
        "status": "completed",
        "content": [{"type": "text", "text": "Nothing."}],
        "totalToolUseCount": 2,
        "totalTokens": 1500,
        "totalDurationMs": 61_000,
    }
    assert describe_call(make_call("Task", TASK, result)) == ToolView(
        title="Look around",
        summary="2 tool calls · 1,500 tokens · 1 min 1 s",
        input=(Prose("Look *everywhere*."), Fields((("agent", "Explore"),))),
        output=(Prose("Nothing."),),
    )


@pytest.mark.parametrize(
    ("share", "summary"),
    [(1.0, "2 tool calls"), (0.95, "2 tool calls"), (0.5, "2 tool calls · 2.5 s")],
)
def test_the_time_of_a_call_is_shown_once(share: float, summary: str) -> None:
    """The client's figure is left out if the call took about as long."""
    took = make_call("Task", TASK).duration_ms
    assert took is not None
    result = {"content": [], "totalToolUseCount": 2, "totalDurationMs": took * share}
    assert describe_call(make_call("Task", TASK, result)).summary == summary


def test_subagent_in_the_background() -> None:
    """The view says where the reply of a background subagent will be."""
    result = {"status": "async_launched", "agentId": "a1", "outputFile": "/t/a1.output"}
    view = describe_call(make_call("Agent", TASK, result))
    assert (view.summary, view.output) == (
        "started in the background",
        (Fields((("agent id", "a1"), ("output file", "/t/a1.output"))),),
    )


def test_skills_and_commands() -> None:
    """A skill is named with its arguments, under each name that the tool had."""
    skill = make_call("Skill", {"skill": "pdf", "args": "a.pdf"}, {"success": True}, text="go")
    command = make_call("SlashCommand", {"command": "/review 12"}, text="go")
    assert [describe_call(call) for call in (skill, command)] == [
        ToolView(title="pdf a.pdf", summary="loaded", output=(Plain("go"),)),
        ToolView(title="/review 12", summary="loaded", output=(Plain("go"),)),
    ]


def test_message_to_a_teammate() -> None:
    """A message is prose, with its recipient as the title."""
    wanted = {"to": "ann", "message": "Please *wait*."}
    view = describe_call(make_call("SendMessage", wanted, {"success": True, "message": "sent"}))
    assert view == ToolView(
        title="to ann · Please *wait*.",
        summary="sent",
        input=(Prose("Please *wait*."),),
        output=(Plain("done"),),
    )


def test_structured_answer() -> None:
    """A structured answer is shown completely."""
    view = describe_call(make_call("StructuredOutput", {"a": 1}, text=""))
    assert view.input == (Json('{\n  "a": 1\n}'),)
