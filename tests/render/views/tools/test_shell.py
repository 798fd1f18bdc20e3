"""Views of commands and background tasks."""

from recollect.documents.turn_documents import Code, Fields, Output, Picture, Plain
from recollect.render.views.tools import ToolView, describe_call
from tests.session.recordings import make_call


def test_command_shows_both_streams() -> None:
    """A command is code, its output is separate from standard error."""
    wanted = {"command": "make\nmake test", "description": "Build", "timeout": 90_000}
    result = {"stdout": "ok\n", "stderr": "warning\n", "interrupted": False}
    assert describe_call(make_call("Bash", wanted, result)) == ToolView(
        title="make …",
        description="Build",
        summary="2 lines",
        input=(
            Code("make\nmake test", language="bash"),
            Fields((("description", "Build"), ("timeout", "1 min 30 s"))),
        ),
        output=(Output("ok\n"), Output("warning\n", is_stderr=True)),
    )


def test_command_in_the_background() -> None:
    """The summary names the task that a command became, and what git did."""
    result = {
        "stdout": "",
        "stderr": "",
        "backgroundTaskId": "b1",
        "gitOperation": {"commit": {"sha": "abc"}, "push": {"branch": "main"}},
    }
    view = describe_call(make_call("PowerShell", {"command": "x"}, result))
    assert view == ToolView(
        title="x",
        summary="runs in the background as b1 · committed abc · pushed main",
        input=(Code("x", language="powershell"),),
        output=(Plain("done"),),
    )


def test_command_that_printed_a_picture() -> None:
    """An image on standard output is shown as one."""
    result = {"stdout": "data:image/png;base64,AAAA", "stderr": "", "isImage": True}
    view = describe_call(make_call("Bash", {"command": "plot"}, result))
    assert (view.summary, view.output) == ("a picture", (Picture("image/png", "AAAA"),))


def test_command_of_a_subagent() -> None:
    """Without a structured result, a command shows the text for the model."""
    view = describe_call(make_call("Bash", {"command": "ls"}, text="a\nb"))
    assert (view.summary, view.output) == ("2 lines", (Output("a\nb"),))


def test_looks_at_background_tasks_of_all_eras() -> None:
    """The status of a background task, under each name of the tool."""
    before = make_call(
        "BashOutput",
        {"bash_id": "b1"},
        {"shellId": "b1", "status": "completed", "exitCode": 0, "stdout": "x", "stderr": ""},
    )
    now = make_call(
        "TaskOutput",
        {"task_id": "b1"},
        {"retrieval_status": "success", "task": {"status": "running", "output": "x"}},
    )
    assert [describe_call(call) for call in (before, now)] == [
        ToolView(title="b1", summary="completed · exit code 0", output=(Output("x"),)),
        ToolView(title="b1", summary="running", output=(Output("x"),)),
    ]


def test_end_of_a_background_task() -> None:
    """The end of a task names it."""
    call = make_call("KillShell", {"shell_id": "b1"}, {"message": "killed b1", "shell_id": "b1"})
    assert describe_call(call) == ToolView(title="b1", summary="killed b1", output=(Plain("done"),))
