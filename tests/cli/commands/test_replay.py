"""`recollect replay` as a person uses it."""

import json
import time
from pathlib import Path

import pytest

from recollect.render.terminal import measure
from tests.cli.demo_home import GOLDEN, WIDTHS, make_demo_home, run_at
from tests.golden import check_golden
from tests.launch.fake_client import answer, begin_text, call, init, piece, result, text
from tests.library.claude_root import FIRST, ClaudeRoot, encode, prompt, reply
from tests.process import Finished, RunRecollect
from tests.terminal import open_terminal

AGENT = "toolu_b"


def write_stream(path: Path) -> Path:
    """A stream with a call, a subagent and some pieces."""
    started = {"description": "Count", "subagent_type": "Explore"}
    lines = [
        init(),
        begin_text(),
        piece("Let me "),
        piece("look."),
        text("Let me look.", uuid="a") | {"timestamp": "2026-11-13T12:00:01Z"},
        call("Agent", started, uuid="b") | {"timestamp": "2026-11-13T12:00:02Z"},
        call("Bash", {"command": "wc -l README.md"}, uuid="c", agent=AGENT)
        | {"timestamp": "2026-11-13T12:00:03Z"},
        answer("7 README.md", to="c", agent=AGENT) | {"timestamp": "2026-11-13T12:00:04Z"},
        answer("seven lines", to="b") | {"timestamp": "2026-11-13T12:00:05Z"},
        text("It has **seven** lines.", uuid="d", message="msg_2")
        | {"timestamp": "2026-11-13T12:00:06Z"},
        result(),
    ]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


@pytest.mark.parametrize("width", WIDTHS)
def test_sessions_look_as_they_are_meant_to(run_recollect: RunRecollect, width: int) -> None:
    """A session with a subagent is shown in chronological order, within the width."""
    make_demo_home()
    done = run_at(run_recollect, width, "replay", "7aa5fa93", "--instant")
    assert (done.code, done.stderr) == (0, "")
    check_golden(GOLDEN / f"replay-{width}.txt", done.stdout)
    assert [line for line in done.stdout.splitlines() if measure(line) > width] == []


@pytest.mark.parametrize("width", WIDTHS)
def test_streams_look_as_they_are_meant_to(
    run_recollect: RunRecollect, tmp_path: Path, width: int
) -> None:
    """A saved stream is shown as `run` showed it, with its figures."""
    path = write_stream(tmp_path / "kept.txt")
    done = run_at(run_recollect, width, "replay", str(path), "--instant")
    assert (done.code, done.stderr) == (0, "")
    check_golden(GOLDEN / f"replay-stream-{width}.txt", done.stdout)
    assert [line for line in done.stdout.splitlines() if measure(line) > width] == []


@pytest.mark.slow
def test_a_chosen_speed_is_kept(run_recollect: RunRecollect, tmp_path: Path) -> None:
    """Four seconds at speed 2 take two, with the same output as without pauses."""
    path = ClaudeRoot(tmp_path).session(
        FIRST, prompt("one", uuid="a"), reply("two", uuid="b", seconds=4)
    )
    start = time.monotonic()
    played = run_at(run_recollect, 80, "replay", str(path), "--speed", "2")
    assert time.monotonic() - start >= 2
    # A turn is headed before its figures are known, where there is time in between.
    told = [line for line in played.stdout.splitlines() if not line.startswith("──")]
    instant = run_at(run_recollect, 80, "replay", str(path), "--instant").stdout.splitlines()
    assert told == [line for line in instant if not line.startswith("──")]


def test_all_of_a_long_session_is_played(run_recollect: RunRecollect, tmp_path: Path) -> None:
    """No turn is skipped, however many there are."""
    lines = [prompt(f"question {number}", uuid=f"q{number}") for number in range(300)]
    path = tmp_path / f"{FIRST}.jsonl"
    path.write_bytes(encode(lines))
    done = run_at(run_recollect, 80, "replay", str(path), "--instant")
    asked = [line for line in done.stdout.splitlines() if line.startswith("▌")]
    assert asked == [f"▌ question {number}" for number in range(300)]


@pytest.mark.slow
def test_words_grow_on_a_terminal(tmp_path: Path) -> None:
    """Partial text is shown before the complete block."""
    path = tmp_path / "s.jsonl"
    lines = [begin_text(), *(piece(f"word{number} ") for number in range(100))]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    with open_terminal("replay", str(path)) as terminal:
        terminal.wait_for_text("word3")
        assert not any("word99" in line for line in terminal.lines)
        terminal.wait_for_text("word99")


def test_speeds_exclude_each_other(run_recollect: RunRecollect) -> None:
    """--speed and --instant cannot be combined."""
    done = run_recollect("replay", "x", "--speed", "2", "--instant")
    reason = "recollect: Use only one of --speed and --instant.\n"
    assert done == Finished(2, "", reason)


def test_a_file_that_is_not_there_is_reported(run_recollect: RunRecollect) -> None:
    """The name of no file and no session is an error."""
    make_demo_home()
    done = run_recollect("replay", "nowhere.jsonl", "--instant")
    assert (done.code, done.stdout) == (3, "")
