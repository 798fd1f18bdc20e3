"""`recollect follow`, used interactively and in scripts."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recollect.cli.follow_actions import make_environment, make_notification
from recollect.documents.events import EventDocument
from recollect.live.triggers import FiredTrigger
from tests.library.claude_root import (
    FIRST,
    PROJECT,
    SECOND,
    ClaudeRoot,
    at,
    call,
    encode,
    prompt,
    reply,
    result,
)
from tests.process import RunRecollect

ESCAPE = "\x1b]0;owned\x07\u202e"
PATIENCE = 60


@pytest.fixture
def root(tmp_path: Path) -> ClaudeRoot:
    """A Claude directory with a session whose client has ended."""
    root = ClaudeRoot(tmp_path / "claude")
    done = {"type": "cost-state", "sessionId": FIRST}
    root.session(
        FIRST,
        prompt("first question", uuid="u1"),
        reply("first answer", uuid="a1"),
        prompt(f"list {ESCAPE}", uuid="u2"),
        call("Bash", {"command": "ls"}, uuid="c1"),
        result("a\nb", uuid="r1"),
        reply("two files", uuid="a2"),
        done,
    )
    return root


class Follower:
    """The program, running."""

    def __init__(self, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "recollect", "follow", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            env={**os.environ, "COLUMNS": "80"},
        )
        assert self.process.stdout is not None
        self._lines = iter(self.process.stdout)
        self._watchdog = threading.Timer(PATIENCE, self.process.kill)
        self._watchdog.start()

    def read_until(self, wanted: str) -> list[str]:
        """Return the lines up to one that contains this text."""
        lines = []
        for line in self._lines:
            lines.append(line.rstrip("\n"))
            if wanted in line:
                break
        return lines

    def read_events(self, last: str) -> list[dict[str, Any]]:
        """Return the events up to one of this kind."""
        return [json.loads(line) for line in self.read_until(f'"event": "{last}"')]

    def end(self) -> None:
        """Kill it."""
        self._watchdog.cancel()
        self.process.kill()
        self.process.communicate()

    def interrupt(self) -> tuple[int, str, str]:
        """Press Ctrl+C; return the exit code and the remaining output."""
        self.process.send_signal(signal.SIGINT)
        stdout, stderr = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, stdout, stderr


@pytest.fixture
def followers(safe_environment: None) -> Iterator[list[Follower]]:
    """Start programs that are killed at the end of the test."""
    started: list[Follower] = []
    yield started
    for follower in started:
        follower.end()


def append(root: ClaudeRoot, name: str, data: bytes) -> None:
    """Append to a file below the project's directory."""
    path = root.path / "projects" / PROJECT / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.write(data)


SHOWN = """\

── 2  2026-03-01 06:00 ──────────────────────────────────── m · 3.0 s · 4 tokens ─
▌ list ␛]0;owned‹U+0007›‹U+202E›

● Bash  ls  ✓ 2 lines · 1.0 s

  two files
· ended: the client wrote its final totals and no client has it open
"""


def test_a_session_that_has_ended_is_shown_and_left(
    run_recollect: RunRecollect, root: ClaudeRoot
) -> None:
    """The last turn is rendered as by `show`, safe for a terminal, and the exit code is 0."""
    done = run_recollect(
        "follow", FIRST, "--claude-dir", str(root.path), "--until", "end", env={"TZ": "UTC"}
    )
    assert (done.code, done.stderr) == (0, "")
    lines = [line for line in done.stdout.splitlines() if not line.startswith("──")]
    expected = [line for line in SHOWN.splitlines() if not line.startswith("──")]
    assert lines == expected


def test_more_turns_or_none(run_recollect: RunRecollect, root: ClaudeRoot) -> None:
    """`--turns` is the number of turns to show first."""
    arguments = ("follow", FIRST, "--claude-dir", str(root.path), "--until", "idle", "--turns")
    both, none = run_recollect(*arguments, "2"), run_recollect(*arguments, "0")
    assert [line for line in both.stdout.splitlines() if line.startswith("▌")] == [
        "▌ first question",
        "▌ list ␛]0;owned‹U+0007›‹U+202E›",
    ]
    assert none.stdout.splitlines() == SHOWN.splitlines()[-1:]


