"""The files beside a transcript, with a made-up secret in each text that may be shown.

Every file also has a unique word, so that a test can tell whether it was shown.
"""

import json
from collections.abc import Callable
from pathlib import Path

from tests.git_repository import commit_everything
from tests.versions.small_project import Project

AGENT = "a1b2c3d4"
SLUG = "calm-reef"
GONE = "44444444-4444-4444-8444-444444444444"
"""A session without a transcript, of which the prompt history still has a prompt."""
WORKED = "55555555-5555-4555-8555-555555555555"
"""A session that worked on files in a git repository."""
SPILLED = "tool-results/spilled.txt"
WORDS = (
    "agentmeta", "agentprompt", "agentoutput", "plannote", "tasknote", "todonote", "goneprompt",
    "oldline", "newline", "worknote",
)  # fmt: skip
"""A word of each file that is shown: large outputs and typed prompts are excluded."""

Draw = Callable[[], str]


def plant_beside(root: Path, transcript: Path, draw: Draw) -> None:
    """Write the files that Claude Code keeps for a session, and for a deleted one."""
    session = transcript.stem
    beside = transcript.with_suffix("")
    meta = {"agentType": "general-purpose", "description": f"agentmeta {draw()}"}
    _write_json(beside / "subagents" / f"agent-{AGENT}.meta.json", meta)
    _write(beside / "subagents" / f"agent-{AGENT}.jsonl", _make_agent(session, draw))
    _write(beside / SPILLED, f"spilledline\n{draw()}\n")
    _write(root / "plans" / f"{SLUG}.md", f"# plannote\n\n{draw()}\n")
    task = {"id": "1", "subject": f"tasknote {draw()}", "description": draw(), "status": "pending"}
    _write_json(root / "tasks" / session / "1.json", task)
    todo = {"content": f"todonote {draw()}", "activeForm": draw(), "status": "in_progress"}
    _write_json(root / "todos" / f"{session}-agent-{session}.json", [todo])
    typed = [(session, draw()), (session, "/clear"), (GONE, f"goneprompt\n{draw()}")]
    lines = [
        json.dumps(
            {
                "display": text, "timestamp": 1_762_000_000_000 + number, "project": "/srv/reef",
                "sessionId": name, "pastedContents": {"1": {"id": 1, "content": draw()}},
            }
        )
        for number, (name, text) in enumerate(typed)
    ]  # fmt: skip
    _write(root / "history.jsonl", "\n".join(lines) + "\n")


def _make_agent(session: str, draw: Draw) -> str:
    call = {
        "type": "tool_use",
        "id": "toolu_in_agent",
        "name": "Bash",
        "input": {"command": draw()},
    }
    result = {"type": "tool_result", "tool_use_id": "toolu_in_agent", "content": draw()}
    messages: list[tuple[str, object]] = [
        ("user", f"agentprompt\n{draw()}"),
        ("assistant", [{"type": "thinking", "thinking": draw(), "signature": "x"}]),
        ("assistant", [call]),
        ("user", [result]),
        ("assistant", [{"type": "text", "text": f"agentoutput\n{draw()}"}]),
    ]
    lines = [
        json.dumps(
            {
                "type": role, "uuid": f"agent{number}", "parentUuid": f"agent{number - 1}",
                "sessionId": session, "agentId": AGENT, "isSidechain": True, "cwd": "/srv/reef",
                "timestamp": f"2026-11-10T11:00:{number:02d}.000Z",
                "message": {
                    "id": f"msg_agent{number}", "role": role, "model": "claude-opus-4-5",
                    "content": content,
                },
            }
        )
        for number, (role, content) in enumerate(messages)
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def plant_project(directory: Path, root: Path, draw: Draw) -> Path:
    """Make a repository in which Claude changed a secret in a file; return the file."""
    made = Project(directory, WORKED)
    made.prompt(f"worknote: use\n{draw()}")
    made.write("app.py", f"oldline\n{draw()}\n")
    second = made.prompt(f"and now\n{draw()}")
    path = made.path("app.py")
    made.snapshot(second, {str(path): "app@v1"})
    _write(root / "file-history" / WORKED / "app@v1", path.read_text("utf-8"))
    made.write("app.py", f"newline\n{draw()}\n")
    made.save(root)
    commit_everything(directory)
    return path


def _write_json(path: Path, value: object) -> None:
    _write(path, json.dumps(value))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
