"""`recollect chat` in a real terminal, with a client that talks but asks no model."""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect import encode_project_path
from tests.golden import check_golden
from tests.launch.conversing import install_client, is_running, list_responses, read_lines
from tests.launch.fake_client import needs_posix
from tests.process import run_recollect
from tests.terminal import Terminal, open_terminal

pytestmark = needs_posix

GOLDEN = Path(__file__).parent.parent / "golden"
CTRL_C, CTRL_D, TAB = "\x03", "\x04", "\t"


def make_environment(tmp_path: Path) -> dict[str, str]:
    """Return the environment of a user with the fake client as `claude`."""
    install_client(tmp_path / "bin")
    (tmp_path / "claude" / "projects").mkdir(parents=True)
    return {
        "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "CLAUDE_CONFIG_DIR": str(tmp_path / "claude"),
        "RECOLLECT_DATA_DIR": str(tmp_path / "data"),
        "NO_COLOR": "1",
        "TZ": "UTC",
    }


@pytest.fixture
def chat(tmp_path: Path, safe_environment: None) -> Iterator[Terminal]:
    """A conversation that waits for its first prompt, in a project with two files."""
    work = tmp_path / "work"
    (work / "src").mkdir(parents=True)
    (work / "src" / "tide.py").write_text("high = 1\n")
    (work / "secret.log").write_text("")
    (work / ".gitignore").write_text("*.log\n")
    subprocess.run(["git", "init", "-q"], cwd=work, check=True)
    environment = make_environment(tmp_path)
    with open_terminal("chat", columns=100, lines=30, env=environment, cwd=work) as terminal:
        terminal.wait_for_text("idle")
        yield terminal


def test_prompts_are_answered_and_the_end_says_how_to_go_on(chat: Terminal, tmp_path: Path) -> None:
    """A turn looks as in `show`; Ctrl+D ends the client and prints how to resume."""
    chat.send("say hello dear world\r")
    chat.wait_for_text("$0.01")
    chat.wait_for_text("  hello dear world")
    chat.send(CTRL_D)
    assert chat.wait_for_end() == 0
    lines = chat.lines
    (called,) = read_lines(tmp_path, "called.jsonl")
    session = called["arguments"][-1].removeprefix("--session-id=")
    assert any(f"continue with: recollect chat {session}" in line for line in lines)
    assert any("1 turn · 1 reply" in line for line in lines)
    assert not is_running(called["pid"])


def test_a_prompt_may_have_several_lines(chat: Terminal, tmp_path: Path) -> None:
    """Ctrl+J starts a new line, Enter sends them all."""
    chat.send("say one\ntwo\r")
    chat.wait_for_text("$0.01")
    prompts = [each for each in read_lines(tmp_path, "received.jsonl") if each["type"] == "user"]
    assert [each["message"]["content"] for each in prompts] == ["say one\ntwo"]


def test_a_question_waits_for_one_of_its_answers(chat: Terminal, tmp_path: Path) -> None:
    """The command is shown; Enter alone and other words do not answer, `y` does."""
    chat.send("tools hi\r")
    lines = chat.wait_for_text("Allow?  y yes  a always  e edit  n no [why]  s stop")
    assert any("echo hi" in line for line in lines)
    assert any("a1 always: Bash(echo hi) (in this project, for you)" in line for line in lines)
    words = [re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "2026-11-13 12:00", line) for line in lines]
    check_golden(GOLDEN / "chat.txt", "\n".join(words) + "\n")
    chat.send("\r")
    chat.send("perhaps\r")
    chat.wait_for(lambda found: sum("Allow?" in line for line in found) > 1)
    assert list_responses(tmp_path) == []
    chat.send("y\r")
    chat.wait_for_text("Done.")
    (response,) = list_responses(tmp_path)
    assert response["response"] == {"behavior": "allow", "updatedInput": {"command": "echo hi"}}


def test_a_command_is_edited_or_denied_with_words(chat: Terminal, tmp_path: Path) -> None:
    """`e` offers the command for editing, `n` denies it with a reason."""
    chat.send("tools hi ho\r")
    chat.wait_for_text("Allow?")
    chat.send("e\r")
    chat.wait_for_text("> e echo hi")
    chat.send("gh\r")
    chat.wait_for(lambda lines: any("echo ho" in line for line in lines))
    chat.wait_for_text("Allow?")
    chat.send("n not that\r")
    chat.wait_for_text("Done.")
    first, second = (each["response"] for each in list_responses(tmp_path))
    assert first["updatedInput"] == {"command": "echo high"}
    assert second == {"behavior": "deny", "message": "not that", "interrupt": False}


def test_what_was_being_typed_is_no_answer(chat: Terminal, tmp_path: Path) -> None:
    """A question sets the draft aside, and restores it when it is answered."""
    chat.send("nap 1\r")
    chat.wait_for_text("working")
    chat.send("tools hi\r")
    chat.wait_for_text("queued")
    chat.send("my next thought, read")
    chat.wait_for_text("Allow?")
    assert not any("my next thought" in line for line in chat.lines)
    chat.send("y\r")
    chat.wait_for_text("> my next thought, read")
    chat.wait_for_text("Done.")


def test_a_question_gives_the_draft_back_once(chat: Terminal, tmp_path: Path) -> None:
    """A question withdrawn by Ctrl+C restores the draft, which is then sent once."""
    chat.send("nap 1\r")
    chat.wait_for_text("working")
    chat.send("tools hi\r")
    chat.wait_for_text("queued")
    chat.send("say thanks")
    chat.wait_for_text("Allow?")
    chat.send(CTRL_C)
    chat.wait_for_text("> say thanks")
    chat.wait_for_text("idle")
    chat.send("\r")
    chat.wait_for_text("  thanks")
    chat.send("next")
    chat.wait_for_text("> next")
    prompts = [each for each in read_lines(tmp_path, "received.jsonl") if each["type"] == "user"]
    contents = [each["message"]["content"] for each in prompts]
    assert contents == ["nap 1", "tools hi", "say thanks"]


