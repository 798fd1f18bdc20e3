"""The tokens of a session are the same in `show`, lists, usage and the API."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from recollect import Workspace
from tests.library.claude_root import FIRST, SECOND, ClaudeRoot, Line, at, prompt, reply
from tests.process import RunRecollect
from tests.sdk.sources import iter_recorded_roots
from tests.web.running import run_server

USAGE = {"input_tokens": 10, "output_tokens": 50}
MODEL = "claude-opus-4-6"


def answer(name: str, seconds: float, **more: object) -> Line:
    """Return a reply of sixty tokens, with an id like the API's."""
    line = reply("Done.", uuid=name, seconds=seconds, requestId=f"req_{name}")
    message = {"id": f"msg_01{name:A>22}", "role": "assistant", "model": MODEL, "content": []}
    return {**line, "message": {**message, "usage": USAGE}, **more}


def relayed(name: str, seconds: float) -> Line:
    """Return a progress record that repeats a reply of a subagent."""
    data = {"type": "agent_progress", "agentId": "a1234567", "message": answer(name, seconds)}
    return {**prompt("", uuid=f"p{name}", seconds=seconds), "type": "progress", "data": data}


QUEUED = {"type": "queue-operation", "operation": "dequeue", "timestamp": at(1000)}
OLD = [prompt("drain"), answer("a1", 1), prompt("rinse", uuid="u2", seconds=5), answer("a2", 6)]
NEW = [prompt("fill", uuid="u3", seconds=1001), answer("a3", 1002)]
CASES: dict[str, tuple[Sequence[Line], Sequence[Line], tuple[int, int, int]]] = {
    "fork": (OLD, [QUEUED, *OLD, *NEW], (60, 120, 0)),
    "fork without a time of its own": (OLD, [*OLD, *NEW], (60, 120, 0)),
    "fork with nothing of its own": (OLD, [QUEUED, *OLD], (0, 120, 0)),
    "fork of a session that is gone": ([], [QUEUED, *OLD, *NEW], (180, 0, 0)),
    "clock that was set back": ([], [prompt("a", seconds=9), *OLD], (120, 0, 0)),
    "server without request ids at first": (
        [],
        [prompt("a"), answer("a1", 1, requestId=None), *NEW],
        (120, 0, 0),
    ),
    "subagent without a transcript": (
        [],
        [*OLD, relayed("a8", 7), relayed("a9", 8)],
        (120, 0, 120),
    ),
    "copied progress": ([*OLD, relayed("a8", 7)], [QUEUED, *OLD, relayed("a8", 7)], (0, 120, 0)),
}


def read_head(run: RunRecollect, root: Path, session: str) -> tuple[int, int, int]:
    """Return the own, copied and subagent tokens in the header of `show`."""
    head = run("show", session, "--claude-dir", str(root), env={"COLUMNS": "200"}).stdout
    found = []
    for words in (r" · ([\d,]+) tokens(?! more)", r"([\d,]+) copied", r"([\d,]+) tokens more"):
        match = re.search(words, head.split("──")[0])
        found.append(int(match[1].replace(",", "")) if match else 0)
    return found[0], found[1], found[2]


def read_row(run: RunRecollect, root: Path, session: str) -> tuple[int, int]:
    """Return the own and copied tokens of a session in a list."""
    listed = run("list", "-n", "0", "--cost", "--json", "--claude-dir", str(root)).stdout
    (row,) = [each for each in json.loads(listed)["sessions"] if each["id"] == session]
    return row["tokens"], row["copied_tokens"]


def read_facts(run: RunRecollect, root: Path, session: str) -> tuple[int, int, int]:
    """The same tokens in an export."""
    text = run("export", session, "--format", "text", "--claude-dir", str(root)).stdout
    facts = dict(line.split(": ", 1) for line in text.split("──")[0].splitlines() if ": " in line)
    names = ("tokens", "copied tokens", "tokens of subagents")
    own, copied, more = (int(facts.get(name, "0").replace(",", "")) for name in names)
    return own, copied, more


