"""Cuts what nobody searches for to its head: encoded data and endless words.

A megabyte of base64 would be thirty thousand words that occur once. Texts and queries are cut the
same way, so that even such a run is found when it is asked for whole. All of it is done on a byte
string with one byte per character, where C code finds a long run at a gigabyte per second.
"""

import re
import string
from collections.abc import Callable, Iterator
from typing import Final

from recollect.search.folding import SEPARATORS

# The hexadecimal form of a SHA-256 is the longest thing that people look for as one word.
TERM_LIMIT: Final = 64
ENCODED_LENGTH: Final = 200
# Base64 of anything compressed has 16% digits and 41% letters of each case.
_LEAST_SHARE: Final = 0.05

_TERM: Final = re.compile(rf"[^{SEPARATORS}]+")


def _mark(characters: str) -> bytes:
    """A table for `bytes.translate` that makes these characters `x` and all others a space."""
    return bytes(ord("x") if code in characters.encode() else ord(" ") for code in range(256))


_ALPHANUMERIC: Final = string.ascii_letters + string.digits
_ENCODED: Final = _mark(_ALPHANUMERIC + "+/=-_")
# What is not ASCII becomes a question mark, and may be a letter.
_WORDS: Final = _mark(_ALPHANUMERIC + "?")
_EITHER: Final = _mark(_ALPHANUMERIC + "+/=-_?")
_EITHER_IN_UTF8: Final = _EITHER[:128] + b"x" * 128
_LONG_RUN: Final = b"x" * (TERM_LIMIT + 1)


def may_have_long_runs(data: bytes) -> bool:
    """Whether `cut_long_runs` could change a text in UTF-8: a quick look, sometimes mistaken."""
    # A byte array is translated in two thirds of the time that bytes take.
    return len(data) > TERM_LIMIT and _LONG_RUN in bytearray(data).translate(_EITHER_IN_UTF8)


def cut_long_runs(text: str) -> str:
    """The text with the head only of encoded runs and of words beyond the limit."""
    if len(text) <= TERM_LIMIT or _LONG_RUN not in _classify(text, _EITHER):
        return text
    without_data = _shorten_runs(text, _ENCODED, ENCODED_LENGTH, _cut_encoded)
    return _shorten_runs(without_data, _WORDS, TERM_LIMIT + 1, _cut_terms)


def _shorten_runs(text: str, table: bytes, least: int, shorten: Callable[[str], str]) -> str:
    classes, run = _classify(text, table), b"x" * least
    pieces: list[str] = []
    end = 0
    for start, stop in _iter_runs(classes, run):
        pieces += (text[end:start], shorten(text[start:stop]))
        end = stop
    return "".join((*pieces, text[end:]))


def _classify(text: str, table: bytes) -> bytes:
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
    least = len(run) * _LEAST_SHARE
    return all(sum(map(run.count, kind)) >= least for kind in kinds)


def _cut_terms(run: str) -> str:
    return _TERM.sub(lambda term: term[0][:TERM_LIMIT], run)
