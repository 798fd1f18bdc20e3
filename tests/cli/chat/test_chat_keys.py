"""Keys that come at a bad moment: while lines are printed, and just before a question."""

import asyncio
import os
import pty
import termios
from pathlib import Path

from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from recollect.cli.chat_screen import ChatScreen, open_keyboard
from recollect.launch.conversation import Conversation
from recollect.launch.conversation_events import PromptQueued, RequestAsked
from recollect.render.terminal.canvas import Canvas, RenderOptions
from tests.launch.conversing import list_responses, make_options, talk, wait_for
from tests.launch.fake_client import needs_posix

pytestmark = needs_posix

CURSOR_POSITION = "\x1b[1;1R"


class SlowTerminal(DummyOutput):
    """A terminal that reports the cursor position only when the test lets it."""

    @property
    def responds_to_cpr(self) -> bool:
        """A prompt that was sent waits for the terminal before it is read."""
        return True


def test_a_line_sent_before_a_question_is_not_its_answer(tmp_path: Path) -> None:
    """`y`, Enter, and a question before the line is read: it is a prompt, and allows nothing."""

    async def script(conversation: Conversation) -> None:
        with create_pipe_input() as keys, create_app_session(output=SlowTerminal()):
            screen = ChatScreen(conversation, Canvas(RenderOptions(columns=80)), keys)
            running = asyncio.create_task(screen.run())
            await conversation.client_info()
            keys.send_text("y\r")
            await conversation.send("tools hi")
            await wait_for(conversation, RequestAsked)
            keys.send_text(CURSOR_POSITION)
            await wait_for(conversation, PromptQueued, text="y")
            assert len(conversation.pending) == 1
            running.cancel()
            await asyncio.wait([running])

    talk(make_options(tmp_path), script)
    assert list_responses(tmp_path) == []


def test_enter_is_enter_while_lines_are_printed() -> None:
    """The terminal does not turn it into Ctrl+J, which would start a new line in the prompt."""
    master, slave = pty.openpty()
    with os.fdopen(master, "rb"), os.fdopen(slave, "r") as terminal:
        keyboard = open_keyboard(terminal)
        assert keyboard is not None
        with keyboard.raw_mode():
            raw = termios.tcgetattr(terminal)
            with keyboard.cooked_mode():
                printing = termios.tcgetattr(terminal)
    assert printing == raw
    assert not printing[0] & termios.ICRNL
