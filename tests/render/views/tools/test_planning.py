"""Views of lists, questions and plans."""

from recollect.documents.turn_documents import (
    CheckItem,
    Checklist,
    CheckState,
    Choice,
    Entries,
    Entry,
    Fields,
    Plain,
    Prose,
    Question,
)
from recollect.render.views.tools import ToolView, describe_call
from tests.session.recordings import make_call


def test_todo_list() -> None:
    """The list after the call, titled by the task in progress."""
    todos = [
        {"content": "plan", "status": "completed", "activeForm": "Planning"},
        {"content": "build", "status": "in_progress", "activeForm": "Building"},
        {"content": "rest", "status": "new in 2027"},
    ]
    view = describe_call(make_call("TodoWrite", {"todos": []}, {"oldTodos": [], "newTodos": todos}))
    assert view == ToolView(
        title="Building",
        summary="1 of 3 done",
        input=(
            Checklist(
                (
                    CheckItem("plan", CheckState.DONE),
                    CheckItem("build", CheckState.ACTIVE),
                    CheckItem("rest", CheckState.PENDING),
                )
            ),
        ),
        output=(Plain("done"),),
    )


def test_tasks() -> None:
    """A new task, a changed one, and the list of all."""
    made = make_call("TaskCreate", {"subject": "Build"}, {"task": {"id": "1", "subject": "Build"}})
    changed = make_call(
        "TaskUpdate",
        {"taskId": "1", "status": "completed"},
        {"success": True, "statusChange": {"from": "pending", "to": "completed"}},
    )
    tasks = [{"id": "1", "subject": "Build", "status": "completed", "blockedBy": ["2"]}]
    listed = make_call("TaskList", {}, {"tasks": tasks})
    assert [describe_call(call) for call in (made, changed, listed)] == [
        ToolView(
            title="Build",
            summary="task 1",
            input=(Checklist((CheckItem("Build", CheckState.PENDING),)),),
            output=(Plain("done"),),
        ),
        ToolView(
            title="task 1 · completed",
            summary="pending → completed",
            input=(Fields((("status", "completed"),)),),
            output=(Plain("done"),),
        ),
        ToolView(
            summary="1 of 1 done",
            output=(Checklist((CheckItem("Build", CheckState.DONE, "task 1 · blocked by 2"),)),),
        ),
    ]


QUESTION = {
    "question": "Which?",
    "header": "Colour",
    "options": [{"label": "Red", "description": "warm"}, {"label": "Blue"}],
    "multiSelect": True,
}


def test_question_with_the_chosen_answer() -> None:
    """Chosen options are marked, even if several are joined in one answer."""
    result = {"questions": [QUESTION], "answers": {"Which?": "Red, Blue"}}
    view = describe_call(make_call("AskUserQuestion", {"questions": [QUESTION]}, result))
    choices = (Choice("Red", "warm", is_chosen=True), Choice("Blue", is_chosen=True))
    assert view == ToolView(
        title="Which?",
        summary="Red, Blue",
        input=(Question("Which?", "Colour", choices),),
        output=(Plain("done"),),
    )


def test_question_with_an_answer_of_their_own() -> None:
    """Text that is not among the options is the answer."""
    result = {"questions": [QUESTION], "answers": {"Which?": "none of these"}}
    (question,) = describe_call(
        make_call("AskUserQuestion", {"questions": [QUESTION]}, result)
    ).input
    assert question == Question(
        "Which?", "Colour", (Choice("Red", "warm"), Choice("Blue")), "none of these"
    )


def test_plan_and_its_verdict() -> None:
    """The plan is the approved one, with the user's edits."""
    result = {"plan": "# Do it\n\nnow", "isAgent": False, "planWasEdited": True}
    view = describe_call(make_call("exit_plan_mode", {"plan": "# Do it"}, result))
    assert view == ToolView(
        title="Do it …",
        summary="approved · changed by you",
        input=(Prose("# Do it\n\nnow"),),
        output=(Plain("done"),),
    )


def test_findings() -> None:
    """Findings are entries with their location."""
    wanted = {"findings": [{"file": "a.py", "line": 3, "summary": "leak", "category": "bug"}]}
    view = describe_call(make_call("ReportFindings", wanted))
    assert (view.title, view.input) == (
        "1 finding",
        (Entries((Entry("leak", path="a.py", line=3, note="bug"),)),),
    )
