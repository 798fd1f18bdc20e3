"""Sidecar files of a session, and output that was too large for it."""

import json
from pathlib import Path

import pytest

from recollect.library.opening import open_session
from recollect.library.sidecar_files import (
    SessionSidecars,
    TodoFile,
    load_sidecars,
    read_spilled_output,
)
from recollect.records.tools.planning_tools import Task, Todo
from recollect.session.session import Session
from tests.library.claude_root import FIRST, PROJECT, SECOND, ClaudeRoot, call, prompt, result

OUTPUT = "line of output\n" * 5000


def spill(root: ClaudeRoot, recorded: str) -> Session:
    """Return a session with a call whose output is in a file, as the client records it."""
    text = (
        "<persisted-output>\nOutput too large (75KB). Full output saved to: "
        f"{recorded}\n\nPreview (first 2KB):\nline of output\n</persisted-output>"
    )
    given = {"persistedOutputPath": recorded, "persistedOutputSize": len(OUTPUT)}
    root.session(
        FIRST, prompt("drain"), call("Bash", {"command": "seq 9"}), result(text, given=given)
    )
    return open_session(FIRST, root=[root.path])


def test_a_large_output_is_read_from_its_file(root: ClaudeRoot) -> None:
    """The recorded path is of another machine; only its last two parts count."""
    recorded = f"/Users/else/.claude/projects/-x/{SECOND}/tool-results/b1.txt"
    root.write(f"projects/{PROJECT}/{FIRST}/tool-results/b1.txt", OUTPUT.encode() + b"\xff")
    session = spill(root, recorded)
    (made,) = session.tool_calls
    assert read_spilled_output(session, made) == OUTPUT + "\ufffd"
    assert read_spilled_output(session, made, limit=4) == "line"


def test_a_large_output_that_is_gone_leaves_its_preview(root: ClaudeRoot) -> None:
    """If the file was deleted, the preview in the record remains."""
    session = spill(root, "/x/tool-results/b1.txt")
    (made,) = session.tool_calls
    assert made.spilled is not None
    assert (read_spilled_output(session, made), made.spilled.preview) == (None, "line of output")


@pytest.mark.parametrize(
    "recorded",
    [
        "/etc/passwd",
        "../../secret",
        "tool-results/../../../../secret",
        "/x/tool-results/..",
        "/x/tool-results/linked.txt",
        "/x/tool-results/4711.ab.key",
        "/x/tool-results/",
        "C:\\x\\tool-results\\..\\secret",
    ],
)
def test_a_hostile_path_is_not_followed(root: ClaudeRoot, recorded: str) -> None:
    """A record cannot make the reader open other files."""
    secret = root.write("secret", b"secret")
    place = root.path / "projects" / PROJECT / FIRST / "tool-results"
    place.mkdir(parents=True)
    (place / "linked.txt").symlink_to(secret)
    (place / "4711.ab.key").write_bytes(b"secret")
    session = spill(root, recorded)
    assert [read_spilled_output(session, made) for made in session.tool_calls] == [None]


def test_a_call_with_its_output_has_no_other(root: ClaudeRoot) -> None:
    """There is nothing to read if no output was spilled."""
    root.session(FIRST, prompt("drain"), call("Bash", {}), result("ok"))
    session = open_session(FIRST, root=[root.path])
    assert [read_spilled_output(session, made) for made in session.tool_calls] == [None]


def test_everything_beside_a_session_is_loaded(root: ClaudeRoot) -> None:
    """Plan, tasks, lists, workflows and typed prompts are returned, without damaged ones."""
    root.session(FIRST, prompt("drain", slug="quiet-green-pond"))
    root.write("plans/quiet-green-pond.md", "# Plan\n先排水".encode())
    for number in (10, 9, 2):
        task = {"id": str(number), "subject": f"Step {number}", "status": "pending"}
        root.write(f"tasks/{FIRST}/{number}.json", json.dumps(task).encode())
    root.write(f"tasks/{FIRST}/broken.json", b"{")
    todo = [{"content": "Pull the plug", "status": "completed", "activeForm": "Pulling"}]
    root.write(f"todos/{FIRST}-agent-{FIRST}.json", json.dumps(todo).encode())
    root.write(f"todos/{FIRST}-agent-a000001.json", b"[]")
    root.write(f"projects/{PROJECT}/{FIRST}/workflows/wf_1.json", b'{"runId": "wf_1"}')
    found = load_sidecars(open_session(FIRST, root=[root.path]))
    pulled = Todo(content="Pull the plug", status="completed", active_form="Pulling")
    assert (found.plan, found.tasks, found.todos) == (
        "# Plan\n先排水",
        tuple(Task(id=n, subject=f"Step {n}", status="pending") for n in ("2", "9", "10")),
        (TodoFile(FIRST, (pulled,)),),
    )
    assert [(each.run_id, bytes(each.snapshot)) for each in found.workflows] == [
        ("wf_1", b'{"runId": "wf_1"}')
    ]


def test_typed_prompts_are_those_of_the_session(root: ClaudeRoot) -> None:
    """The history of all projects is one file; lines are matched by session."""
    lines = [
        {"display": "drain", "timestamp": 1_794_770_588_419, "project": "/p", "sessionId": FIRST},
        {"display": f"about {FIRST}", "timestamp": 2, "project": "/p", "sessionId": SECOND},
        {"display": "before ids", "timestamp": 3, "project": "/p"},
        {"display": "fill", "timestamp": 4, "project": "/p", "sessionId": FIRST},
    ]
    data = b"{torn\n" + b"\n".join(json.dumps(line).encode() for line in lines)
    root.write("history.jsonl", data)
    root.session(FIRST, prompt("drain"))
    found = load_sidecars(open_session(FIRST, root=[root.path])).prompts
    assert [(typed.display, typed.timestamp, typed.project) for typed in found] == [
        ("drain", 1_794_770_588_419, "/p"),
        ("fill", 4, "/p"),
    ]


def test_a_session_without_a_file_has_nothing_beside_it() -> None:
    """Records of a stream have no sidecars."""
    assert load_sidecars(Session()) == SessionSidecars()


def test_a_session_whose_file_is_gone_has_nothing_beside_it(root: ClaudeRoot) -> None:
    """Files deleted since the session was opened cause no error."""
    path = root.session(FIRST, prompt("drain"))
    session = open_session(path)
    path.unlink()
    assert load_sidecars(session) == SessionSidecars()


def test_a_file_outside_any_root_has_no_history(tmp_path: Path, root: ClaudeRoot) -> None:
    """Only a file below `projects` has a root with a prompt history."""
    copy = tmp_path / f"{FIRST}.jsonl"
    copy.write_bytes(root.session(FIRST, prompt("drain")).read_bytes())
    root.write("history.jsonl", json.dumps({"display": "x", "sessionId": FIRST}).encode())
    assert load_sidecars(open_session(copy)) == SessionSidecars()