@pytest.fixture
def long_root(tmp_path: Path) -> ClaudeRoot:
    """A Claude directory with an ended session of thirty turns, the last with a subagent."""
    root = ClaudeRoot(tmp_path / "claude")
    turns = (_make_turn(number) for number in range(1, 31))
    lines = [line for turn in turns for line in turn]
    root.session(FIRST, *lines, {"type": "cost-state", "sessionId": FIRST})
    agent = [
        reply(f"agent at {number}", uuid=f"s{number}", seconds=10 * number + 5, isSidechain=True)
        for number in (27, 28, 29)
    ]
    append(root, f"{FIRST}/subagents/agent-abc.jsonl", encode(agent))
    return root


def _make_turn(number: int) -> list[dict[str, object]]:
    """A prompt, a call, its result and a reply."""
    start, call_id = 10 * number, f"t{number}"
    moments = [{"timestamp": at(start + each)} for each in range(4)]
    ran = call("Bash", {"command": f"run {number}"}, call_id=call_id, uuid=f"c{number}")
    return [
        {**prompt(f"question {number}", uuid=f"u{number}"), **moments[0]},
        {**ran, **moments[1]},
        {**result(f"out {number}", call_id=call_id, uuid=f"r{number}"), **moments[2]},
        {**reply(f"answer {number}", uuid=f"a{number}"), **moments[3]},
    ]


def _list_shown(output: str) -> list[str]:
    """Return the number of each turn, and every prompt, call and reply in the output."""
    starts = ("── ", "▌ ", "● ", "  answer", "  ┃   agent")
    lines = [line for line in output.splitlines() if line.startswith(starts)]
    return [" ".join(line.split()[:3]) for line in lines if "agent abc" not in line]


LAST_TURN = ["── 30 2026-03-01", "▌ question 30", "● Bash run", "answer 30"]


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        (":30", LAST_TURN),
        (":-1", LAST_TURN),
        ("#turn-30", LAST_TURN),
        ("#a30", ["── 30 2026-03-01", "▌ question 30", "answer 30"]),
        ("#r30", LAST_TURN),
    ],
)
def test_output_begins_at_a_place(
    run_recollect: RunRecollect, long_root: ClaudeRoot, place: str, expected: list[str]
) -> None:
    """At the given turn or record; a record within a turn is shown below its prompt."""
    arguments = ("--claude-dir", str(long_root.path), "--until", "end")
    done = run_recollect("follow", FIRST + place, *arguments, env={"TZ": "UTC"})
    assert (done.code, done.stderr, _list_shown(done.stdout)) == (0, "", expected)


def test_output_from_an_early_place_is_complete(
    run_recollect: RunRecollect, long_root: ClaudeRoot
) -> None:
    """With any number of turns after it, and what subagents wrote since."""
    arguments = ("--claude-dir", str(long_root.path), "--until", "end")
    address = f"http://127.0.0.1:8420/s/{FIRST}#a3"
    done = run_recollect("follow", address, *arguments, env={"TZ": "UTC"})
    shown = _list_shown(done.stdout)
    assert [line for line in shown if line.startswith(("▌", "answer"))] == [
        f"{words} {number}" for number in range(3, 31) for words in (("▌ question", "answer"))
    ]
    assert [line.split()[1] for line in shown if line.startswith("──")] == [
        str(number) for number in range(3, 31)
    ]
    late = run_recollect("follow", f"{FIRST}:28", *arguments, env={"TZ": "UTC"}).stdout
    assert [line for line in late.splitlines() if "agent at" in line] == [
        "  ┃   agent at 28",
        "  ┃   agent at 29",
    ]


def test_a_place_that_is_not_there(run_recollect: RunRecollect, root: ClaudeRoot) -> None:
    """The exit code is 3, and the message has the number of turns."""
    for more in ((), ("--json-lines",)):
        done = run_recollect("follow", f"{FIRST}:9", "--claude-dir", str(root.path), *more)
        assert (done.code, done.stdout) == (3, "")
        assert done.stderr == "recollect: No turn 9: this session has 2 turns.\n"


def test_what_is_written_after_a_place_follows(root: ClaudeRoot, followers: list[Follower]) -> None:
    """Text continues live; JSON Lines have the records from the place on, then new ones."""
    place = (f"{FIRST}#c1", "--claude-dir", str(root.path))
    drawn, written = Follower(*place), Follower(*place, "--json-lines")
    followers += [drawn, written]
    drawn.read_until("ended")
    first = written.read_events("ended")
    assert [event["event"] for event in first] == [
        "found", "watching", *["appended"] * 4, "caught_up", "status", "ended",
    ]  # fmt: skip
    records = [event.get("uuid") for event in first if event["event"] == "appended"]
    assert records == ["c1", "r1", "a2", None]
    append(root, f"{FIRST}.jsonl", encode([prompt("go on", uuid="u3")]))
    assert drawn.read_until("go on")[-1] == "▌ go on"
    assert written.read_events("appended")[-1]["uuid"] == "u3"
    again = Follower(FIRST, *place[1:], "--json-lines", "--after", first[3]["id"])
    followers.append(again)
    told = [event for event in again.read_events("caught_up") if event["event"] == "appended"]
    assert [event.get("uuid") for event in told] == ["a2", None, "u3"]


