"""Text analysis: the terms of a text in the index, and the terms that find a word or phrase.

FTS5 tokenises in C (`TOKENIZER`); Python only prepares what it would get wrong. Plain ASCII passes
unchanged. Scripts without spaces are written as pairs of characters, plus the last character alone:
every character then starts a term, and a single one is found as a prefix, with half as many terms
as pairs and single characters would need. Compound names are also indexed by their parts:
`parseHTTPQuery2` is also parse, http, query and 2. Encoded data and very long words are truncated,
in texts and queries alike: a megabyte of base64 would be thirty thousand words that occur once.
"""

import re
import string
from collections.abc import Callable, Iterator
from functools import lru_cache
from operator import add
from typing import Final

from ahocorasick_rs import BytesAhoCorasick, Implementation
from msgspec import Struct

from recollect.search.folding import (
    BARRIER,
    SEPARATORS,
    UNSPACED,
    fold,
    fold_and_transform,
    is_term_character,
    make_encoder,
)

_CASE_CHANGE: Final = re.compile("[a-z][0-9]*[A-Z]|[A-Z]{2}[a-z]{2}")
_NUMBERED: Final = re.compile("[A-Za-z]{2,}[0-9]{1,4}")
_PART: Final = re.compile("[A-Z]{2,}s(?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def _classify_characters() -> bytes:
    """Return a table for `bytes.translate` from characters to their class, or a space."""
    table = bytearray(b" " * 256)
    classes = {"a": string.ascii_lowercase, "A": string.ascii_uppercase, "0": string.digits}
    for symbol, characters in classes.items():
        for character in characters:
            table[ord(character)] = ord(symbol)
    return bytes(table)


_CLASSES: Final = _classify_characters()
_NUMBERS: Final = [
    letters + b"0" * digits + b" " for letters in (b"aa", b"Aa", b"AA") for digits in range(1, 5)
]
# Every compound name has one of these in its classes. Finding them, and then the name around them,
# is several times faster than one pattern that matches names. Underscores, hyphens, dots and
# slashes separate terms anyway. Boundaries between letters and digits inside a name are ignored,
# because hexadecimal numbers are full of them.
_BOUNDARIES: Final = BytesAhoCorasick(
    [b"aA", b"0A", b"AAaa", *_NUMBERS], implementation=Implementation.DFA
)


@lru_cache(maxsize=1 << 10)
def split_identifier(name: str) -> tuple[str, ...]:
    """Return the parts of a compound name in lower case; empty if it is not a compound."""
    if _CASE_CHANGE.search(name) or _NUMBERED.fullmatch(name):
        return tuple(part.lower() for part in _PART.findall(name))
    return ()


def find_identifiers(text: bytes) -> list[bytes]:
    """Return the distinct names in an ASCII or UTF-8 text that may be compounds."""
    # Translating a bytearray takes two thirds of the time that bytes take.
    classes = b"".join((bytearray(text).translate(_CLASSES), b" "))
    find, find_back = classes.find, classes.rfind
    names: dict[bytes, None] = {}
    end = 0
    for _, at, _ in _BOUNDARIES.find_matches_as_indexes(classes):
        if at >= end:
            end = find(b" ", at)
            names[text[find_back(b" ", 0, at) + 1 : end]] = None
    return list(names)


def is_part_boundary(text: str, at: int) -> bool:
    """Whether a part of a compound name may start at `at`, inside a word."""
    before, after, next_after = text[at - 1], text[at], text[at + 1 : at + 2]
    if before.isdigit() or after.isdigit():
        return before.isdigit() != after.isdigit()
    return after.isupper() and (before.islower() or next_after.islower())


# A SHA-256 in hexadecimal is the longest word that people search for.
TERM_LIMIT: Final = 64
ENCODED_LENGTH: Final = 200
# Base64 of compressed data has 16% digits and 41% letters of each case.
_MIN_SHARE: Final = 0.05

_LONG_TERM: Final = re.compile(rf"[^{SEPARATORS}]+")


def _make_class_table(characters: str) -> bytes:
    """Return a table for `bytes.translate` that maps these characters to `x`, others to a space."""
    return bytes(ord("x") if code in characters.encode() else ord(" ") for code in range(256))


_ALPHANUMERIC: Final = string.ascii_letters + string.digits
_ENCODED: Final = _make_class_table(_ALPHANUMERIC + "+/=-_")
# Non-ASCII characters are encoded as a question mark, and may be letters.
_WORDS: Final = _make_class_table(_ALPHANUMERIC + "?")
_RUN_CHARACTERS: Final = _make_class_table(_ALPHANUMERIC + "+/=-_?")
_RUN_CHARACTERS_UTF8: Final = _RUN_CHARACTERS[:128] + b"x" * 128
_LONG_RUN: Final = b"x" * (TERM_LIMIT + 1)


def may_have_long_runs(data: bytes) -> bool:
    """Whether `cut_long_runs` may change a UTF-8 text; fast, with false positives."""
    # Translating a bytearray takes two thirds of the time that bytes take.
    return len(data) > TERM_LIMIT and _LONG_RUN in bytearray(data).translate(_RUN_CHARACTERS_UTF8)


def cut_long_runs(text: str) -> str:
    """Truncate encoded data and words longer than `TERM_LIMIT`.

    Runs are found on a byte string with one byte per character, at a gigabyte per second.
    """
    if len(text) <= TERM_LIMIT or _LONG_RUN not in _classify_run(text, _RUN_CHARACTERS):
        return text
    without_data = _shorten_runs(text, _ENCODED, ENCODED_LENGTH, _cut_encoded)
    return _shorten_runs(without_data, _WORDS, TERM_LIMIT + 1, _cut_terms)


def _shorten_runs(text: str, table: bytes, minimum: int, shorten: Callable[[str], str]) -> str:
    classes, run = _classify_run(text, table), b"x" * minimum
    pieces: list[str] = []
    end = 0
    for start, stop in _iter_runs(classes, run):
        pieces += (text[end:start], shorten(text[start:stop]))
        end = stop
    return "".join((*pieces, text[end:]))


def _classify_run(text: str, table: bytes) -> bytes:
    return text.encode("ascii", "replace").translate(table)


def _iter_runs(classes: bytes, run: bytes) -> Iterator[tuple[int, int]]:
    start = classes.find(run)
    while start >= 0:
        end = classes.find(b" ", start)
        if end < 0:
            end = len(classes)
        yield start, end
        start = classes.find(run, end)


def _cut_encoded(run: str) -> str:
    return run[:TERM_LIMIT] if _looks_encoded(run) else run


def _looks_encoded(run: str) -> bool:
    kinds = (string.ascii_lowercase, string.ascii_uppercase, string.digits)
    minimum = len(run) * _MIN_SHARE
    return all(sum(map(run.count, kind)) >= minimum for kind in kinds)


def _cut_terms(run: str) -> str:
    return _LONG_TERM.sub(lambda term: term[0][:TERM_LIMIT], run)


# The FTS5 tokenizer that `prepare_for_index` writes for. Marks count as letters, because in many
# scripts they are vowels; accents have been removed before.
TOKENIZER: Final = "unicode61 remove_diacritics 0 categories 'L* N* Co Mn Mc'"

CUT: Final = BARRIER * 2
"""A term added to texts with truncated runs; no query can contain it."""

_ASCII_TERM: Final = re.compile("[a-z0-9]+")
_TERM: Final = re.compile(rf"[^{SEPARATORS}]+")
_ASCII_PIECE: Final = re.compile("[A-Za-z0-9]+")
# Compiled with the first text that is not ASCII: that takes longer than most searches.
_UNSPACED_RUN: Final = rf"[{UNSPACED}]+"
_PIECE: Final = rf"[{UNSPACED}]+|[^{SEPARATORS}{UNSPACED}]+"
_MAX_CACHED: Final = 1 << 15


class TermSequence(Struct, frozen=True):
    """Terms that must be adjacent and in order; if `ends_open`, the last one is a prefix."""

    terms: tuple[str, ...]
    ends_open: bool = False


class _IdentifierParts(dict[bytes, bytes]):
    """A bounded cache from a name to its parts, as they are appended to a text."""

    def __missing__(self, name: bytes) -> bytes:
        parts = split_identifier(name.decode())
        appended = f" {BARRIER} {' '.join(parts)}".encode() if parts else b""
        if len(self) < _MAX_CACHED:
            self[name] = appended
        return appended


_PARTS: Final = _IdentifierParts()


def prepare_for_index(text: str) -> bytes:
    """Return the text as the tokenizer should read it, in UTF-8.

    The parts of compound names are appended, each after a barrier that no phrase can cross.
    """
    data = _encode(text)
    if may_have_long_runs(data):
        data = _cut(data)
    parts = dict.fromkeys(map(_PARTS.__getitem__, find_identifiers(data)))
    return b"".join((data, *parts)) if parts else data


def _cut(data: bytes) -> bytes:
    text = data.decode()
    cut = cut_long_runs(text)
    return f"{cut} {CUT}".encode() if cut != text else data


def iter_terms(text: str) -> Iterator[str]:
    """Iterate over the terms of a text, in the order of the index."""
    prepared = cut_long_runs(fold_and_transform(text, _separate_pairs))
    term = _ASCII_TERM if prepared.isascii() else _TERM
    yield from term.findall(prepared.casefold())
    names = [name.decode() for name in find_identifiers(prepared.encode())]
    for parts in dict.fromkeys(map(split_identifier, names)):
        yield from parts


def query_terms(text: str, *, prefix: bool = False) -> tuple[TermSequence, ...]:
    """Return alternative term sequences that find a word or phrase; empty if it has no terms.

    There are two if it contains a compound name: as written, and by its parts.
    """
    ends_open = prefix and is_term_character(text[-1:])
    return tuple(
        _make_sequence(spelling, ends_open)
        for spelling in list_spellings(cut_long_runs(fold(text)))
    )


def list_spellings(folded: str) -> tuple[tuple[str, ...], ...]:
    """Return the spellings of a folded text, each as lower-case words and unspaced runs.

    If it contains a compound name, a second spelling has the parts in its place.
    """
    pieces = _find_pieces(folded)
    whole = tuple(piece.casefold() for piece in pieces)
    parts = tuple(
        part for piece in pieces for part in split_identifier(piece) or [piece.casefold()]
    )
    return tuple(dict.fromkeys((whole, parts))) if whole else ()


def split_word(text: str) -> list[str]:
    """Return the pieces of a word that can be searched for by themselves.

    A run of a script without spaces is cut into pairs; an odd last character joins the one before.
    """
    pieces = _find_pieces(cut_long_runs(fold(text)))
    return [part for piece in pieces for part in _cut_run(piece)]


def _find_pieces(folded: str) -> list[str]:
    """Return the words and unspaced runs of a folded text."""
    return _ASCII_PIECE.findall(folded) if folded.isascii() else re.findall(_PIECE, folded)


def _cut_run(piece: str) -> list[str]:
    if not is_unspaced(piece):
        return [piece]
    starts = [*range(0, len(piece) - 2, 2), max(len(piece) - 2, 0)]
    return [piece[start : start + 2] for start in starts]


def is_unspaced(piece: str) -> bool:
    """Whether a piece of a spelling is of a script without spaces between words."""
    return not piece.isascii() and re.match(_UNSPACED_RUN, piece) is not None


def _make_sequence(pieces: tuple[str, ...], ends_open: bool) -> TermSequence:
    terms = [term for piece in pieces[:-1] for term in _list_terms(piece)]
    last = pieces[-1]
    if not is_unspaced(last):
        return TermSequence((*terms, last), ends_open)
    # The run may continue in the text, so its last character alone is not required.
    return TermSequence((*terms, *(_pairs(last) or [last])), len(last) == 1)


def _list_terms(piece: str) -> list[str]:
    return [*_pairs(piece), piece[-1]] if is_unspaced(piece) else [piece]


def _separate_pairs(folded: str) -> str:
    return folded if folded.isascii() else re.sub(_UNSPACED_RUN, _separate_run, folded)


def _separate_run(match: re.Match[str]) -> str:
    return f" {' '.join(_list_terms(match[0]))} "


def _pairs(run: str) -> list[str]:
    return list(map(add, run, run[1:]))


_encode: Final = make_encoder("recollect.search", _separate_pairs)
