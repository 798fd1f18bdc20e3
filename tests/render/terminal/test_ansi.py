"""Tests of recollect.render.terminal.ansi_output."""

import pytest

from recollect.render.terminal.ansi_output import TextRunStyle, iter_runs


@pytest.mark.parametrize(
    ("sequence", "ink"),
    [
        ("", TextRunStyle()),
        ("\x1b[31m", TextRunStyle(hue="red")),
        ("\x1b[1;92m", TextRunStyle(hue="green", bold=True)),
        ("\x1b[2;3;4;9m", TextRunStyle(dim=True, italic=True, underline=True, strike=True)),
        ("\x1b[7m", TextRunStyle(reverse=True)),
        ("\x1b[90m", TextRunStyle(dim=True)),
        ("\x1b[37m", TextRunStyle()),
        ("\x1b[38;5;208m", TextRunStyle(hue="yellow")),
        ("\x1b[38;5;39m", TextRunStyle(hue="cyan")),
        ("\x1b[38;5;240m", TextRunStyle(dim=True)),
        ("\x1b[38;5;999m", TextRunStyle()),
        ("\x1b[38;2;255;20;20m", TextRunStyle(hue="red")),
        ("\x1b[38:2::20:20:255m", TextRunStyle(hue="blue")),
        ("\x1b[38;2;250;250;250m", TextRunStyle()),
        ("\x1b[38m", TextRunStyle()),
        ("\x1b[31m\x1b[0m", TextRunStyle()),
        ("\x1b[31m\x1b[m", TextRunStyle()),
        ("\x1b[31;1m\x1b[39;22m", TextRunStyle()),
        ("\x1b[12;55;200m", TextRunStyle()),
    ],
)
def test_colours_become_those_of_the_terminal(sequence: str, ink: TextRunStyle) -> None:
    """Emphasis is kept, and every colour becomes the nearest of six hues, or none."""
    assert list(iter_runs(f"{sequence}text")) == [("text", ink)]


@pytest.mark.parametrize(
    ("sequence", "ink"),
    [
        ("\x1b[41m", TextRunStyle(hue="red", reverse=True)),
        ("\x1b[30;42m", TextRunStyle(hue="green", reverse=True)),
        ("\x1b[31;41m", TextRunStyle(hue="red", reverse=True)),
        ("\x1b[30;47m", TextRunStyle(reverse=True)),
        ("\x1b[97;107m", TextRunStyle(reverse=True)),
        ("\x1b[30;40m", TextRunStyle()),
        ("\x1b[48;2;9;9;9;38;2;9;9;9m", TextRunStyle(dim=True)),
        ("\x1b[8m", TextRunStyle()),
        ("\x1b[5m", TextRunStyle()),
    ],
)
def test_no_colour_hides_text(sequence: str, ink: TextRunStyle) -> None:
    """A background is its hue reversed, so that text stays visible; nothing is concealed."""
    assert list(iter_runs(f"{sequence}text")) == [("text", ink)]


def test_other_sequences_are_shown() -> None:
    """Sequences other than colours are shown as text that names their effect."""
    text = "a\x1b[32mb\x1b[2Jc\x1b[0md\x1b]0;t\x07"
    assert list(iter_runs(text)) == [
        ("a", TextRunStyle()),
        ("b␛[2Jc", TextRunStyle(hue="green")),
        ("d␛]0;t\u2039U+0007\u203a", TextRunStyle()),
    ]


def test_an_endless_sequence_is_no_colour() -> None:
    """Sequences with too many numbers are not parsed."""
    text = f"\x1b[{'1;' * 1000}m"
    assert list(iter_runs(text)) == [(f"␛[{'1;' * 1000}m", TextRunStyle())]