def test_a_growing_session_is_drawn_as_it_grows(
    root: ClaudeRoot, followers: list[Follower]
) -> None:
    """A call is shown before its result, then the result, then a subagent; Ctrl+C is quiet."""
    follower = Follower(FIRST, "--claude-dir", str(root.path), "--turns", "0")
    followers.append(follower)
    follower.read_until("ended")
    wanted = call("Bash", {"command": "make test"}, call_id="t9", uuid="c9")
    append(root, f"{FIRST}.jsonl", encode([prompt("go on", uuid="u3"), wanted]))
    drawn = follower.read_until("make test")
    assert [line for line in drawn if line.startswith(("▌", "●"))] == [
        "▌ go on",
        "● Bash  make test  … no result yet",
    ]
    append(root, f"{FIRST}.jsonl", encode([result("ok", call_id="t9", uuid="r9")]))
    assert follower.read_until("make test")[-1].startswith("● Bash  make test  ✓")
    said = reply("hello from below", uuid="s1", isSidechain=True)
    append(root, f"{FIRST}/subagents/agent-abc.jsonl", encode([said]))
    assert follower.read_until("hello")[-1] == "  ┃   hello from below"
    assert follower.interrupt() == (130, "", "")


def test_json_lines_are_the_documented_events(root: ClaudeRoot, followers: list[Follower]) -> None:
    """One event per line, with the original record, and ids to resume after."""
    arguments = (FIRST, "--claude-dir", str(root.path), "--json-lines")
    follower = Follower(*arguments)
    followers.append(follower)
    events = follower.read_events("ended")
    assert [event["event"] for event in events] == [
        "found", "watching", *["appended"] * 7, "caught_up", "status", "ended",
    ]  # fmt: skip
    known = set(EventDocument.__struct_fields__)
    assert [set(event) - known for event in events] == [set()] * len(events)
    assert {event["schema"] for event in events} == {"recollect.event/2"}
    records = [event["record"] for event in events if event["event"] == "appended"]
    path = root.path / "projects" / PROJECT / f"{FIRST}.jsonl"
    assert records == [json.loads(line) for line in path.read_bytes().splitlines()]
    assert follower.interrupt()[0] == 130
    again = Follower(*arguments, "--after", events[6]["id"])
    followers.append(again)
    told = [event for event in again.read_events("ended") if event["event"] == "appended"]
    assert [event["id"] for event in told] == [event["id"] for event in events[7:9]]
    assert again.interrupt()[0] == 130


def test_all_sessions(root: ClaudeRoot, followers: list[Follower]) -> None:
    """Only new sessions are reported, in any project; polling is announced."""
    follower = Follower("--all", "--poll", "--claude-dir", str(root.path), "--json-lines")
    followers.append(follower)
    assert [event["event"] for event in follower.read_events("caught_up")] == [
        "watching",
        "caught_up",
    ]
    append(root, f"../-other/{SECOND}.jsonl", encode([prompt("new", uuid="n1")]))
    events = follower.read_events("appended")
    assert [(event["event"], event["session_id"], event["project"]) for event in events] == [
        ("found", SECOND, "-other"),
        ("appended", SECOND, "-other"),
    ]
    assert follower.interrupt()[0] == 130


