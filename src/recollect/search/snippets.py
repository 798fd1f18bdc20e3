"""The most telling stretch of a text, on one line, with the places to mark in it.

Works on characters, knows nothing of markup or of the width of a terminal cell, and escapes
nothing: that is done by whoever shows it. The best stretch holds the most different words that
were sought, and of those the most occurrences.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Final

from msgspec import Struct

from recollect.search.folding import vanishes
from recollect.search.spans import Span

_CUT: Final = "…"
_JOINER: Final = "\u200d"
# The vowels of Thai and Lao that are letters by category and marks on paper.
_LEANING: Final = "\u0e33\u0eb3"
_NARROWEST: Final = 3
_WIDE_SPACE: Final = re.compile(r"\s{2,}")
# Enough of a span to tell one word from another.
_COMPARED: Final = 64
# How far beyond the stretch to look for text when white space shrinks it, in widths.
_REACH: Final = 4
# How much of the context, but never more than half, a cut may give up to fall between words.
_GIVEN_UP: Final = 12


class Snippet(Struct, frozen=True):
    """One line of a text, with the stretches of it that were sought."""

    text: str
    marks: tuple[Span, ...]


def make_snippet(text: str, spans: Sequence[Span], width: int) -> Snippet:
    """The line of at most `width` characters, dots for the cuts included, around the best spans.

    The spans are in order and do not overlap; a width below three counts as three.
    """
    width = max(width, _NARROWEST)
    room = width - 2 * len(_CUT)
    first, last = _choose_stretch(text, spans, room)
    low, high = max(0, first - _REACH * width), min(len(text), first + (_REACH + 1) * width)
    line, place_of = _collapse(text[low:high])
    focus = place_of(first - low), place_of(min(last, high) - low)
    is_cut = low > 0 or high < len(text) or len(line) > width
    start, end = _choose_window(line, focus, room if is_cut else width)
    head = _CUT if low or start else ""
    tail = _CUT if high < len(text) or end < len(line) else ""
    near = [(max(a, low) - low, min(b, high) - low) for a, b in spans if a < high and b > low]
    marks = _move_marks(
        [(place_of(a), place_of(b)) for a, b in near], (start, end), len(head) - start
    )
    return Snippet(f"{head}{line[start:end]}{tail}", marks)


def _choose_stretch(text: str, spans: Sequence[Span], room: int) -> Span:
    """From the first to the last span of the best group that fits; the beginning without spans."""
    best, best_score = (0, 0), (0, 0)
    words: dict[str, int] = {}
    left = 0
    for right, (start, end) in enumerate(spans):
        word = _word(text, (start, end))
        words[word] = words.get(word, 0) + 1
        while left < right and end - spans[left][0] > room:
            _drop(words, _word(text, spans[left]))
            left += 1
        score = len(words), right - left + 1
        if score > best_score:
            best, best_score = (spans[left][0], end), score
    return best


def _drop(words: dict[str, int], word: str) -> None:
    words[word] -= 1
    if not words[word]:
        del words[word]


def _word(text: str, span: Span) -> str:
    return text[span[0] : min(span[1], span[0] + _COMPARED)].casefold()


def _collapse(text: str) -> tuple[str, Callable[[int], int]]:
    """The text with single spaces, and what tells the place in it of a place in the text."""
    end = len(text.rstrip())
    gaps = [match.span() for match in _WIDE_SPACE.finditer(text, 0, end)]
    if end and text[0].isspace() and not (gaps and gaps[0][0] == 0):
        gaps.insert(0, (0, 1))
    gaps += [(end, len(text))] * (end < len(text))
    starts = [start for start, _ in gaps]
    shrunk = [stop - start - (0 < start < end) for start, stop in gaps]
    lost = [0, *accumulate(shrunk)]

    def place_of(at: int) -> int:
        number = bisect_right(starts, at)
        if number and at < gaps[number - 1][1]:
            return starts[number - 1] - lost[number - 1]
        return at - lost[number]

    return " ".join(text.split()), place_of


def _choose_window(line: str, focus: Span, room: int) -> Span:
    """The part of a line to show, with about as much before the focus as after it."""
    first, last = focus[0], min(focus[1], focus[0] + room)
    start = max(0, min(first - (room - last + first) // 2, len(line) - room))
    end = min(len(line), start + room)
    return _begin_word(line, start, first), _end_word(line, end, last)


def _begin_word(line: str, start: int, limit: int) -> int:
    if start == 0 or line[start - 1] == " ":
        return start
    space = line.find(" ", start, start + min(_GIVEN_UP, (limit - start) // 2))
    if space >= 0:
        return space + 1
    while start < limit and _splits_character(line, start):
        start += 1
    return start


def _end_word(line: str, end: int, limit: int) -> int:
    if end == len(line) or line[end] == " ":
        return end
    space = line.rfind(" ", end - min(_GIVEN_UP, (end - limit) // 2), end)
    if space >= 0:
        return space
    while end > 1 and _splits_character(line, end):
        end -= 1
    return end


def _splits_character(line: str, at: int) -> bool:
    """Tell whether a cut would fall between a letter and its accent, or into a joined emoji."""
    behind = line[at]
    leans = unicodedata.category(behind)[0] == "M" or behind in _LEANING or vanishes(behind)
    return leans or line[at - 1] == _JOINER


def _move_marks(marks: Sequence[Span], window: Span, shift: int) -> tuple[Span, ...]:
    clipped = [(max(start, window[0]), min(end, window[1])) for start, end in marks]
    return tuple((start + shift, end + shift) for start, end in clipped if start < end)
