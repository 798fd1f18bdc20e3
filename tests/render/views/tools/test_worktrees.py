"""Views of worktrees."""

from recollect.documents.turn_documents import Fields
from recollect.render.views.tools import ToolView, describe_call
from tests.session.recordings import make_call


def test_entering_and_leaving() -> None:
    """Entering shows the directory, leaving shows what was discarded."""
    entered = make_call(
        "EnterWorktree", {"name": "fix"}, {"worktreePath": "/w/fix", "message": "in"}
    )
    left = make_call(
        "ExitWorktree",
        {"action": "remove"},
        {"action": "remove", "originalCwd": "/p", "worktreePath": "/w/fix", "discardedFiles": 2},
        text="out",
    )
    assert [describe_call(call) for call in (entered, left)] == [
        ToolView(title="fix", summary="in", output=(Fields((("path", "/w/fix"),)),)),
        ToolView(
            title="remove · /w/fix",
            summary="out",
            output=(Fields((("back in", "/p"), ("files discarded", "2"))),),
        ),
    ]
