"""Tests of recollect.cli.terminal_output, in a terminal of their own where one is needed."""

import sys
from collections.abc import Iterator

import pytest

from recollect.cli.terminal_output import show_lines, show_text
from tests.process import Finished, run_in_terminal

SHOW = """
from recollect.cli.terminal_output import show_text
show_text("one\\ntwo\\nthree", is_paged={is_paged})
"""
SHOUT = f"{sys.executable} -c \"import sys; print(sys.stdin.read().upper(), end='')\""


def test_without_a_terminal_there_is_no_pager(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pipe gets the text unchanged, however long."""
    monkeypatch.setenv("PAGER", SHOUT)
    show_text("line\n" * 500)
    assert capsys.readouterr() == ("line\n" * 500 + "\n", "")


@pytest.mark.skipif(sys.platform == "win32", reason="no such terminals there")
@pytest.mark.parametrize(
    ("lines", "is_paged", "term", "shown"),
    [
        (3, True, "xterm", "ONE\r\nTWO\r\nTHREE\r\n"),
        (4, True, "xterm", "one\r\ntwo\r\nthree\r\n"),
        (3, False, "xterm", "one\r\ntwo\r\nthree\r\n"),
        (3, True, "dumb", "one\r\ntwo\r\nthree\r\n"),
    ],
)
def test_only_long_text_is_paged(lines: int, is_paged: bool, term: str, shown: str) -> None:
    """Text that does not fit the terminal is paged, unless that is disabled."""
    environment = {"PAGER": SHOUT, "TERM": term, "LINES": str(lines), "COLUMNS": "80"}
    result = run_in_terminal(SHOW.format(is_paged=is_paged), env=environment)
    assert result == Finished(0, f"{shown!a}\n", "")


@pytest.mark.skipif(sys.platform == "win32", reason="no such terminals there")
@pytest.mark.parametrize(("given", "shown"), [({}, "utf-8\r\n"), ({"LESSCHARSET": "x"}, "x\r\n")])
def test_less_shows_characters_in_any_locale(given: dict[str, str], shown: str) -> None:
    """It would show bytes if the locale is not installed, as in many shells over SSH."""
    program = f"{sys.executable} -c \"import os; print(os.environ['LESSCHARSET'])\""
    environment = {"PAGER": program, "TERM": "xterm", "LINES": "3", "COLUMNS": "80", **given}
    result = run_in_terminal(SHOW.format(is_paged=True), env=environment)
    assert result == Finished(0, f"{shown!a}\n", "")


def test_lines_are_printed_as_they_come(capsys: pytest.CaptureFixture[str]) -> None:
    """The first lines are shown while the rest is still being generated."""
    seen = []
    lines = (str(number) for number in range(1000))

    def watch() -> Iterator[str]:
        for line in lines:
            if line == "500":
                seen.append(capsys.readouterr().out.count("\n"))
            yield line

    show_lines(watch())
    assert seen == [400]
    assert capsys.readouterr().out.splitlines()[-1] == "999"
