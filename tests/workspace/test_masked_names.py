"""Names hold no definite secret either: of models, branches, versions, tools and subagents."""

import json
from collections.abc import Mapping
from pathlib import Path
from random import Random

from tests.process import RunRecollect
from tests.redact.made_up_secrets import UPPER, draw

SESSION = "66666666-6666-4666-8666-666666666666"
AGENT = "abcd1234"
QUESTIONS = (
    ("list", "--subagents"),
    ("list", "--subagents", "--json"),
    ("tools", "--json"),
    ("usage", "explain", SESSION),
    *(("usage", group, "--json") for group in ("model", "branch", "tool", "subagent", "project")),
    ("search", "hello", "--json"),
    ("show", SESSION, "--json"),
)


class Names:
    """Draws a secret for each name, and finds them again."""

    def __init__(self) -> None:
        self._rng = Random(3)
        self._places: dict[str, str] = {}

    def draw(self, place: str) -> str:
        """Return a made-up key that is found nowhere but there."""
        secret = "AK" + "IA" + draw(self._rng, UPPER + "234567", 16)
        self._places[secret] = place
        return secret

    def find(self, data: bytes) -> list[str]:
        """Return the places whose secrets can be read."""
        return [place for secret, place in self._places.items() if secret.encode() in data]


def plant(root: Path, names: Names) -> None:
    """Write a session with a subagent whose names hold secrets."""
    path = root / "projects" / "-srv-reef" / f"{SESSION}.jsonl"
    beside = path.with_suffix("") / "subagents"
    beside.mkdir(parents=True)
    head = {
        "gitBranch": f"feature/{names.draw('branch')}",
        "version": f"2.1.0-{names.draw('version')}",
        "entrypoint": names.draw("entrypoint"),
    }
    tool = f"mcp__{names.draw('server')}__{names.draw('tool')}"
    model = f"claude-{names.draw('model')}"
    use = {"type": "tool_use", "id": "toolu_1", "name": tool, "input": {}}
    write_lines(path, [say("hello"), reply(use, model), say("again")], head)
    agent = {"agentId": AGENT, "isSidechain": True, "gitBranch": names.draw("agent's branch")}
    model = f"claude-{names.draw('agent model')}"
    text = {"type": "text", "text": "done"}
    write_lines(beside / f"agent-{AGENT}.jsonl", [say("look"), reply(text, model)], agent)
    meta = {"agentType": names.draw("agent type"), "description": "look"}
    (beside / f"agent-{AGENT}.meta.json").write_text(json.dumps(meta))


def say(text: str) -> Mapping[str, object]:
    """A prompt."""
    return {"type": "user", "message": {"role": "user", "content": text}}


def reply(block: Mapping[str, object], model: str) -> Mapping[str, object]:
    """A reply that is counted."""
    message = {
        "id": f"msg_{block['type']}", "role": "assistant", "model": model, "content": [block],
        "usage": {"input_tokens": 3, "output_tokens": 5},
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
    path.write_text("\n".join(lines) + "\n")


def test_names_are_kept_and_shown_without_secrets(
    run_recollect: RunRecollect, home: Path, tmp_path: Path
) -> None:
    """Neither lists and totals nor any file of the index has one of them."""
    names = Names()
    plant(home, names)
    assert run_recollect("index", "--text").code == 0
    found = {each: names.find(run_recollect(*each).stdout.encode()) for each in QUESTIONS}
    assert {each: places for each, places in found.items() if places} == {}
    shown = run_recollect("usage", "model", "--json").stdout
    assert "claude-[redacted:aws-key]" in shown
    files = [path for path in (tmp_path / "data").rglob("*") if path.is_file()]
    assert "index.db" in {path.name for path in files}
    assert {path.name: names.find(path.read_bytes()) for path in files} == {
        path.name: [] for path in files
    }
