"""The parts of a compound name: `parseHTTPQuery2` is also parse, http, query and 2.

Names joined by underscores, hyphens, dots and slashes fall apart by themselves, because those
separate terms; only changes of case and a number at the end need to be looked for. Inner
boundaries between letters and digits are left alone: hexadecimal numbers are full of them.
"""

import re
import string
from functools import lru_cache
from typing import Final

_HUMP: Final = re.compile("[a-z][0-9]*[A-Z]|[A-Z]{2}[a-z]{2}")
_NUMBERED: Final = re.compile("[A-Za-z]{2,}[0-9]{1,4}")
_PART: Final = re.compile("[A-Z]{2,}s(?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def _classify(lower: str, upper: str, digit: str) -> bytes:
    """A table for `bytes.translate` from characters to their class; all others are spaces."""
    classes = {string.ascii_lowercase: lower, string.ascii_uppercase: upper, string.digits: digit}
    table = bytearray(b" " * 256)
    for characters, sign in classes.items():
        for character in characters:
            table[ord(character)] = ord(sign)
    return bytes(table)


# Every compound name shows one of these two in its classes. Two searches of bytes for them are
# several times as fast as one expression that finds the names.
_BOUNDARIES: Final = (
    (_classify(lower="a", upper="A", digit="A"), b"aA"),
    (_classify(lower="a", upper="A", digit="0"), b"AA"),
)


@lru_cache(maxsize=1 << 15)
def split_identifier(name: str) -> tuple[str, ...]:
    """The parts of a compound name in lower case; empty when it is no compound."""
    if _HUMP.search(name) or _NUMBERED.fullmatch(name):
        return tuple(part.lower() for part in _PART.findall(name))
    return ()


def find_compounds(text: str) -> list[tuple[str, ...]]:
    """The parts of the compound names in a text, the same parts only once."""
    data = text.encode("ascii", "replace")
    names: dict[str, None] = {}
    for table, boundary in _BOUNDARIES:
        classes = data.translate(table) + b" "
        at = classes.find(boundary)
        while at >= 0:
            end = classes.find(b" ", at)
            names[text[classes.rfind(b" ", 0, at) + 1 : end]] = None
            at = classes.find(boundary, end)
    return list(dict.fromkeys(filter(None, map(split_identifier, names))))


def is_part_boundary(text: str, at: int) -> bool:
    """Tell whether a part of a compound name may begin at a place inside a word."""
    before, after, behind = text[at - 1], text[at], text[at + 1 : at + 2]
    if before.isdigit() or after.isdigit():
        return before.isdigit() != after.isdigit()
    return after.isupper() and (before.islower() or behind.islower())
