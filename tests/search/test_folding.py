"""Tests of recollect.search.folding."""

import re
import sys
import unicodedata

import pytest
from hypothesis import given

from recollect.search.folding import (
    PICTOGRAPHS,
    SEPARATORS,
    fold,
    fold_with_offsets,
    is_ignorable,
    is_term_character,
)
from tests.search.texts import anything, texts

FOREIGN = [
    character
    for character in map(chr, range(0x80, sys.maxunicode + 1))
    if unicodedata.category(character) not in {"Cn", "Co", "Cs"}
]


@pytest.mark.slow
def test_folding_settles_every_character() -> None:
    """The folding of every character is lower case or ASCII, and stable."""
    settled = [character for character in FOREIGN if not _is_pictograph(character)]
    folded = {character: fold(character) for character in settled}
    unsettled = [
        hex(ord(character))
        for character, spelling in folded.items()
        if fold(spelling) != spelling
        or (spelling.casefold() != spelling and not spelling.isascii())
    ]
    assert unsettled == []


@pytest.mark.slow
def test_every_letter_and_digit_can_be_searched_for() -> None:
    """No letter or digit is lost, except isolated Arabic marks and tatweels."""
    lost = [
        hex(ord(character))
        for character in FOREIGN
        if unicodedata.category(character)[0] in "LN"
        and not set(" \u0640") & set(unicodedata.normalize("NFKC", character))
        and not is_term_character(character)
    ]
    assert lost == []


@pytest.mark.slow
def test_no_separator_becomes_a_term() -> None:
    """Punctuation, white space and control characters are not terms."""
    found = [
        hex(ord(character))
        for character in FOREIGN
        if unicodedata.category(character)[0] in "ZPC"
        and unicodedata.normalize("NFKC", character) == character
        and is_term_character(character)
        and not _is_pictograph(character)
    ]
    assert found == []


def _is_pictograph(character: str) -> bool:
    return re.search(f"[{PICTOGRAPHS}]", fold(character)) is not None


@given(texts | anything)
def test_nothing_but_terms_and_separators_is_left(text: str) -> None:
    """Folding leaves ASCII unchanged and maps other separators to spaces, rules and dots."""
    left = re.sub(rf"[^{SEPARATORS}]|[{SEPARATORS}]", "", fold(text))
    assert (left, fold(text.encode("ascii", "ignore").decode())) == (
        "",
        text.encode("ascii", "ignore").decode(),
    )


@given(texts | anything)
def test_folding_with_places_is_the_same_folding(text: str) -> None:
    """Folding with offsets gives the same text, in lower case."""
    assert fold_with_offsets(text).text == fold(text).casefold()


@given(texts | anything)
def test_places_lead_back(text: str) -> None:
    """Sources of folded characters are in order, and fold to the same characters."""
    folded = fold_with_offsets(text)
    sources = [folded.find_source(at, at + 1) for at in range(len(folded.text))]
    assert sources == sorted(sources)
    assert all(0 <= start < end <= len(text) for start, end in sources)
    wrong = [
        (at, source)
        for at, source in enumerate(sources)
        if folded.text[at] not in fold_with_offsets(text[slice(*source)]).text
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("text", "part", "source"),
    [
        ("Straße 7", "strasse", "Straße"),
        ("ﬁne", "i", "ﬁ"),
        ("a ｶﾞ b", "ガ", "ｶﾞ"),
        ("İstanbul", "stan", "stan"),
        ("㍿ x", "会", "㍿"),
        ("xx e\u0301t", "t", "t"),
    ],
)
def test_a_part_leads_to_its_source(text: str, part: str, source: str) -> None:
    """A folded range maps to its original characters, even if their number changed."""
    folded = fold_with_offsets(text)
    start = folded.text.index(part)
    begin, end = folded.find_source(start, start + len(part))
    assert text[begin:end] == source


@pytest.mark.parametrize(
    ("character", "answer"),
    [
        ("\u0301", True),
        ("\u200d", True),
        ("\ufe0f", True),
        ("é", False),
        ("-", False),
        ("。", False),
    ],
)
def test_what_vanishes(character: str, answer: bool) -> None:
    """Accents, joiners and selectors are removed; separators are not."""
    assert is_ignorable(character) is answer
