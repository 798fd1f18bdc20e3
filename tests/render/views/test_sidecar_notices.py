"""Files beside a session are shown after its last turn."""

import json
from pathlib import Path

import pytest

from recollect.documents.turn_documents import (
    CheckItem,
    Checklist,
    CheckState,
    Fields,
    NoticeKind,
    NoticeStep,
    Prose,
)
from recollect.library.opening import open_session
from recollect.library.sidecar_files import load_session_lists
from recollect.render.terminal.canvas import RenderOptions
from recollect.render.terminal.terminal_session import render_session
from recollect.render.views.record_notices import list_sidecar_notices
from recollect.session.session import Session
from tests.library.claude_root import FIRST, ClaudeRoot, prompt


@pytest.fixture
def session(tmp_path: Path) -> Session:
    """A session with two todo lists, a task and a plan."""
    root = ClaudeRoot(tmp_path)
    root.session(FIRST, prompt("drain", slug="quiet-green-pond"))
    root.write("plans/quiet-green-pond.md", b"Open the gate.")
    task = {"id": "1", "subject": "Dig", "description": "By hand", "status": "in_progress"}
    root.write(f"tasks/{FIRST}/1.json", json.dumps(task).encode())
    for agent, content in ((FIRST, "Pull the plug"), ("a000001", "Count the fish")):
        todo = [{"content": content, "status": "completed", "activeForm": "Working"}]
        root.write(f"todos/{FIRST}-agent-{agent}.json", json.dumps(todo).encode())
    return open_session(FIRST, root=[root.path])


def _make(title: str, *parts: Checklist | Fields | Prose) -> NoticeStep:
    return NoticeStep(uuid=None, kind=NoticeKind.INFORMATION, title=title, parts=parts)


def test_lists_and_plan_are_notices(session: Session) -> None:
    """Each list names the agent that it belongs to, unless that is the session itself."""
    dig = CheckItem("Dig", CheckState.ACTIVE, "task 1")
    assert set(list_sidecar_notices(load_session_lists(session), session.id)) == {
        _make("To-do list", Checklist((CheckItem("Pull the plug", CheckState.DONE),))),
        _make(
            "To-do list of agent a000001",
            Checklist((CheckItem("Count the fish", CheckState.DONE),)),
        ),
        _make("Tasks", Checklist((dig,)), Fields((("Dig", "By hand"),))),
        _make("Plan", Prose("Open the gate.")),
    }


def test_lists_follow_the_last_turn_in_a_terminal(session: Session) -> None:
    """A whole session ends with them; a few turns of it, or its prompts alone, do not."""
    look = RenderOptions(columns=60)
    whole = [*render_session(session, [0], look, is_whole=True, prompts_only=False)]
    assert [line for line in whole if "plug" in line or "gate" in line or "fish" in line]
    some = [*render_session(session, [0], look, is_whole=False, prompts_only=False)]
    assert [line for line in some if "plug" in line] == []


def test_a_session_without_a_file_has_none() -> None:
    """Records that come from no file have nothing beside them."""
    assert load_session_lists(Session()).todos == ()
