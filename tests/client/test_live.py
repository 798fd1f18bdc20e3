"""The output of `follow` and `run` while the real client works."""

import json
from pathlib import Path

import pytest

from tests.client.client_sandbox import ALLOWED, SECONDS, STREAMING, ClientSandbox
from tests.client.scenes import SUMMARY, count, texts
from tests.client.versions import OLDEST
from tests.terminal import open_terminal

pytestmark = pytest.mark.client


def test_follow_shows_a_call_before_it_ends(sandbox: ClientSandbox) -> None:
    """The call is shown while the tool runs, then its result, then the text after it."""
    with (
        sandbox.follow("--all") as follower,
        sandbox.start([*STREAMING, "--", "play:slow_tool"]) as client,
    ):
        follower.wait_for("● Bash", "sleep 4", "…")
        assert client.poll() is None
        assert not any("slept" in line and "✓" in line for line in follower.lines)
        follower.wait_for("● Bash", "sleep 4", "✓")
        follower.wait_for("It slept.")
        client.communicate(timeout=SECONDS)


def test_follow_shows_a_subagent_at_work(sandbox: ClientSandbox, version: str) -> None:
    """Its call is published before the main conversation continues."""
    with (
        sandbox.follow("--all") as follower,
        sandbox.start([*STREAMING, "--", "play:agent"]) as client,
    ):
        follower.wait_for("I send somebody.")
        if version != OLDEST:
            follower.wait_for("┃", "● Bash", "echo worked", "…")
            assert client.poll() is None
            follower.wait_for("┃", "Report: all is well.")
        follower.wait_for("The agent is back.")
        client.communicate(timeout=SECONDS)


def test_follow_shows_a_compaction(sandbox: ClientSandbox, version: str) -> None:
    """Following continues after a compaction; old clients write it in pieces."""
    first = sandbox.ask("play:hello")[-1]["session_id"]
    with sandbox.follow(first) as follower:
        follower.wait_for("Hello.")
        sandbox.ask("/compact", "--resume", first)
        follower.wait_for("The conversation was compacted", "by command")
        if version != OLDEST:
            follower.wait_for(SUMMARY[:30])
        sandbox.ask("play:again", "--resume", first)
        follower.wait_for(texts("again")[0])


def test_follow_reports_each_record_once_and_the_end(sandbox: ClientSandbox, version: str) -> None:
    """The events are the lines of the file, in order; old clients do not report the end."""
    with sandbox.follow("--all", "--json-lines") as follower:
        follower.wait_for('"caught_up"')
        # One that takes a while: who comes and goes between two looks was never seen.
        sandbox.ask("play:slow_tool")
        follower.wait_for(texts("slow_tool")[-1])
        follower.wait_for('"status": "unknown"' if version == OLDEST else '"status": "ended"')
        events = [json.loads(line) for line in follower.lines]
    (path,) = {each["path"] for each in events if each["event"] == "appended"}
    lines = [json.loads(line) for line in Path(path).read_bytes().split(b"\n") if line]
    told = [each["record"] for each in events if each["event"] == "appended"]
    assert told == lines[: len(told)]
    assert [each["uuid"] for each in lines[len(told) :] if "uuid" in each] == []


def test_run_shows_partial_text(sandbox: ClientSandbox) -> None:
    """In a terminal, text is shown long before the reply is complete, and once when it is."""
    arguments = ("run", "play:slow_words", "--", ALLOWED)
    with open_terminal(*arguments, env=sandbox.environment, cwd=sandbox.work) as terminal:
        terminal.wait_for_text("word6")
        assert not any("word39" in line for line in terminal.lines)
        terminal.wait_for_text("word39")
        assert terminal.wait_for_end() == 0
        shown = " ".join(line.strip() for line in terminal.lines if line.startswith("  word"))
    assert [shown] == texts("slow_words")


def test_run_reports_its_cost(sandbox: ClientSandbox) -> None:
    """The final figures equal those of the scenes, including the subagent's."""
    done = sandbox.recollect("run", "play:agent", "--json-lines", "--", ALLOWED)
    end = json.loads(done.stdout.splitlines()[-1])
    used = count("worker"), count("agent", replies=2)
    sent = sum(each.prompt for each in used)
    tokens = end["figures"]["tokens"]
    assert (done.code, end["code"], end["session_id"]) == (0, 0, sandbox.session_ids[0])
    assert tokens["output"] == sum(each.output for each in used)
    assert sum(tokens.values()) == sent + tokens["output"]
    assert (end["figures"]["turns"], end["figures"]["tool_calls"]) == (1, 2)


def test_run_continues_a_session(sandbox: ClientSandbox) -> None:
    """`--resume` appends to the session that it names, `--fork` does not."""
    first = sandbox.ask("play:hello")[-1]["session_id"]
    sandbox.recollect("run", "play:again", "--resume", first[:8], "--", ALLOWED)
    sandbox.recollect("run", "play:aside", "--resume", first, "--fork", "--", ALLOWED)
    (copy,) = set(sandbox.session_ids) - {first}
    said = [
        [each.text for each in sandbox.open(name).messages if each.role == "assistant"]
        for name in (first, copy)
    ]
    assert said == [texts("hello", "again"), texts("hello", "again", "aside")]


def test_a_kept_stream_can_be_replayed(sandbox: ClientSandbox) -> None:
    """Replaying the saved stream gives the same output as the run."""
    done = sandbox.recollect("run", "play:tools", "--keep", "kept.jsonl", "--", ALLOWED)
    played = sandbox.recollect("replay", "kept.jsonl", "--instant")
    assert (done.code, played.code) == (0, 0)
    said = [f"  {words}" for words in texts("tools")]
    assert [line for line in played.stdout.splitlines() if line in said] == said
    assert done.stdout.splitlines()[-2:] == played.stdout.splitlines()[-2:]
