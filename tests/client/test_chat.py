"""`recollect chat` in a terminal, with the real client."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.client.client_sandbox import SWITCHES
from tests.client.test_conversations import CONVERSING, make_sandbox
from tests.terminal import open_terminal

pytestmark = pytest.mark.client

CTRL_D = "\x04"


@pytest.mark.parametrize("version", CONVERSING)
def test_a_conversation_in_the_terminal_is_continued(
    version: str, isolation: Sequence[str], tmp_path: Path
) -> None:
    """A tool runs once it is allowed, and the session continues in another conversation."""
    sandbox = make_sandbox(version, isolation, tmp_path, SWITCHES)
    screen = {"columns": 100, "lines": 40}
    with open_terminal("chat", **screen, env=sandbox.environment, cwd=sandbox.work) as chat:
        chat.wait_for_text("idle")
        chat.send("play:touch_one\r")
        chat.wait_for_text("Allow?")
        assert not (sandbox.work / "one.txt").exists()
        chat.send("y\r")
        chat.wait_for_text("Touched.")
        chat.wait_for_text("idle")
        chat.send(CTRL_D)
        assert chat.wait_for_end() == 0
    assert (sandbox.work / "one.txt").exists()
    with open_terminal("chat", "latest", **screen, env=sandbox.environment, cwd=tmp_path) as chat:
        assert any("play:touch_one" in line for line in chat.wait_for_text("idle"))
        chat.send("play:hello\r")
        chat.wait_for_text("Hello.")
        chat.wait_for_text("idle")
        chat.send("/exit\r")
        assert chat.wait_for_end() == 0
    session = sandbox.open()
    assert [turn.words for turn in session.turns] == ["play:touch_one", "play:hello"]
    assert len(sandbox.requests) == 3
    assert sandbox.list_processes() == {}