@pytest.mark.parametrize("name", CASES)
def test_show_says_what_lists_and_usage_say(
    run_recollect: RunRecollect, tmp_path: Path, name: str
) -> None:
    """All files together determine which tokens belong to a session."""
    original, fork, (own, copied, more) = CASES[name]
    root = ClaudeRoot(tmp_path / "claude")
    if original:
        root.session(FIRST, *original)
    root.session(SECOND, *fork)
    assert read_head(run_recollect, root.path, SECOND) == (own, copied, more)
    assert read_facts(run_recollect, root.path, SECOND) == (own, copied, more)
    assert read_row(run_recollect, root.path, SECOND) == (own + more, copied)
    report = run_recollect("usage", "session", "--json", "--claude-dir", str(root.path)).stdout
    rows = {row["key"]: row for row in json.loads(report)["rows"]}
    counted = rows[SECOND]["input_tokens"] + rows[SECOND]["output_tokens"] if own else 0
    assert counted == own + more


def test_costs_include_subagents_without_a_transcript(
    run_recollect: RunRecollect, tmp_path: Path
) -> None:
    """The cost in the header equals the one in the list."""
    root = ClaudeRoot(tmp_path / "claude")
    root.session(FIRST, *OLD, *(relayed(f"b{number}", 7) for number in range(8)))
    head = run_recollect("show", FIRST, "--cost", "--claude-dir", str(root.path)).stdout
    assert "480 tokens more by subagents" in head
    assert "$0.01 at list prices" in head


def test_the_api_has_one_figure(tmp_path: Path) -> None:
    """The figures of a session equal those in the list."""
    root = ClaudeRoot(tmp_path / "claude")
    root.session(SECOND, QUEUED, *OLD, *NEW)
    with run_server(tmp_path, root.path) as server:
        server.wait_until_current()
        server.wait_for_figures()
        answered = server.get(f"/api/sessions/{SECOND}").json()
        metrics, listed = answered["metrics"], answered["session"]
        assert metrics["tokens"]["input"] + metrics["tokens"]["output"] == 180
        assert metrics["copied_tokens"]["input"] == 0
        assert (listed["tokens"], listed["copied_tokens"]) == (180, 0)


def test_a_file_elsewhere_is_judged_by_itself(run_recollect: RunRecollect, tmp_path: Path) -> None:
    """A copied transcript outside the Claude directories can be shown without any index."""
    path = ClaudeRoot(tmp_path / "claude").session(SECOND, QUEUED, *OLD, *NEW)
    kept = path.rename(tmp_path / "kept.jsonl")
    assert read_head(run_recollect, tmp_path / "claude", str(kept)) == (60, 120, 0)


def test_a_path_through_a_linked_claude_directory(
    run_recollect: RunRecollect, tmp_path: Path
) -> None:
    """The figures are those of the index, whether the path or the directory is a link."""
    path = ClaudeRoot(tmp_path / "claude").session(SECOND, QUEUED, *OLD, *NEW)
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "claude")
    linked = link / path.relative_to(tmp_path / "claude")
    heads = {
        read_head(run_recollect, root, str(name))
        for root in (link, tmp_path / "claude")
        for name in (linked, path, SECOND)
    }
    assert heads == {(180, 0, 0)}


@pytest.mark.slow
def test_sessions_of_the_real_client(shared: Path, tmp_path: Path) -> None:
    """The shares of each session add up to its tokens in the list, for five versions."""
    compared = 0
    for number, root in enumerate(iter_recorded_roots(shared.resolve())):
        with Workspace([root], data_directory=tmp_path / str(number)) as workspace:
            for listed in workspace.sessions(with_usage=True).sessions:
                shares = workspace.attribute_tokens([workspace.find(listed.path)]).get(listed.path)
                if shares is None or listed.tokens is None:
                    continue
                total = shares.own.total + shares.subagents.total
                assert (total, shares.copied.total) == (listed.tokens, listed.copied_tokens)
                compared += 1
    assert compared > 400
