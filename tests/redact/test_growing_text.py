"""Tests of recollect.redact.growing_text: no part of a secret is shown before it is complete."""

from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.redact.growing_text import GrowingText
from recollect.redact.quick_masks import mask_words
from tests.redact.labelled_set import is_readable
from tests.redact.made_up_secrets import WITH_RULE, Family
from tests.redact.secret_contexts import write_down

HARMLESS = "First I look at the tests.\n\nThen I change them, and run `make check` again.\n"
CONTEXTS = ("env", "export", "json", "yaml", "header", "query", "sentence", "command", "log")


def show(pieces: Sequence[str]) -> list[str]:
    """Return what is shown after each piece, and at the end."""
    growing = GrowingText(mask_words)
    return [*map(growing.add, pieces), growing.finish()]


def cut(text: str, rng: Random) -> list[str]:
    """Split a text into pieces as a model writes them."""
    pieces = []
    while text:
        size = rng.randint(1, 9)
        pieces.append(text[:size])
        text = text[size:]
    return pieces


@given(st.lists(st.integers(1, 12), max_size=40))
def test_harmless_text_is_shown_unchanged(sizes: list[int]) -> None:
    """However it is split."""
    pieces, at = [], 0
    for size in sizes:
        pieces.append(HARMLESS[at : at + size])
        at += size
    assert "".join(show([*pieces, HARMLESS[at:]])) == HARMLESS


def test_only_the_last_word_waits() -> None:
    """It may become a key until a blank follows."""
    assert show(["The ti", "de comes", " in"]) == ["The ", "tide ", "comes ", "in"]


def test_a_suspicious_line_waits_for_a_harmless_one() -> None:
    """A name may be on one line and its value on the next."""
    shown = show(["The key is\n", "in the ", "safe.\n", "Nothing else. "])
    assert shown == ["", "", "The key is\nin the safe.\n", "Nothing else. ", ""]


@pytest.mark.parametrize("family", [each for each in WITH_RULE if each.recognisable])
def test_no_piece_of_a_secret_is_shown(family: Family) -> None:
    """Neither before it is complete nor at the end."""
    rng = Random(family.name)
    for context in CONTEXTS:
        plant = family.make(rng)
        text = HARMLESS + write_down(context, family, plant, rng) + "\n" + HARMLESS
        whole = mask_words(text)
        shown = "".join(show(cut(text, rng)))
        if not is_readable(whole, plant.secrets):
            assert not is_readable(shown, plant.secrets), (context, shown)
