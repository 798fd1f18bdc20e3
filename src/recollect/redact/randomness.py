"""Whether a value was drawn at random or written by a person.

Random characters change between lower case, upper case and digits all the time, and their letters
do not follow each other as they do in words. Both tests are needed: the first is blind to secrets
of one case and takes `camelCaseNames` for random, the second needs some letters.
"""

import math
import re
from collections import Counter
from operator import ne
from typing import Final

_CLASSES: Final = bytes(
    ord("a") if chr(code).islower()
    else ord("A") if chr(code).isupper()
    else ord("0") if chr(code).isdigit()
    else ord(".")
    for code in range(128)
) + b"." * 128  # fmt: skip
_DIGITS: Final = b"0123456789"
_NOT_LETTERS: Final = re.compile(rb"[^A-Za-z]+")

_COMMON_PAIRS: Final = frozenset(
    b"""
    ab ac ad ag ai ak al am an ap ar as at au av ay ba be bi bl bo br bu ca ce ch ci ck cl co cr ct
    cu da de di do du ea ec ed ee ef eg el em en ep er es et ev ew ex fa fe ff fi fo fr fu ge gh gi
    go gr ha he hi ho ht ia ic id ie if ig il im in io ip ir is it iv ke ki la ld le li ll lo lt lu
    ly ma me mi mm mo mp mu na nc nd ne ng ni no ns nt nu oa ob oc od of og ok ol om on oo op or os
    ot ou ov ow pa pe ph pl po pp pr pt pu qu ra rc rd re rg ri rk rl rm rn ro rr rs rt ru ry sa sc
    se sh si so sp ss st su ta te th ti tl to tr ts tt tu ty ub uc ue ug ui ul um un up ur us ut va
    ve vi wa we wh wi wo xp xt yp ys ze
    """.split()
)
_MIN_ENTROPY: Final = 2.9
_MIN_CHANGES: Final = 0.28
_COMMON_IN_RANDOM: Final = 0.5
_COMMON_IN_WORDS: Final = 0.7
_MAX_DIGITS_IN_NAMES: Final = 0.2
_MIN_PAIRS: Final = 8
MIN_RANDOM_LENGTH: Final = 16
SAMPLE: Final = 160
"""How much of a long value is looked at; hostile text may have one behind every word."""


def measure_entropy(value: bytes) -> float:
    """Return the bits per character by the frequencies of the characters."""
    total = len(value)
    return -sum(n / total * math.log2(n / total) for n in Counter(value).values())


def looks_random(value: bytes) -> bool:
    """Return whether a value of at least 16 characters was drawn at random, by its beginning."""
    value = value[:SAMPLE]
    if len(value) < MIN_RANDOM_LENGTH or measure_entropy(value) < _MIN_ENTROPY:
        return False
    digits = len(value) - len(value.translate(None, _DIGITS))
    if digits == len(value) or not (digits or _has_both_cases(value)):
        return False
    common, pairs = _count_common_pairs(value)
    if pairs < _MIN_PAIRS:
        return measure_changes(value) >= _MIN_CHANGES
    if digits < _MAX_DIGITS_IN_NAMES * len(value) and common >= _COMMON_IN_WORDS * pairs:
        return False
    return common <= _COMMON_IN_RANDOM * pairs or measure_changes(value) >= _MIN_CHANGES


def measure_changes(value: bytes) -> float:
    """Return how often neighbours differ in class: lower case, upper case, digit, other."""
    classes = value.translate(_CLASSES)
    changes: int = sum(map(ne, classes, classes[1:]))
    return changes / len(value)


def _count_common_pairs(value: bytes) -> tuple[int, int]:
    """Return how many pairs of letters are common in words, and how many pairs there are."""
    pairs = [
        word[at : at + 2]
        for word in _NOT_LETTERS.split(value.lower())
        for at in range(len(word) - 1)
    ]
    return sum(pair in _COMMON_PAIRS for pair in pairs), len(pairs)


def _has_both_cases(value: bytes) -> bool:
    return value != value.lower() and value != value.upper()
