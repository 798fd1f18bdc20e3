"""Views of scheduling tools."""

from recollect.documents.turn_documents import Entries, Entry, Plain, Prose
from recollect.render.views.tools import ToolView, describe_call
from tests.session.recordings import make_call


def test_jobs() -> None:
    """A job is its schedule and its prompt, alone and in a list."""
    made = make_call(
        "CronCreate",
        {"cron": "0 9 * * *", "prompt": "report"},
        {"id": "j1", "humanSchedule": "Every day"},
    )
    listed = make_call("CronList", {}, {"jobs": [{"id": "j1", "cron": "0 9 * * *", "prompt": "r"}]})
    ended = make_call("CronDelete", {"id": "j1"}, {"id": "j1"})
    assert [describe_call(call) for call in (made, listed, ended)] == [
        ToolView(
            title="0 9 * * *",
            summary="Every day · job j1",
            input=(Prose("report"),),
            output=(Plain("done"),),
        ),
        ToolView(summary="1 job", output=(Entries((Entry("r", note="j1 · 0 9 * * *"),)),)),
        ToolView(title="j1", summary="ended", output=(Plain("done"),)),
    ]


def test_wakeup() -> None:
    """A delay that the client adjusted is shown with the actual value."""
    wanted = {"delaySeconds": 5, "reason": "wait", "prompt": "go on"}
    result = {"wasClamped": True, "clampedDelaySeconds": 60}
    assert describe_call(make_call("ScheduleWakeup", wanted, result)) == ToolView(
        title="in 5.0 s · wait",
        summary="set to 1 min 0 s",
        input=(Prose("go on"),),
        output=(Plain("done"),),
    )
