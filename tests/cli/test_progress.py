"""The progress line of commands."""

import sys

import pytest

from recollect.cli.command_workspace import ProgressLine
from tests.process import Finished, run_in_terminal

SHOW = """
from recollect.cli import command_workspace as progress
progress.DELAY_SECONDS = progress.STEP_SECONDS = {seconds}
line = progress.ProgressLine()
for number, item in enumerate(["a", "b"]):
    line.show("files", number, 2)
    print(item, flush=True)
line.clear()
"""


def test_nothing_is_shown_when_nobody_watches(capsys: pytest.CaptureFixture[str]) -> None:
    """Without a terminal on stderr nothing is printed."""
    line = ProgressLine()
    line.show("files", 1, 2)
    line.clear()
    assert capsys.readouterr() == ("", "")


@pytest.mark.skipif(sys.platform == "win32", reason="no such terminals there")
@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (60, "a\r\nb\r\n"),
        (
            0,
            "\r\x1b[KReading files: 0 of 2a\r\n\r\x1b[KReading files: 1 of 2b\r\n\r\x1b[K",
        ),
    ],
)
def test_long_work_is_shown_and_wiped(seconds: int, shown: str) -> None:
    """In a terminal the progress line appears after a delay, and is erased at the end."""
    result = run_in_terminal(SHOW.format(seconds=seconds), env={"TERM": "xterm"})
    assert result == Finished(0, f"{shown!a}\n", "")