def test_a_program_is_run_with_its_own_arguments(
    root: ClaudeRoot, followers: list[Follower], tmp_path: Path
) -> None:
    """No shell is involved, options after `--run` are for the program, and it gets the session."""
    out = tmp_path / "out.json"
    code = (
        "import json, os, pathlib, sys;"
        "pathlib.Path(sys.argv[1]).write_text(json.dumps([sys.argv[2:], "
        "{k: v for k, v in os.environ.items() if k.startswith('RECOLLECT_T') or "
        "k == 'RECOLLECT_SESSION'}]))"
    )
    follower = Follower(
        FIRST, "--claude-dir", str(root.path), "--json-lines", "--on", "is:error boom",
        "--run", sys.executable, "-c", code, str(out), "$(id) && --all", "--on",
    )  # fmt: skip
    followers.append(follower)
    follower.read_events("ended")
    block = {
        "type": "tool_result",
        "tool_use_id": "t",
        "content": f"boom {ESCAPE}\nx",
        "is_error": 1,
    }
    block["is_error"] = True
    failed = {"type": "user", "uuid": "f", "message": {"role": "user", "content": [block]}}
    append(root, f"{FIRST}.jsonl", encode([failed]))
    follower.read_events("appended")
    deadline = time.monotonic() + PATIENCE
    while not (out.exists() and out.read_text()) and time.monotonic() < deadline:
        time.sleep(0.05)
    arguments, environment = json.loads(out.read_text())
    transcript = root.path / "projects" / PROJECT / f"{FIRST}.jsonl"
    assert arguments == ["$(id) && --all", "--on"]
    assert environment == {
        "RECOLLECT_SESSION": FIRST,
        "RECOLLECT_TRIGGER": "is:error boom",
        "RECOLLECT_TEXT": "boom ␛]0;owned‹U+0007›‹U+202E› x",
        "RECOLLECT_TRANSCRIPT": str(transcript),
    }
    assert follower.interrupt()[0] == 130


HOSTILE = FiredTrigger(
    trigger="error",
    session_id=FIRST,
    text=f"<b>--flag</b> {ESCAPE}\n$(id) {'x' * 5000}",
)


def test_a_note_cannot_be_more_than_text() -> None:
    """Markup, options, scripts and escape sequences stay plain text."""
    title, body = make_notification("/usr/bin/notify-send", HOSTILE)[-2:]
    assert title == "Recollect: error in session 11111111"
    assert body.startswith("&lt;b&gt;--flag&lt;/b&gt; ␛]0;owned‹U+0007›‹U+202E› $(id) xxx")
    assert len(body) < 250
    assert make_notification("/usr/bin/notify-send", HOSTILE)[1:3] == ("--app-name=Recollect", "--")
    script = make_notification("/usr/bin/osascript", HOSTILE)
    assert script[1:7] == (
        "-e", "on run argv",
        "-e", "display notification (item 2 of argv) with title (item 1 of argv)",
        "-e", "end run",
    )  # fmt: skip
    assert script[7] == title


def test_the_environment_of_a_program_is_safe() -> None:
    """No value contains a line end, a NUL byte or a control character."""
    fired = FiredTrigger(trigger="x", session_id="a\0b", path="p\0q", text="l1\nl2\x1b[2J")
    made = make_environment(fired)
    told = [made[f"RECOLLECT_{name}"] for name in ("SESSION", "TRANSCRIPT", "TEXT", "AGENT")]
    assert told == ["a‹U+0000›b", "pq", "l1 l2␛[2J", ""]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("x", "--all"), "Use only one of SESSION, --project and --all"),
        (("--all", "--project", "x"), "Use only one of SESSION, --project and --all"),
        (("--all", "--on", "error"), "Use --on together with --notify or --run"),
        (("--all", "--run", "true"), "Use --on together with --notify or --run"),
        (("--all", "--on", "error", "--run"), "requires an argument"),
        (("--all", "--on", "cost:x", "--run", "true"), "Write it as cost:5.00"),
        (("--all", "--on", "error", "--run", "no-such-program"), "Program not found"),
        (("--all", "--after", "x"), "This is not a position"),
        ((f"{FIRST}:2", "--turns", "2"), "cannot be used with a place in a session"),
        ((f"{FIRST}#a1", "--after", "x"), "cannot be used with a place in a session"),
        (("--all", "--on", "error", "--notify"), "--notify needs notify-send or osascript"),
    ],
)
def test_wrong_requests_are_refused_with_words(
    run_recollect: RunRecollect, root: ClaudeRoot, arguments: tuple[str, ...], message: str
) -> None:
    """The exit code is 2, and the message says what to do."""
    done = run_recollect(
        "follow", "--claude-dir", str(root.path), *arguments, env={"PATH": "/nonexistent"}
    )
    assert (done.code, message in done.stderr, done.stdout) == (2, True, "")


def test_a_session_that_is_not_there(run_recollect: RunRecollect, root: ClaudeRoot) -> None:
    """The exit code is 3, as in all commands."""
    assert run_recollect("follow", "nonsense", "--claude-dir", str(root.path)).code == 3
