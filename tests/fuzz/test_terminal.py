"""The sanitiser keeps its laws on hostile strings, and the fuzzer notices when it does not."""

import random
import re

import pytest

from fuzz.laws import LawBroken
from fuzz.terminal import check_rendered, fuzz, main, make_text, read_back
from recollect.render.terminal import safe_text


@pytest.mark.slow
def test_twenty_thousand_hostile_strings_break_no_law() -> None:
    """Only harmless text comes out, it represents what went in, and drawings show every letter."""
    assert fuzz(20_000, "7") == ""


def test_the_same_seed_gives_the_same_strings() -> None:
    """A seed repeats a run."""
    assert make_text(random.Random("3")) == make_text(random.Random("3"))


def test_the_program_reports_what_it_did(capsys: pytest.CaptureFixture[str]) -> None:
    """A run without a failure prints its figures and ends with 0."""
    assert main(["--strings", "50", "--seed", "5", "--jobs", "1"]) == 0
    out, err = capsys.readouterr()
    assert re.sub(r"in \d+ s", "in 0 s", out) == "50 strings in 0 s, seed 5, 0 failures\n"
    assert err == ""


@pytest.mark.parametrize("lines", [["a\x1b[2Jb"], ["a\u202eb"], ["a"]])
def test_a_bad_drawing_is_noticed(lines: list[str]) -> None:
    """A sequence, a hidden character or a missing letter breaks a law."""
    with pytest.raises(LawBroken):
        check_rendered("ab", lines)


def test_what_is_visible_can_be_read_back() -> None:
    """The visible form can be converted back."""
    assert read_back(safe_text("\x1b[2J\u202e\U000e0041")) == "\x1b[2J\u202e\U000e0041"
