"""Find the terms of a query in a text, and make one-line snippets around them.

Searches the folded text, with the same spellings as the index, and maps matches back to the
original. Each spelling is searched for as a literal and boundaries are checked afterwards, which is
several times faster than a pattern with look-behind. A snippet is cut around as many different
terms as possible. Works on characters: markup, escaping and cell width are up to the caller.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, islice
from typing import Final

from msgspec import Struct

from recollect.documents.search_results import Snippet
from recollect.redact.quick_masks import cut_text, find_tag_edge
from recollect.search import folding
from recollect.search.query_tree import Inside, NamePart, Prefix, Query, TextTerm, iter_text_terms
from recollect.search.terms import is_part_boundary, list_spellings

TextSpan = tuple[int, int]

# Each needle costs a pass over the text, and more highlighted words would not help.
_MAX_NEEDLES: Final = 64
_WINDOW: Final = 8192
_MAX_WORD_LENGTH: Final = 100
_SPACE: Final = re.compile(r"\s")
_CUT: Final = "…"
_JOINER: Final = "\u200d"
# Vowels of Thai and Lao that are letters by category but are written on the preceding letter.
_COMBINING_VOWELS: Final = "\u0e33\u0eb3"
_MIN_WIDTH: Final = 3
_WIDE_SPACE: Final = re.compile(r"\s{2,}")
# Enough of a span to distinguish words.
_MAX_COMPARED: Final = 64
# How far beyond the snippet to look for text when white space collapses, in widths.
_LOOKAROUND: Final = 4
# How much context a cut may drop, but never more than half, to fall between words.
_MAX_TRIMMED: Final = 12
_LETTER: Final = rf"[^{folding.SEPARATORS}{folding.UNSPACED}{folding.PICTOGRAPHS}]"
_INSIDE: Final = _LETTER * 2
# Possessive, so that a failed match does not retry with shorter gaps.
_GAP: Final = rf"([{folding.SEPARATORS}]*+)"


def find_spans(text: str, query: Query) -> list[TextSpan]:
    """Return the spans of the text that match words of the query, sorted and not overlapping."""
    folded = folding.fold_with_offsets(text)
    found = [span for needle in _find_needles(query) for span in _iter_spans(text, folded, needle)]
    return _merge(sorted(found))


def choose_window(text: str, query: Query) -> TextSpan:
    """Return the first window of a long text with most words of the query, to search only that.

    If no word occurs literally, that is the whole text.
    """
    if len(text) <= 2 * _WINDOW:
        return 0, len(text)
    words = {term.text.lower() for term in iter_text_terms(query.root)}
    best, most = (0, len(text)), 0
    for start in range(0, len(text), _WINDOW):
        window = _next_space(text, start), _next_space(text, start + _WINDOW)
        piece = text[slice(*window)].lower()
        found = sum(word in piece for word in words)
        if found > most:
            best, most = window, found
        if most == len(words):
            break
    return best


class _Needle(Struct, frozen=True):
    """A pattern for a spelling of a term, with a group for each gap."""

    pattern: str
    is_inside: bool
    """Whether it may start and end inside a word."""


# The same query is applied to dozens of texts, and may have been widened to dozens of words.
@lru_cache(maxsize=8)
def _find_needles(query: Query) -> tuple[_Needle, ...]:
    needles = dict.fromkeys(
        needle for term in iter_text_terms(query.root) for needle in _iter_needles(term)
    )
    return tuple(islice(needles, _MAX_NEEDLES))


def _iter_needles(term: TextTerm) -> Iterator[_Needle]:
    for spelling in list_spellings(folding.fold(term.text)):
        pattern = _GAP.join(map(re.escape, spelling))
        end = f"{_LETTER}*+" if isinstance(term, Prefix) else ""
        yield _Needle(f"{pattern}{end}", isinstance(term, Inside | NamePart))


def _iter_spans(text: str, folded: folding.Folded, needle: _Needle) -> Iterator[TextSpan]:
    at, search = 0, re.compile(needle.pattern).search
    while match := search(folded.text, at):
        edges = _iter_word_edges(match, is_inside=needle.is_inside)
        if all(_is_boundary(text, folded, edge) for edge in edges):
            yield _to_source(text, folded, match)
            at = match.end()
        else:
            at = match.start() + 1


def _iter_word_edges(match: re.Match[str], *, is_inside: bool) -> Iterator[int]:
    """Iterate over the points where two words of a match touch, and its ends unless inside."""
    if not is_inside:
        yield from match.span()
    for start, end in match.regs[1:]:
        if start == end:
            yield start


def _is_boundary(text: str, folded: folding.Folded, at: int) -> bool:
    if at == 0 or not _are_letters(folded.text[at - 1 : at + 1]):
        return True
    return is_part_boundary(text, folded.find_source(at, at + 1)[0])


def _are_letters(pair: str) -> bool:
    """Return whether there are two characters and both are part of words."""
    if pair.isascii():
        return len(pair) == len("ab") and pair.isalnum()
    # Compiled with the first other letter, which takes longer than most searches.
    return re.match(_INSIDE, pair) is not None


def _to_source(text: str, folded: folding.Folded, match: re.Match[str]) -> TextSpan:
    start, end = folded.find_source(*match.span())
    while end < len(text) and folding.is_ignorable(text[end]):
        end += 1
    return start, end


def _next_space(text: str, at: int) -> int:
    """Return a position near `at` that is not inside a word, unless the word is very long."""
    space = _SPACE.search(text, at, at + _MAX_WORD_LENGTH) if at else None
    return space.start() if space else min(at, len(text))


def _merge(spans: list[TextSpan]) -> list[TextSpan]:
    merged: list[TextSpan] = []
    for start, end in spans:
        if merged and start < merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


def make_snippet(text: str, spans: Sequence[TextSpan], width: int) -> Snippet:
    """Return a line of at most `width` characters, including ellipses, around the best spans.

    The spans must be sorted and not overlap. The minimum width is three.
    """
    width = max(width, _MIN_WIDTH)
    room = width - 2 * len(_CUT)
    first, last = _choose_range(text, spans, room)
    low, high = (
        max(0, first - _LOOKAROUND * width),
        min(len(text), first + (_LOOKAROUND + 1) * width),
    )
    line, map_offset = _collapse(text[low:high])
    focus = map_offset(first - low), map_offset(min(last, high) - low)
    is_cut = low > 0 or high < len(text) or len(line) > width
    start, end = _choose_window(line, focus, room if is_cut else width)
    head = _CUT if low or start else ""
    tail = _CUT if high < len(text) or end < len(line) else ""
    near = [(max(a, low) - low, min(b, high) - low) for a, b in spans if a < high and b > low]
    marks = _move_marks(
        [(map_offset(a), map_offset(b)) for a, b in near], (start, end), len(head) - start
    )
    return Snippet(f"{head}{line[start:end]}{tail}", marks)


def _choose_range(text: str, spans: Sequence[TextSpan], room: int) -> TextSpan:
    """Return the range of the best group of spans that fits; the start of the text without any."""
    best, best_score = (0, 0), (0, 0)
    words: dict[str, int] = {}
    left = 0
    for right, (start, end) in enumerate(spans):
        word = _word(text, (start, end))
        words[word] = words.get(word, 0) + 1
        while left < right and end - spans[left][0] > room:
            _remove_word(words, _word(text, spans[left]))
            left += 1
        score = len(words), right - left + 1
        if score > best_score:
            best, best_score = (spans[left][0], end), score
    return best


def _remove_word(words: dict[str, int], word: str) -> None:
    words[word] -= 1
    if not words[word]:
        del words[word]


def _word(text: str, span: TextSpan) -> str:
    return text[span[0] : min(span[1], span[0] + _MAX_COMPARED)].casefold()


def _collapse(text: str) -> tuple[str, Callable[[int], int]]:
    """Collapse white space; also return a function that maps offsets to the collapsed text."""
    end = len(text.rstrip())
    gaps = [match.span() for match in _WIDE_SPACE.finditer(text, 0, end)]
    if end and text[0].isspace() and not (gaps and gaps[0][0] == 0):
        gaps.insert(0, (0, 1))
    gaps += [(end, len(text))] * (end < len(text))
    starts = [start for start, _ in gaps]
    shrunk = [stop - start - (0 < start < end) for start, stop in gaps]
    lost = [0, *accumulate(shrunk)]

    def map_offset(at: int) -> int:
        number = bisect_right(starts, at)
        if number and at < gaps[number - 1][1]:
            return starts[number - 1] - lost[number - 1]
        return at - lost[number]

    return " ".join(text.split()), map_offset


def _choose_window(line: str, focus: TextSpan, room: int) -> TextSpan:
    """Return the part of a line to show, with `focus` about in the middle."""
    first, last = focus[0], min(focus[1], focus[0] + room)
    start = max(0, min(first - (room - last + first) // 2, len(line) - room))
    end = min(len(line), start + room)
    start, end = _begin_word(line, start, first), _end_word(line, end, last)
    # Not within the tag of a secret, unless that is what was searched for.
    begin, kept = find_tag_edge(line, start), len(cut_text(line, end))
    return (begin, kept) if begin <= first < kept else (start, end)


def _begin_word(line: str, start: int, limit: int) -> int:
    if start == 0 or line[start - 1] == " ":
        return start
    space = line.find(" ", start, start + min(_MAX_TRIMMED, (limit - start) // 2))
    if space >= 0:
        return space + 1
    while start < limit and _splits_character(line, start):
        start += 1
    return start


def _end_word(line: str, end: int, limit: int) -> int:
    if end == len(line) or line[end] == " ":
        return end
    space = line.rfind(" ", end - min(_MAX_TRIMMED, (end - limit) // 2), end)
    if space >= 0:
        return space
    while end > 1 and _splits_character(line, end):
        end -= 1
    return end


def _splits_character(line: str, at: int) -> bool:
    """Whether a cut would separate a letter from its accent, or split a joined emoji."""
    after = line[at]
    is_mark = unicodedata.category(after)[0] == "M" or after in _COMBINING_VOWELS
    return is_mark or folding.is_ignorable(after) or line[at - 1] == _JOINER


def _move_marks(marks: Sequence[TextSpan], window: TextSpan, shift: int) -> tuple[TextSpan, ...]:
    clipped = [(max(start, window[0]), min(end, window[1])) for start, end in marks]
    return tuple((start + shift, end + shift) for start, end in clipped if start < end)
