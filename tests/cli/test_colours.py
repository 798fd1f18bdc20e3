"""Tests of recollect.cli.terminal_output."""

import io
import sys
from collections.abc import Mapping

import click
import pytest

from recollect.cli.terminal_output import colour_option, wants_colour


class Terminal(io.StringIO):
    """An output stream that claims to be a terminal."""

    def isatty(self) -> bool:
        """Return True."""
        return True


@pytest.mark.parametrize(
    ("environment", "in_terminal", "in_pipe"),
    [
        ({}, True, False),
        ({"TERM": "dumb"}, False, False),
        ({"NO_COLOR": "1"}, False, False),
        ({"NO_COLOR": ""}, True, False),
        ({"FORCE_COLOR": "1"}, True, True),
        ({"FORCE_COLOR": "0"}, True, False),
        ({"CLICOLOR": "0"}, False, False),
        ({"CLICOLOR": "1"}, True, False),
        ({"CLICOLOR_FORCE": "1", "TERM": "dumb"}, True, True),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False, False),
    ],
)
def test_who_gets_colours(
    monkeypatch: pytest.MonkeyPatch,
    environment: Mapping[str, str],
    in_terminal: bool,
    in_pipe: bool,
) -> None:
    """Terminals, unless disabled; anything else only if enabled."""
    answers = []
    for output in (Terminal(), io.StringIO()):
        monkeypatch.setattr(sys, "stdout", output)
        answers.append(wants_colour(environment))
    assert answers == [in_terminal, in_pipe]


@pytest.mark.parametrize(
    ("value", "coloured"), [("always", True), ("never", False), ("auto", False)]
)
def test_an_option_decides(monkeypatch: pytest.MonkeyPatch, value: str, coloured: bool) -> None:
    """`--color` overrides the environment, also for child processes."""
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("FORCE_COLOR", "1")
    answers = []

    @click.command()
    @colour_option
    def command() -> None:
        answers.append(wants_colour())

    command.main(["--color", value], standalone_mode=False)
    assert answers == [coloured]
