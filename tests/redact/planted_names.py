"""A Claude directory with secrets in names: of directories, files, branches, models and more.

Each has a different key, so that a test can tell which name was shown. Ids of sessions, messages
and subagents are excluded: Claude Code generates them, and requests need them.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from random import Random

from recollect.locations import encode_project_path
from tests.git_repository import commit_everything, run_git
from tests.redact.made_up_secrets import OWN, UPPER, draw
from tests.versions.small_project import Project

SESSION = "66666666-6666-4666-8666-666666666666"
LOST = "77777777-7777-4777-8777-777777777777"
"""A session that only the prompt history knows."""
AGENT = "abcd1234"


class Names:
    """Generates a secret for each name, and finds them again."""

    def __init__(self, *, are_own: bool = False) -> None:
        """Start without any; keys of AWS, or of a kind that only the user knows."""
        self._rng = Random(3)
        self._are_own = are_own
        self.places: dict[str, str] = {}

    def draw(self, place: str) -> str:
        """Return a made-up key that is used only once."""
        if self._are_own:
            secret = OWN.make(self._rng).text
        else:
            secret = "AK" + "IA" + draw(self._rng, UPPER + "234567", 16)
        self.places[secret] = place
        return secret

    def find(self, data: bytes) -> list[str]:
        """Return the locations whose secrets can be read."""
        return [place for secret, place in self.places.items() if secret.encode() in data]


def plant_names(root: Path, names: Names) -> Path:
    """Write a session with a subagent and everything beside it; return a file it worked on."""
    directory = root.parent / f"work-{names.draw('directory')}"
    file = _plant_work(root, directory, names)
    transcript = root / "projects" / encode_project_path(str(directory)) / f"{SESSION}.jsonl"
    beside = transcript.with_suffix("")
    meta = {"agentType": names.draw("agent type"), "description": names.draw("agent description")}
    write_json(beside / "subagents" / f"agent-{AGENT}.meta.json", meta)
    agent = {"agentId": AGENT, "isSidechain": True, "gitBranch": names.draw("agent's branch")}
    model = f"claude-{names.draw('agent model')}"
    text = {"type": "text", "text": "done"}
    write_lines(
        beside / "subagents" / f"agent-{AGENT}.jsonl", [say("look"), reply(text, model)], agent
    )
    write(beside / "tool-results" / f"{names.draw('result file')}.txt", names.draw("result"))
    write(beside / names.draw("other directory") / names.draw("other file"), "x")
    _plant_root(root, names)
    return file


def _plant_work(root: Path, directory: Path, names: Names) -> Path:
    """Have Claude change a file twice in a git repository, with a backup and a checkpoint."""
    made = Project(directory, SESSION)
    head = {
        "gitBranch": f"feature/{names.draw('branch')}",
        "version": f"2.1.0-{names.draw('version')}",
        "entrypoint": names.draw("entrypoint"),
        "slug": names.draw("slug"),
    }
    name = f"{names.draw('folder')}/{names.draw('file')}.py"
    made.prompt("hello")
    made.write(name, "old line\n")
    second = made.prompt("and now")
    path = made.path(name)
    backup = f"{names.draw('backup')}@v1"
    made.snapshot(second, {str(path): backup})
    write(root / "file-history" / SESSION / backup, path.read_text("utf-8"))
    made.edit(name, "old", "new")
    tool = f"mcp__{names.draw('server')}__{names.draw('tool')}"
    made.call(tool, {names.draw("input field"): "x"}, {names.draw("result field"): "x"})
    made.save(root)
    transcript = root / "projects" / encode_project_path(str(directory)) / f"{SESSION}.jsonl"
    lines = [json.loads(line) | head for line in transcript.read_text("utf-8").splitlines()]
    model = f"claude-{names.draw('model')}"
    last = {key: lines[-1][key] for key in ("cwd", "timestamp", "sessionId")}
    text = {"type": "text", "text": "done"}
    lines.append({**last, **head, **reply(text, model), "uuid": "last"})
    transcript.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    commit_everything(directory)
    run_git(directory, "commit", "--allow-empty", "--quiet", "-m", names.draw("commit"))
    run_git(directory, "branch", names.draw("branch of the repository"))
    return path


def _plant_root(root: Path, names: Names) -> None:
    """Write the other files of a Claude directory."""
    typed = [
        {
            "display": "hello", "timestamp": 1_762_000_000_000, "sessionId": LOST,
            "project": f"/srv/{names.draw('project of the history')}",
            "pastedContents": {},
        }
    ]  # fmt: skip
    write(root / "history.jsonl", "".join(json.dumps(line) + "\n" for line in typed))
    settings = {
        "model": names.draw("model setting"),
        "env": {names.draw("variable"): names.draw("value")},
        "cleanupPeriodDays": names.draw("cleanup"),
        "hooks": {names.draw("hook"): [{"command": names.draw("hook command")}]},
        names.draw("setting"): True,
    }
    write_json(root / "settings.json", settings)
    task = {
        "id": "1", "subject": names.draw("subject"), "description": names.draw("description"),
        "activeForm": names.draw("form"), "status": names.draw("task status"),
        "owner": names.draw("owner"), "blocks": [names.draw("blocks")], "blockedBy": [],
        "metadata": {names.draw("metadata key"): names.draw("metadata")},
    }  # fmt: skip
    write_json(root / "tasks" / SESSION / f"{names.draw('task file')}.json", task)
    todo = {
        "id": names.draw("todo id"), "content": names.draw("todo"), "priority": names.draw("high"),
        "activeForm": names.draw("todo form"), "status": names.draw("todo status"),
    }  # fmt: skip
    write_json(root / "todos" / f"{SESSION}-agent-{SESSION}.json", [todo])
    write(root / "plans" / f"{names.draw('plan file')}.md", names.draw("plan"))
    project = next((root / "projects").glob("*-work-*"))
    checkpoint = {
        "id": names.draw("opcode id"), "timestamp": "2026-11-01T10:00:00Z",
        "description": names.draw("opcode description"), "projectId": names.draw("opcode project"),
        "metadata": {"userPrompt": names.draw("opcode prompt"), "modelUsed": names.draw("used")},
    }  # fmt: skip
    node = {"checkpoint": checkpoint, "children": [], "fileSnapshotIds": [names.draw("snapshot")]}
    write_json(project / ".timelines" / SESSION / "timeline.json", {"rootNode": node})
    write(project / f"{names.draw('stray file')}.txt", "x")
    write(root / "projects" / f"-{names.draw('empty project')}" / "memory" / "x.md", "x")


def plant_client(root: Path, names: Names) -> None:
    """Record a client that has the session open: this process."""
    client = {
        "pid": os.getpid(), "sessionId": SESSION, "cwd": f"/srv/{names.draw('client directory')}",
        **{
            name: names.draw(f"client {name}")
            for name in ("version", "kind", "entrypoint", "name", "status", "waitingFor")
        },
    }  # fmt: skip
    write_json(root / "sessions" / f"{os.getpid()}.json", client)


def say(text: str) -> Mapping[str, object]:
    """A prompt."""
    return {"type": "user", "message": {"role": "user", "content": text}}


def reply(block: Mapping[str, object], model: str) -> Mapping[str, object]:
    """A reply that is counted."""
    message = {
        "id": f"msg_{block['type']}", "role": "assistant", "model": model, "content": [block],
        "usage": {"input_tokens": 3, "output_tokens": 5}, "stop_reason": "end_turn",
    }  # fmt: skip
    return {"type": "assistant", "requestId": f"req_{block['type']}", "message": message}


def write_lines(
    path: Path, records: list[Mapping[str, object]], head: Mapping[str, object]
) -> None:
    """Write a transcript."""
    lines = [
        json.dumps(
            {
                "uuid": f"{path.stem}{number}", "sessionId": SESSION, "cwd": "/srv/reef",
                "timestamp": f"2026-11-10T10:00:{number:02d}.000Z", **head, **record,
            }
        )
        for number, record in enumerate(records)
    ]  # fmt: skip
    write(path, "\n".join(lines) + "\n")


def write_json(path: Path, value: object) -> None:
    """Write a value."""
    write(path, json.dumps(value))


def write(path: Path, text: str) -> None:
    """Write a file, with its directories."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
