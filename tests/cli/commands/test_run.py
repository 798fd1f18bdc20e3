"""`recollect run`, interactively and in scripts, with a client that plays a script."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from recollect.library.processes import is_alive
from recollect.records.conversation_records import COMPACTION_MARK
from recollect.render.terminal import measure
from tests.cli.demo_home import GOLDEN, WIDTHS, run_at
from tests.golden import check_golden
from tests.launch.fake_client import (
    SESSION,
    Step,
    answer,
    begin_text,
    call,
    init,
    make_client,
    needs_posix,
    piece,
    read_call,
    result,
    text,
)
from tests.library.claude_root import FIRST, ClaudeRoot, prompt
from tests.process import Finished, RunRecollect
from tests.terminal import open_terminal
from tools.generate_schemas import make_schema

pytestmark = needs_posix

ESCAPE = "\x1b]0;owned\x07\u202e"
STORY: list[Step] = [
    init(),
    begin_text(),
    piece("Let me "),
    piece("look."),
    text("Let me look.", uuid="a") | {"timestamp": "2026-11-13T12:00:01Z"},
    call("Bash", {"command": "ls"}, uuid="b") | {"timestamp": "2026-11-13T12:00:02Z"},
    answer("README.md", to="b") | {"timestamp": "2026-11-13T12:00:03Z"},
    call("Agent", {"description": "Count", "subagent_type": "Explore"}, uuid="c"),
    call("Bash", {"command": "wc -l README.md"}, uuid="d", agent="toolu_c"),
    answer("7 README.md", to="d", agent="toolu_c"),
    answer("seven lines", to="c"),
    text(f"It has **seven** lines {ESCAPE}.", uuid="e", message="msg_2"),
    result(),
]


@pytest.fixture
def client(tmp_path: Path) -> Path:
    """The directory of the client."""
    return tmp_path / "bin"


def run_story(
    run: RunRecollect, client: Path, *arguments: str, script: list[Step], input: str | None = None
) -> Finished:
    """Run the program with a client that plays `script`."""
    path = make_client(client, script)
    env = {"PATH": path, "COLUMNS": "80", "TZ": "UTC"}
    return run("run", *arguments, input=input, env=env)


def drop_times(output: str) -> str:
    """Remove the times and durations that differ between runs."""
    return "\n".join(
        line.split("  20")[0] + " …" if line.lstrip(" ┃").startswith("── ") else line
        for line in output.split("\n")
    )


def test_a_run_is_shown(run_recollect: RunRecollect, client: Path) -> None:
    """In a pipe there are only complete steps, including the subagent's, and the totals."""
    done = run_story(run_recollect, client, "count the lines", script=STORY)
    assert (done.code, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    spans = [" ms", " s\n"]
    assert [span for span in spans if span in done.stdout] != []
    assert drop_times(done.stdout).splitlines()[-2:] == [
        "· 1 turn · 5 replies · 3 tool calls · 38 tokens (30 written) · $0.0123 · 1.5 s",
        f"· session {SESSION}",
    ]
    said = [line for line in done.stdout.splitlines() if line.startswith("  ") and "┃" not in line]
    assert said == [
        "  Let me look.",
        "  ↳ Explore · Count",
        "  It has seven lines ␛]0;owned‹U+0007›‹U+202E›.",
    ]


SECRET = "AKIAIOSFODNN7RTGHJKL"
LEAKY: list[Step] = [
    init(),
    begin_text(),
    *map(piece, ["I use ", "AKIA", "IOSFODNN7RTGH", "JKL as key.\n", "Good"]),
    text(f"I use {SECRET} as key.\nGood", uuid="a"),
    call("Bash", {"command": f"deploy {SECRET}"}, uuid="b"),
    answer(f"deployed with {SECRET}", to="b"),
    result(result=f"used {SECRET}", errors=[f"no {SECRET}"], subtype="error_max_turns"),
    f"printed {SECRET}",
]


@pytest.mark.parametrize("options", [(), ("--json-lines",), ("--tools", "full")])
def test_secrets_are_masked(
    run_recollect: RunRecollect, client: Path, options: tuple[str, ...]
) -> None:
    """In the prompt, in pieces and in complete messages, as text and as JSON."""
    script: list[Step] = [*LEAKY, ["complain", f"warning: {SECRET}\n"]]
    done = run_story(run_recollect, client, f"use {SECRET}", *options, script=script)
    assert done.code == 0
    assert (SECRET in done.stdout, SECRET in done.stderr) == (False, False)
    assert "[redacted:aws-key#1]" in done.stdout
    assert "Good" in done.stdout


def test_a_kept_stream_is_as_it_was(run_recollect: RunRecollect, client: Path) -> None:
    """A copy that the user requests has to be exact."""
    kept = client.parent / "kept.jsonl"
    run_story(run_recollect, client, "go", "--keep", str(kept), script=LEAKY)
    assert kept.read_text(encoding="utf-8").count(SECRET) >= 4
    done = run_recollect("replay", str(kept), "--instant")
    assert (done.code, SECRET in done.stdout) == (0, False)


def test_programs_are_not_shown_secrets(run_recollect: RunRecollect, client: Path) -> None:
    """`--reveal` is for a terminal."""
    done = run_story(run_recollect, client, "go", "--reveal", script=LEAKY)
    assert (done.code, done.stdout) == (2, "")


def test_a_prompt_is_shown_as_a_turn(run_recollect: RunRecollect, client: Path) -> None:
    """The prompt is printed first."""
    done = run_story(run_recollect, client, "count the lines", script=[result()])
    lines = drop_times(done.stdout).splitlines()
    assert lines[:3] == ["", "── 1 …", "▌ count the lines"]


def test_json_lines_are_the_output_of_the_client(run_recollect: RunRecollect, client: Path) -> None:
    """Each message is on a separate line, unchanged, between a start and an end.

    Only the last word of a growing text is delayed until the next message.
    """
    script: list[Step] = [*STORY, "no message"]
    done = run_story(run_recollect, client, "count", "--json-lines", script=script)
    documents = [json.loads(line) for line in done.stdout.splitlines()]
    schema = make_schema("recollect.run/2")
    for document in documents:
        jsonschema.validate(document, schema)
    assert [each["event"] for each in documents] == [
        "started",
        *["message"] * (len(STORY) + 1),
        "text",
        "ended",
    ]
    told = [*STORY[:3], piece(""), piece("look."), *STORY[4:]]
    assert [each["message"] for each in documents[1:-2]] == told
    assert documents[-2]["text"] == "no message"
    assert documents[-1] == {
        "schema": "recollect.run/2",
        "event": "ended",
        "session_id": SESSION,
        "code": 0,
        "figures": {
            "turns": 1,
            "replies": 5,
            "tool_calls": 3,
            "tokens": {
                "input": 8,
                "output": 30,
                "cache_read": 0,
                "cache_write_5m": 0,
                "cache_write_1h": 0,
                "web_searches": 0,
            },
            "cost_usd": 0.0123,
            "duration_ms": 1500,
        },
    }


def test_the_stream_can_be_kept(run_recollect: RunRecollect, client: Path, tmp_path: Path) -> None:
    """The file has the client's output, is readable only by its owner, and is never overwritten."""
    kept = tmp_path / "kept.jsonl"
    run_story(run_recollect, client, "count", "--keep", str(kept), script=STORY)
    assert [json.loads(line) for line in kept.read_text().splitlines()] == STORY
    assert kept.stat().st_mode & 0o777 == 0o600
    again = run_story(run_recollect, client, "count", "--keep", str(kept), script=STORY)
    assert again == Finished(2, "", f"recollect: {kept} already exists. Choose another name.\n")


def test_the_exit_code_is_passed_on(run_recollect: RunRecollect, client: Path) -> None:
    """The client's errors are printed safely, and its exit code is ours."""
    script: list[Step] = [["complain", f"no such model {ESCAPE}"], ["exit", 7]]
    done = run_story(run_recollect, client, "count", script=script)
    assert done.code == 7
    assert done.stderr == "claude: no such model ␛]0;owned‹U+0007›‹U+202E›\n"
    assert done.stdout.splitlines()[-2:] == [
        "· claude exited with 7",
        "· 1 turn · 0 replies · 0 tool calls · 0 tokens (0 written)",
    ]


def test_words_that_are_no_json_are_shown(run_recollect: RunRecollect, client: Path) -> None:
    """Lines between messages are printed like lines on stderr."""
    script: list[Step] = [f"npm warn: old version {ESCAPE}", ["exit", 0]]
    done = run_story(run_recollect, client, "count", script=script)
    assert (done.code, done.stderr) == (
        0,
        "claude: npm warn: old version ␛]0;owned‹U+0007›‹U+202E›\n",
    )
    assert "Damaged" not in done.stdout


def test_words_are_passed_on(run_recollect: RunRecollect, client: Path) -> None:
    """Options are passed in the right position; everything after `--` is unchanged."""
    passed_on = ("--allowedTools", "Bash", "-1", "--model")
    options = ("--continue", "--fork", "--model", "opus", "--permission-mode", "plan")
    run_story(run_recollect, client, "count", *options, "--", *passed_on, script=[])
    assert read_call(client)["arguments"] == [
        "--print",
        "--output-format=stream-json",
        "--verbose",
        "--include-partial-messages",
        "--continue",
        "--model=opus",
        "--permission-mode=plan",
        "--fork-session",
        *passed_on,
        "--",
        "count",
    ]


def test_without_the_separator_nothing_is_passed_on(
    run_recollect: RunRecollect, client: Path
) -> None:
    """An unknown option is an error."""
    done = run_story(run_recollect, client, "count", "--dangerously-skip-permissions", script=STORY)
    assert (done.code, done.stdout) == (2, "")
    assert not (client / "called.json").exists()


def test_a_session_is_resumed_in_its_directory(
    run_recollect: RunRecollect, client: Path, tmp_path: Path
) -> None:
    """`--resume` finds it like `show`, and the client runs in its directory, with its data."""
    work = tmp_path / "pond"
    work.mkdir()
    root = ClaudeRoot(tmp_path / "other root")
    root.session(FIRST, prompt("drain the pond", cwd=str(work)))
    options = ("--resume", "-1", "--claude-dir", str(root.path))
    done = run_story(run_recollect, client, "go on", *options, script=[result()])
    called = read_call(client)
    assert (done.code, called["directory"], called["root"]) == (0, str(work), str(root.path))
    assert called["arguments"][4:] == [f"--resume={FIRST}", "--", "go on"]


def test_what_is_piped_in_is_piped_on(run_recollect: RunRecollect, client: Path) -> None:
    """The client reads our standard input."""
    script: list[Step] = [["echo"]]
    done = run_story(run_recollect, client, "count", "--json-lines", script=script, input="a tale")
    texts = [json.loads(line).get("text") for line in done.stdout.splitlines()]
    assert texts == [None, "a tale", None]


def test_a_client_that_is_not_there_is_reported(
    run_recollect: RunRecollect, tmp_path: Path
) -> None:
    """Nothing is started, and no file is created."""
    done = run_recollect("run", "count", "--keep", str(tmp_path / "k"), env={"PATH": str(tmp_path)})
    reason = "recollect: `claude` is not on the PATH. Install Claude Code.\n"
    assert (done, (tmp_path / "k").exists()) == (Finished(3, "", reason), False)


class Running:
    """The program, running with a client that plays a script."""

    def __init__(self, client: Path, script: list[Step], *arguments: str) -> None:
        environment = {**os.environ, "PATH": make_client(client, script), "COLUMNS": "80"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "recollect", "run", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            env=environment,
        )

    def read_until(self, wanted: str) -> list[str]:
        """Return the lines up to one that contains this text."""
        assert self.process.stdout is not None
        lines = []
        for line in self.process.stdout:
            lines.append(line)
            if wanted in line:
                break
        return lines

    def finish(self) -> Finished:
        """Return the exit code and the remaining output."""
        stdout, stderr = self.process.communicate(timeout=60)
        return Finished(self.process.returncode, stdout, stderr)


def wait_for_file(path: Path) -> None:
    """Wait until the file exists."""
    deadline = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def wait_until_gone(pid: int) -> None:
    """Wait until the process has ended."""
    deadline = time.monotonic() + 60
    while is_alive(pid):
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_ends_both(client: Path, number: int) -> None:
    """The client may finish its output, no process is left, and the exit code names the signal."""
    running = Running(client, [init(), text("one", uuid="a"), ["wait", 60]], "count")
    running.read_until("one")
    running.process.send_signal(number)
    done = running.finish()
    assert (done.code, done.stderr) == (128 + number, "")
    assert "· ended: error_during_execution" in done.stdout.splitlines()
    wait_until_gone(int(read_call(client)["pid"]))


@pytest.mark.slow
def test_a_second_interrupt_ends_both_at_once(client: Path) -> None:
    """An unresponsive client is killed immediately."""
    script: list[Step] = [["note", "SIGINT"], text("deaf", uuid="a"), ["until", "never"]]
    running = Running(client, script, "count")
    running.read_until("deaf")
    running.process.send_signal(signal.SIGINT)
    wait_for_file(client / "SIGINT")
    running.process.send_signal(signal.SIGINT)
    # The client would wait forever, `finish` for a minute.
    assert running.finish().code == 130
    wait_until_gone(int(read_call(client)["pid"]))


@pytest.mark.slow
def test_a_reader_that_leaves_ends_the_client(client: Path) -> None:
    """With `| head` no process is left."""
    script: list[Step] = [text("one", uuid="a"), ["until", "left"], *STORY, ["wait", 60]]
    running = Running(client, script, "count")
    running.read_until("one")
    assert running.process.stdout is not None
    running.process.stdout.close()
    (client / "left").touch()
    assert running.process.wait(timeout=60) == 141
    running.process.stderr.close() if running.process.stderr else None
    wait_until_gone(int(read_call(client)["pid"]))


@pytest.mark.slow
def test_partial_text_is_seen_as_it_grows(client: Path) -> None:
    """In a terminal, text is shown while it grows, and once when it is complete."""
    script: list[Step] = [
        init(),
        begin_text(),
        piece("The tide "),
        ["until", "begun"],
        piece("comes **in**. "),
        ["until", "read"],
        text("The tide comes **in**. ", uuid="a"),
        result(),
    ]
    path = make_client(client, script)
    with open_terminal("run", "when?", env={"PATH": path, "TZ": "UTC"}) as terminal:
        terminal.wait_for(lambda lines: "  The tide" in lines)
        (client / "begun").touch()
        terminal.wait_for(lambda lines: "  The tide comes in." in lines)
        assert not any("turn ·" in line for line in terminal.lines)
        (client / "read").touch()
        assert terminal.wait_for_end() == 0
        said = [line for line in terminal.lines if "tide" in line]
    assert said == ["  The tide comes in."]


@pytest.mark.slow
def test_a_long_growing_text_leaves_no_trace(client: Path) -> None:
    """Of text longer than the screen, the last lines are shown; it is printed once at the end."""
    words = [f"line {number}\n\n" for number in range(60)]
    script: list[Step] = [begin_text(), *map(piece, words[:50]), ["until", "begun"]]
    script += [*map(piece, words[50:]), text("".join(words), uuid="a"), result()]
    path = make_client(client, script)
    with open_terminal("run", "go", lines=200, env={"PATH": path}) as terminal:
        terminal.wait_for_text("line 49")
        (client / "begun").touch()
        assert terminal.wait_for_end() == 0
        shown = [line.strip() for line in terminal.lines if line.startswith("  line")]
    assert shown == [word.strip() for word in words]


def test_a_compaction_comes_with_its_summary(run_recollect: RunRecollect, client: Path) -> None:
    """The summary is rendered with its compaction, however late it arrives."""
    metadata = {"trigger": "manual", "pre_tokens": 2000}
    boundary = {"type": "system", "subtype": "compact_boundary", "uuid": "b", "session_id": SESSION}
    words = f"{COMPACTION_MARK} that ran out of context. All went well."
    message = {"role": "user", "content": words}
    script: list[Step] = [
        boundary | {"compact_metadata": metadata},
        ["wait", 0.5],
        {"type": "user", "uuid": "s", "session_id": SESSION, "message": message},
        result(),
    ]
    done = run_story(run_recollect, client, "/compact", script=script)
    drawn = [line.strip("╌ ") for line in done.stdout.splitlines()[5:10] if line]
    assert drawn == [
        "The conversation was compacted · by command · 2,000 tokens",
        "│ This session is being continued from a previous conversation that ran out of",
        "│ context. All went well.",
    ]


def test_words_that_were_cut_off_are_kept(run_recollect: RunRecollect, client: Path) -> None:
    """Text that was incomplete when the client ended is shown and marked as such."""
    script: list[Step] = [begin_text(), piece("The tide"), ["exit", 1]]
    done = run_story(run_recollect, client, "when?", script=script)
    assert done.stdout.splitlines()[4:8] == [
        "  The tide",
        "· interrupted here",
        "",
        "· claude exited with 1",
    ]


@pytest.mark.parametrize("width", WIDTHS)
def test_runs_look_as_they_are_meant_to(
    run_recollect: RunRecollect, client: Path, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    """Prompt, text and figures fit the width, whenever they arrive."""
    retry = {"type": "system", "subtype": "api_retry", "attempt": 1, "max_retries": 10}
    words = "The lines of the **README** are counted:\n\n- seven are there\n- none is empty"
    script: list[Step] = [
        init(),
        {**retry, "session_id": SESSION, "error_status": 529, "error": "overloaded"},
        text("Let me look at the file that you mean, and at nothing else than that.", uuid="a"),
        text(words, uuid="b", message="msg_2"),
        result(),
    ]
    monkeypatch.setenv("PATH", make_client(client, script))
    done = run_at(run_recollect, width, "run", "How many lines does the README have? Count them.")
    assert (done.code, done.stderr) == (0, "")
    check_golden(GOLDEN / f"run-{width}.txt", done.stdout)
    assert [line for line in done.stdout.splitlines() if measure(line) > width] == []


def test_documents_have_an_example(run_recollect: RunRecollect, client: Path) -> None:
    """The JSON lines equal the golden file."""
    done = run_story(run_recollect, client, "count", "--json-lines", script=[text("7", uuid="a")])
    lines = done.stdout.splitlines()
    first: dict[str, Any] = json.loads(lines[0])
    pid = first.pop("pid")
    assert pid == read_call(client)["pid"]
    check_golden(GOLDEN / "run.json", "\n".join([json.dumps(first), *lines[1:]]) + "\n")
