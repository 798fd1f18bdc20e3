"""Tests of recollect.render.terminal."""

import sys
import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.render.terminal import (
    clip,
    measure,
    restore_text,
    safe_line,
    safe_text,
    shorten,
    shorten_folder,
)

HIDDEN_CATEGORIES = {"Cc", "Cs", "Zl", "Zp"}
REORDERING = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
MARKS = {"\u061c", "\u200e", "\u200f", "\u200b", "\ufeff"}
# Hypothesis excludes lone surrogates by default.
ANYTHING = st.text(st.characters(codec=None, exclude_categories=()))


def is_harmless(character: str) -> bool:
    """Return whether a terminal only displays a character, by the Unicode tables."""
    return (
        unicodedata.category(character) not in HIDDEN_CATEGORIES
        and unicodedata.bidirectional(character) not in REORDERING
        and character not in MARKS
        and not 0xE0000 <= ord(character) <= 0xE007F
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2J", "␛[2J"),
        ("\x1b]52;c;aGk=\x07", "␛]52;c;aGk=\u2039U+0007\u203a"),
        ("safe\roverwritten", "safe\u2039U+000D\u203aoverwritten"),
        ("\x00\x08\x7f", "\u2039U+0000\u203a\u2039U+0008\u203a\u2039U+007F\u203a"),
        ("\x9b31m", "\u2039U+009B\u203a31m"),
        ("exe.\u202egnp", "exe.\u2039U+202E\u203agnp"),
        ("\u2066x\u2069", "\u2039U+2066\u203ax\u2039U+2069\u203a"),
        ("\U000e0041", "\u2039U+E0041\u203a"),
        ("a\u200bb", "a\u2039U+200B\u203ab"),
        ("one\u2028two", "one\u2039U+2028\u203atwo"),
        ("\ud83d", "\u2039U+D83D\u203a"),
    ],
)
def test_what_drives_a_terminal_is_shown_instead(text: str, shown: str) -> None:
    """Escape, control, reordering, hidden and invalid characters get a visible form."""
    assert safe_text(text) == shown


def test_every_harmful_character_is_noticed_by_itself() -> None:
    """The quick check of a text misses none of them."""
    harmful = [each for each in map(chr, range(sys.maxunicode + 1)) if not is_harmless(each)]
    assert [each for each in harmful if safe_text(f"a{each}") == f"a{each}"] == ["\t", "\n"]


@pytest.mark.parametrize(
    "text", ["plain", "two\nlines\tand a tab", "麻婆豆腐", "👩\u200d🍳", "می\u200cروم", "e\u0301"]
)
def test_words_of_every_script_stay_as_they_are(text: str) -> None:
    """Ordinary text is unchanged, including the joiners of emoji and Persian."""
    assert safe_text(text) == text


def test_a_single_line_stays_one() -> None:
    """Line feeds and tabs are made visible too, for tables and lists."""
    assert safe_line("a\nb\tc") == "a\u2039U+000A\u203ab\u2039U+0009\u203ac"


@given(ANYTHING)
def test_only_harmless_characters_come_out(text: str) -> None:
    """Whatever the input, a terminal can only display the output."""
    assert all(map(is_harmless, safe_line(text)))
    assert all(character in "\n\t" or is_harmless(character) for character in safe_text(text))


@pytest.mark.parametrize("make_safe", [safe_text, safe_line])
@given(text=ANYTHING)
def test_safe_text_is_safe_already(make_safe: Callable[[str], str], text: str) -> None:
    """Making text safe twice equals once, so that layers may both do it."""
    once = make_safe(text)
    assert make_safe(once) == once


@given(ANYTHING)
def test_safe_text_can_be_written(text: str) -> None:
    """Safe text can always be encoded."""
    assert safe_text(text).encode().decode() == safe_text(text)


@pytest.mark.parametrize(
    ("text", "columns"), [("", 0), ("abc", 3), ("豆腐", 4), ("e\u0301", 1), ("👩\u200d🍳", 4)]
)
def test_columns_are_counted_as_a_terminal_does(text: str, columns: int) -> None:
    """Chinese takes two columns per character, accents and joiners none."""
    assert measure(text) == columns


def test_the_middle_is_left_out() -> None:
    """A long path keeps most of its end, which is the file name, and some of its start."""
    assert shorten("projects/-home-mina-app/0123.jsonl", 20) == "project…p/0123.jsonl"


@pytest.mark.parametrize(
    ("columns", "shown"),
    [
        (40, "cmd/entire/cli/strategy/condensation.go"),
        (30, "cmd/entire…egy/condensation.go"),
        (22, "cmd/e…/condensation.go"),
        (18, "c…/condensation.go"),
        (16, "condensation.go"),
        (5, "condensation.go"),
    ],
)
def test_a_path_keeps_the_name_of_the_file(columns: int, shown: str) -> None:
    """However little room there is."""
    assert shorten_folder("cmd/entire/cli/strategy/condensation.go", columns) == shown


@given(st.text().map(safe_line), st.integers(1, 40))
def test_shortened_text_fits(text: str, columns: int) -> None:
    """Shortened text fits the width, and text that fits is not changed."""
    short = shorten(text, columns)
    assert measure(short) <= columns
    assert short == text or measure(text) > columns


@given(ANYTHING)
def test_what_is_shown_can_be_taken_back(text: str) -> None:
    """The visible form of a text without our own marks can be converted back."""
    plain = text.replace("␛", "").replace("‹", "")
    assert restore_text(safe_text(plain)) == plain


@pytest.mark.parametrize(
    ("columns", "shown"),
    [(4, "密…"), (12, "密钥…"), (20, "密钥…"), (23, "密钥[redacted:aws-key]…")],
)
def test_a_title_is_clipped_before_a_tag(columns: int, shown: str) -> None:
    """Never inside a tag, because half of it would look like part of the title."""
    assert clip("密钥[redacted:aws-key]和其他", columns) == shown


@pytest.mark.parametrize(
    ("columns", "shown"),
    [
        (8, "密…其他"),
        (26, "密钥…和其他"),
        (30, "密钥[redacted:aws-key]和其他"),
    ],
)
def test_no_tag_is_cut_in_the_middle_of_a_text(columns: int, shown: str) -> None:
    """A tag is shown completely or left out, at either end."""
    assert shorten("密钥[redacted:aws-key]和其他", columns) == shown


def test_a_tag_before_the_end_of_a_path_is_left_out() -> None:
    """The end of the path is kept."""
    text = "/srv/[redacted:aws-key#1]/reef/notes.md"
    assert shorten(text, 30) == "/srv/…/reef/notes.md"
