"""The parts of a compound name: `parseHTTPQuery2` is also parse, http, query and 2.

Names joined by underscores, hyphens, dots and slashes fall apart by themselves, because those
separate terms; only changes of case and a number at the end need to be looked for. Inner
boundaries between letters and digits are left alone: hexadecimal numbers are full of them.
"""

import re
import string
from functools import lru_cache
from typing import Final

from ahocorasick_rs import BytesAhoCorasick, Implementation

_HUMP: Final = re.compile("[a-z][0-9]*[A-Z]|[A-Z]{2}[a-z]{2}")
_NUMBERED: Final = re.compile("[A-Za-z]{2,}[0-9]{1,4}")
_PART: Final = re.compile("[A-Z]{2,}s(?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def _classify() -> bytes:
    """A table for `bytes.translate` from characters to their class; all others are spaces."""
    table = bytearray(b" " * 256)
    classes = {"a": string.ascii_lowercase, "A": string.ascii_uppercase, "0": string.digits}
    for sign, characters in classes.items():
        for character in characters:
            table[ord(character)] = ord(sign)
    return bytes(table)


_CLASSES: Final = _classify()
_NUMBERS: Final = [
    letters + b"0" * digits + b" " for letters in (b"aa", b"Aa", b"AA") for digits in range(1, 5)
]
# Every compound name shows one of these in its classes: finding them, and the name around them, is
# several times as fast as one expression that finds the names.
_BOUNDARIES: Final = BytesAhoCorasick(
    [b"aA", b"0A", b"AAaa", *_NUMBERS], implementation=Implementation.DFA
)


@lru_cache(maxsize=1 << 10)
def split_identifier(name: str) -> tuple[str, ...]:
    """The parts of a compound name in lower case; empty when it is no compound."""
    if _HUMP.search(name) or _NUMBERED.fullmatch(name):
        return tuple(part.lower() for part in _PART.findall(name))
    return ()


def find_names(text: bytes) -> list[bytes]:
    """The names in a text of ASCII or UTF-8 that may be compounds, each once."""
    # A byte array is translated in two thirds of the time that bytes take.
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
    """Tell whether a part of a compound name may begin at a place inside a word."""
    before, after, behind = text[at - 1], text[at], text[at + 1 : at + 2]
    if before.isdigit() or after.isdigit():
        return before.isdigit() != after.isdigit()
    return after.isupper() and (before.islower() or behind.islower())