def test_ctrl_c_interrupts_the_client_and_then_clears_the_input(chat: Terminal) -> None:
    """The conversation continues after an interrupt; only Ctrl+D and /exit end it."""
    chat.send("slow word \r")
    chat.wait_for_text("word word")
    chat.send(CTRL_C)
    chat.wait_for_text("Request interrupted by user")
    chat.wait_for_text("idle")
    chat.send("half a thought" + CTRL_C)
    chat.wait_for(lambda lines: not any("half a thought" in line for line in lines))
    chat.send(CTRL_C)
    chat.wait_for_text("Ctrl+D or /exit ends the conversation.")
    chat.send("/exit\r")
    assert chat.wait_for_end() == 0


def test_lines_fit_a_window_that_was_resized(chat: Terminal) -> None:
    """A rule is as wide as the window is when it is printed."""
    chat.send("say one\r")
    chat.wait_for_text("$0.01")
    chat.resize(60, 30)
    chat.send("say two\r")
    chat.wait_for_text("$0.02")
    chat.wait_for_text("  two")
    assert [len(line) for line in chat.lines if line.startswith("── 2")] == [60]
    assert [line for line in chat.lines if set(line) == {"─"}] == []


def test_files_and_commands_are_completed(chat: Terminal, tmp_path: Path) -> None:
    """Files that git ignores are left out; commands are the client's and our own."""
    chat.send("say @")
    lines = chat.wait_for_text("src/tide.py")
    assert not any("secret.log" in line for line in lines)
    chat.send("tid")
    chat.press_until(TAB, lambda found: any("> say @src/tide.py" in line for line in found))
    chat.send(CTRL_C + "/co")
    chat.wait_for_text("/compact [focus]")
    chat.wait_for_text("Show how full the context is")


def test_model_mode_and_context_are_at_hand(chat: Terminal) -> None:
    """Our own commands change the running client, and errors are printed."""
    chat.send("/mode plan\r")
    chat.wait_for_text("plan")
    chat.send("/model claude-other-2\r")
    chat.wait_for_text("claude-other-2")
    chat.send("/effort high\r")
    chat.wait_for_text("Effort: high")
    chat.send("/effort default\r")
    chat.wait_for_text("Effort: default")
    chat.send("/context\r")
    chat.wait_for_text("1,200 tokens of 200,000")
    chat.send("/mode bypassPermissions\r")
    chat.wait_for_text("has to be allowed when the conversation is started")


def test_questions_of_the_model_are_answered_by_number(chat: Terminal, tmp_path: Path) -> None:
    """A number selects a choice; /skip leaves the question unanswered."""
    chat.send("ask\r")
    lines = chat.wait_for_text("Your answer: a number, or your own words")
    assert any("1 Blue: like the sea" in line for line in lines)
    chat.send("1\r")
    chat.wait_for_text("Thanks.")
    chat.send("plan\r")
    chat.wait_for_text("Approve the plan?")
    chat.send("n look twice\r")
    chat.wait_for_text("Planned.")
    first, second = (each["response"] for each in list_responses(tmp_path))
    assert first["updatedInput"]["answers"] == {"Which colour?": "Blue"}
    assert second["message"] == "look twice"


def test_a_client_that_dies_is_reported_and_replaced(chat: Terminal, tmp_path: Path) -> None:
    """The next prompt continues in another client."""
    chat.send("die 7\r")
    chat.wait_for_text("claude exited with code 7; the next prompt restarts it")
    chat.send("say again\r")
    # The prompt itself may be on the screen twice: lines alone do not tell the reply.
    chat.wait_for(
        lambda lines: (
            sum("again" in line for line in lines) > 1
            and len(read_lines(tmp_path, "called.jsonl")) == 2
        )
    )


def test_a_session_is_continued_after_its_last_turn(tmp_path: Path, safe_environment: None) -> None:
    """The last turn is shown, and the client resumes the session in its own directory."""
    environment = make_environment(tmp_path)
    work = tmp_path / "work"
    work.mkdir()
    session = "5e551011-0000-4000-8000-000000000001"
    project = tmp_path / "claude" / "projects" / encode_project_path(str(work))
    project.mkdir(parents=True)
    record = {
        "type": "user",
        "uuid": "u1",
        "parentUuid": None,
        "sessionId": session,
        "cwd": str(work),
        "timestamp": "2026-11-13T12:00:00.000Z",
        "message": {"role": "user", "content": "how high is the tide?"},
    }
    (project / f"{session}.jsonl").write_text(json.dumps(record) + "\n")
    with open_terminal("chat", session, env=environment, cwd=tmp_path) as chat:
        lines = chat.wait_for_text("idle")
        assert any("how high is the tide?" in line for line in lines)
        chat.send("/exit\r")
        assert chat.wait_for_end() == 0
    (called,) = read_lines(tmp_path, "called.jsonl")
    assert f"--resume={session}" in called["arguments"]
    assert called["directory"] == str(work)


def test_it_needs_a_terminal(tmp_path: Path) -> None:
    """In a pipe it exits with an error that says what to use instead."""
    done = run_recollect("chat", env=make_environment(tmp_path))
    assert done.code == 2
    assert "recollect chat needs a terminal. Use `recollect run` in scripts." in done.stderr
