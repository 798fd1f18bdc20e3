"""Where in a text the words of a query stand, for highlighting and for snippets.

Follows the same spellings as the index, on the folded text, and maps what it finds back to the
original. Regular expressions are left to the engine that runs them. Each needle is searched for by
itself, as a literal, and boundaries are checked afterwards: several times as fast as an expression
with look-behind, which cannot skip.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import Final

from recollect.search.folding import (
    PICTOGRAPHS,
    SEPARATORS,
    UNSPACED,
    Folded,
    fold,
    fold_with_places,
    vanishes,
)
from recollect.search.identifiers import is_part_boundary
from recollect.search.terms import spell
from recollect.search.tree import Prefix, Query, Sought, iter_sought

Span = tuple[int, int]

# Each needle costs a pass over the text; nobody tells more than this many colours apart.
_MOST_NEEDLES: Final = 64
_WINDOW: Final = 8192
_LONGEST_WORD: Final = 100
_SPACE: Final = re.compile(r"\s")
_LETTER: Final = rf"[^{SEPARATORS}{UNSPACED}{PICTOGRAPHS}]"
_INSIDE: Final = re.compile(_LETTER * 2)
# Possessive, so that a failed match never tries a shorter gap.
_GAP: Final = rf"([{SEPARATORS}]*+)"


def find_spans(text: str, query: Query) -> list[Span]:
    """The stretches of the text that hold what the query seeks, in order, none overlapping."""
    folded = fold_with_places(text)
    found = [span for needle in _find_needles(query) for span in _iter_spans(text, folded, needle)]
    return _unite(sorted(found))


def choose_window(text: str, query: Query) -> Span:
    """The first stretch of a long text that holds most of what is sought, to look at that alone.

    Of a text where nothing is spelt the way it is sought, that is all of it.
    """
    if len(text) <= 2 * _WINDOW:
        return 0, len(text)
    words = {sought.text.lower() for sought in iter_sought(query.root)}
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


# A query is asked of dozens of texts in a row, and may have been widened to dozens of words.
@lru_cache(maxsize=8)
def _find_needles(query: Query) -> tuple[re.Pattern[str], ...]:
    needles = dict.fromkeys(
        needle for sought in iter_sought(query.root) for needle in _iter_needles(sought)
    )
    return tuple(map(re.compile, islice(needles, _MOST_NEEDLES)))


def _iter_needles(sought: Sought) -> Iterator[str]:
    """Expressions for the spellings of what is sought, with a group for each gap in it."""
    for spelling in spell(fold(sought.text)):
        needle = _GAP.join(map(re.escape, spelling))
        yield f"{needle}{_LETTER}*+" if isinstance(sought, Prefix) else needle


def _iter_spans(text: str, folded: Folded, needle: re.Pattern[str]) -> Iterator[Span]:
    at = 0
    while match := needle.search(folded.text, at):
        if all(_is_boundary(text, folded, place) for place in _iter_joints(match)):
            yield _to_source(text, folded, match)
            at = match.end()
        else:
            at = match.start() + 1


def _iter_joints(match: re.Match[str]) -> Iterator[int]:
    """The ends of the match, and where two words of it touch."""
    yield from match.span()
    for start, end in match.regs[1:]:
        if start == end:
            yield start


def _is_boundary(text: str, folded: Folded, at: int) -> bool:
    if at == 0 or not _INSIDE.match(folded.text, at - 1):
        return True
    return is_part_boundary(text, folded.source_of(at, at + 1)[0])


def _to_source(text: str, folded: Folded, match: re.Match[str]) -> Span:
    start, end = folded.source_of(*match.span())
    while end < len(text) and vanishes(text[end]):
        end += 1
    return start, end


def _next_space(text: str, at: int) -> int:
    """A place near `at` that cuts no word, unless the word is endless."""
    space = _SPACE.search(text, at, at + _LONGEST_WORD) if at else None
    return space.start() if space else min(at, len(text))


def _unite(spans: list[Span]) -> list[Span]:
    united: list[Span] = []
    for start, end in spans:
        if united and start < united[-1][1]:
            united[-1] = united[-1][0], max(end, united[-1][1])
        else:
            united.append((start, end))
    return united
