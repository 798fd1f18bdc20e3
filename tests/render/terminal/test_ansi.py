"""Tests of recollect.render.terminal.ansi_output."""

import pytest

from recollect.render.terminal.ansi_output import Ink, iter_runs


@pytest.mark.parametrize(
    ("sequence", "ink"),
    [
        ("", Ink()),
        ("\x1b[31m", Ink(hue="red")),
        ("\x1b[1;92m", Ink(hue="green", bold=True)),
        ("\x1b[2;3;4;9m", Ink(dim=True, italic=True, underline=True, strike=True)),
        ("\x1b[7m", Ink(reverse=True)),
        ("\x1b[90m", Ink(dim=True)),
        ("\x1b[37m", Ink()),
        ("\x1b[38;5;208m", Ink(hue="yellow")),
        ("\x1b[38;5;39m", Ink(hue="cyan")),
        ("\x1b[38;5;240m", Ink(dim=True)),
        ("\x1b[38;5;999m", Ink()),
        ("\x1b[38;2;255;20;20m", Ink(hue="red")),
        ("\x1b[38:2::20:20:255m", Ink(hue="blue")),
        ("\x1b[38;2;250;250;250m", Ink()),
        ("\x1b[38m", Ink()),
        ("\x1b[31m\x1b[0m", Ink()),
        ("\x1b[31m\x1b[m", Ink()),
        ("\x1b[31;1m\x1b[39;22m", Ink()),
        ("\x1b[12;55;200m", Ink()),
    ],
)
def test_colours_become_those_of_the_terminal(sequence: str, ink: Ink) -> None:
    """Emphasis stays, and every colour becomes the nearest of six hues, or none."""
    assert list(iter_runs(f"{sequence}text")) == [("text", ink)]


@pytest.mark.parametrize(
    ("sequence", "ink"),
    [
        ("\x1b[41m", Ink(hue="red", reverse=True)),
        ("\x1b[30;42m", Ink(hue="green", reverse=True)),
        ("\x1b[31;41m", Ink(hue="red", reverse=True)),
        ("\x1b[30;47m", Ink(reverse=True)),
        ("\x1b[97;107m", Ink(reverse=True)),
        ("\x1b[30;40m", Ink()),
        ("\x1b[48;2;9;9;9;38;2;9;9;9m", Ink(dim=True)),
        ("\x1b[8m", Ink()),
        ("\x1b[5m", Ink()),
    ],
)
def test_no_colour_hides_text(sequence: str, ink: Ink) -> None:
    """A background is its hue reversed, so that ink and ground always differ; nothing conceals."""
    assert list(iter_runs(f"{sequence}text")) == [("text", ink)]


def test_other_sequences_are_shown() -> None:
    """What is not a colour is text that says what it would have done."""
    text = "a\x1b[32mb\x1b[2Jc\x1b[0md\x1b]0;t\x07"
    assert list(iter_runs(text)) == [
        ("a", Ink()),
        ("b␛[2Jc", Ink(hue="green")),
        ("d␛]0;t\u2039U+0007\u203a", Ink()),
    ]


def test_an_endless_sequence_is_no_colour() -> None:
    """Numbers without end are not read, and cost nothing."""
    text = f"\x1b[{'1;' * 1000}m"
    assert list(iter_runs(text)) == [(f"␛[{'1;' * 1000}m", Ink())]
