"""`recollect run --ask` in a real terminal, with a client that talks but asks no model."""

from pathlib import Path

import pytest

from tests.cli.chat.test_chat_screen import CTRL_C, make_environment
from tests.launch.conversing import is_running, list_responses, read_lines
from tests.launch.fake_client import needs_posix
from tests.process import run_recollect
from tests.terminal import open_terminal

pytestmark = needs_posix


def test_a_run_asks_and_ends_with_the_turn(tmp_path: Path, safe_environment: None) -> None:
    """The question shows the command; the answer is sent, and the run ends with a summary."""
    environment = make_environment(tmp_path)
    with open_terminal(
        "run", "tools hi", "--ask", columns=100, env=environment, cwd=tmp_path
    ) as terminal:
        lines = terminal.wait_for_text("Allow?  y yes")
        assert any("echo hi" in line for line in lines)
        terminal.send("\r")
        terminal.send("y\r")
        assert terminal.wait_for_end() == 0
        assert any("1 turn · 2 replies" in line for line in terminal.lines)
    (response,) = list_responses(tmp_path)
    assert response["response"] == {"behavior": "allow", "updatedInput": {"command": "echo hi"}}
    (called,) = read_lines(tmp_path, "called.jsonl")
    assert not is_running(called["pid"])


def test_ctrl_c_at_a_question_stops_the_turn(tmp_path: Path, safe_environment: None) -> None:
    """It denies the tool and interrupts; nothing was allowed."""
    environment = make_environment(tmp_path)
    with open_terminal("run", "tools hi", "--ask", env=environment, cwd=tmp_path) as terminal:
        terminal.wait_for_text("Allow?")
        terminal.send(CTRL_C)
        terminal.wait_for_end()
    (response,) = list_responses(tmp_path)
    assert (response["response"]["behavior"], response["response"]["interrupt"]) == ("deny", True)


@pytest.mark.parametrize("option", ["--json-lines", "--continue"])
def test_questions_need_a_terminal(tmp_path: Path, option: str, safe_environment: None) -> None:
    """In a pipe nobody could answer; stream options cannot be combined with questions."""
    environment = make_environment(tmp_path)
    done = run_recollect("run", "say hello", "--ask", env=environment)
    assert (done.code, done.stdout) == (2, "")
    assert "--ask needs a terminal" in done.stderr
    with open_terminal(
        "run", "say hello", "--ask", option, env=environment, cwd=tmp_path
    ) as terminal:
        assert terminal.wait_for_end() == 2
        assert any(f"{option} cannot be used with --ask" in line for line in terminal.lines)
