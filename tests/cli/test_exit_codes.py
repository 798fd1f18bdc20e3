"""Tests of recollect.cli.exit_codes: exit codes and error messages."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from recollect import errors
from recollect.cli.exit_codes import run
from tests.process import Finished, RunRecollect, run_python
from tests.terminal import open_terminal


def program(action: Callable[[], object]) -> click.Command:
    """Return a program that does only this."""
    return click.Command("recollect", callback=action)


def fail(error: BaseException) -> Callable[[], object]:
    """Return a program that fails with this exception."""

    def action() -> object:
        raise error

    return action


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.RecollectError("x"), 1),
        (errors.UsageError("x"), 2),
        (errors.NothingFound("x"), 3),
        (errors.UnreadableInput("x"), 4),
        (errors.IndexFailure("x"), 5),
        (errors.ClientFailure("x"), 7),
    ],
)
def test_each_error_has_its_exit_code(
    error: errors.RecollectError, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """One of our errors is a message on stderr, and its class determines the exit code."""
    assert run(program(fail(error)), []) == code
    assert capsys.readouterr() == ("", "recollect: x\n")


def test_a_result_is_the_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    """A command that returns a number ends with it; one that returns nothing has succeeded."""
    assert (run(program(lambda: 4), []), run(program(lambda: None), [])) == (4, 0)
    assert capsys.readouterr() == ("", "")


def test_an_interrupt_is_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    """Ctrl+C needs no message."""
    assert run(program(fail(KeyboardInterrupt())), []) == 130
    assert capsys.readouterr() == ("", "")


def test_a_bug_is_admitted(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Any other exception is reported as a bug, without its text, which may be private."""
    monkeypatch.delenv("RECOLLECT_DEBUG", raising=False)
    assert run(program(fail(KeyError("somebody's words"))), []) == 1
    assert capsys.readouterr().err == (
        "recollect: internal error (KeyError). This is a bug in Recollect.\n"
        "Run it again with RECOLLECT_DEBUG=1 for a traceback, and please report it.\n"
    )


def test_a_bug_can_be_looked_into(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With RECOLLECT_DEBUG, the traceback is shown, made safe for a terminal."""
    monkeypatch.setenv("RECOLLECT_DEBUG", "1")
    assert run(program(fail(KeyError("\x1b"))), []) == 1
    lines = capsys.readouterr().err.splitlines()
    assert (lines[0], lines[-1]) == (
        "recollect: Traceback (most recent call last):",
        "KeyError: '\\x1b'",
    )


def test_messages_cannot_drive_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """A message may contain a file name, and a file may have any name."""
    run(program(fail(errors.NothingFound("no \x1b]0;x\x07 here"))), [])
    assert capsys.readouterr().err == "recollect: no ␛]0;x\u2039U+0007\u203a here\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["lsit"],
            "No such command 'lsit'. Did you mean `recollect list`?\nTry `recollect --help`.",
        ),
        (
            ["flaky test"],
            (
                "No such command 'flaky test'. Use `recollect show 'flaky test'` to read a "
                "session, or `recollect search 'flaky test'` to search for text.\n"
                "Try `recollect --help`."
            ),
        ),
        (["--nonsense"], "No such option '--nonsense'.\nTry `recollect --help`."),
        (["doctor", "--nonsense"], "No such option '--nonsense'.\nTry `recollect doctor --help`."),
    ],
)
def test_wrong_usage_says_where_to_look(
    run_recollect: RunRecollect, arguments: list[str], message: str
) -> None:
    """A usage error exits with 2 and refers to the help."""
    assert run_recollect(*arguments) == Finished(2, "", f"recollect: {message}\n")


def test_messages_fit_a_terminal(safe_environment: None) -> None:
    """Lines are wrapped between words; a caret below a query keeps its position."""
    with open_terminal("lsit", columns=40) as terminal:
        assert terminal.wait_for_end() == 2
        assert terminal.lines[:4] == [
            "recollect: No such command 'lsit'. Did",
            "you mean `recollect list`?",
            "Try `recollect --help`.",
            "",
        ]
    with open_terminal("search", "a long (query", columns=40) as terminal:
        assert terminal.wait_for_end() == 2
        assert terminal.lines[:6] == [
            "recollect: missing closing parenthesis;",
            "to search for parentheses put the text",
            "in quotes",
            "  a long (query",
            "         ^",
            "",
        ]


@pytest.mark.skipif(sys.platform == "win32", reason="pipes end in another way there")
def test_a_reader_that_leaves_is_no_error() -> None:
    """`recollect … | head -1` is quiet, and exits like a program stopped by SIGPIPE."""
    with subprocess.Popen(
        [sys.executable, "-m", "recollect", "doctor", "--demo"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_is_reported_once() -> None:
    """Output that cannot be written is a failure with the system's reason, and no traceback."""
    script = (
        "import os, sys; os.dup2(os.open('/dev/full', os.O_WRONLY), 1); "
        "from recollect.cli import main; sys.argv = ['recollect', '--help']; main()"
    )
    expected = Finished(1, "", "recollect: No space left on device\n")
    assert run_python("-c", script) == expected


def test_a_poor_terminal_gets_numbers(run_recollect: RunRecollect) -> None:
    """Characters that the output cannot encode are escaped."""
    result = run_recollect("doctor", "--demo", env={"PYTHONIOENCODING": "latin-1"})
    assert (result.code, result.stdout.count("\\u2026 and ")) == (0, 1)
