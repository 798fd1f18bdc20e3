"""Other terms of the index that a word may have meant: its inflected forms, and its neighbours.

Forms share the stem that SQLite's Porter stemmer finds, so `truncation` also means *truncate*. That
is for English; a word of another script has no stem and no other form. A word that occurs nowhere
may be misspelt: what is one edit away, or two from eight letters on, is meant. One of the pieces of
such a term is intact, so that only terms with one of them are compared.
"""

import re
from collections.abc import Iterable
from itertools import pairwise
from typing import Final

from recollect.store.text_queries import TextQueries

_ENGLISH: Final = re.compile("[a-z]{3,}")
_CORRECTABLE: Final = re.compile("[a-z]{4,}")
_TWO_EDITS: Final = 8
"""Letters from which on two edits are forgiven."""

_MAX_FORMS: Final = 32
_MAX_COMPARED: Final = 20_000
_MAX_SUGGESTED: Final = 4


def find_forms(term: str, queries: TextQueries) -> list[str]:
    """Return the other terms of the index with the same stem, in the order of the alphabet."""
    if not _ENGLISH.fullmatch(term):
        return []
    stem = queries.find_stem(term)
    # The last letter of a stem may differ from that of its words: happi and happy.
    known = (each for each in queries.find_beginning(stem[:-1]) if _ENGLISH.fullmatch(each))
    longest = len(term) + len("ization")
    found = (each for each in known if each != term and len(each) <= longest)
    return sorted(each for each in found if queries.find_stem(each) == stem)[:_MAX_FORMS]


def find_corrections(term: str, queries: TextQueries) -> list[str]:
    """Return terms that `term` may be a misspelling of, the closest and most frequent first."""
    if not _CORRECTABLE.fullmatch(term) or not queries.knows_all_terms:
        return []
    limit = 2 if len(term) >= _TWO_EDITS else 1
    pieces = _split_evenly(term, limit + 1)
    near = {each for piece in pieces for each in queries.find_terms(piece, _MAX_COMPARED)}
    compared = (each for each in near if abs(len(each) - len(term)) <= limit)
    found = [(count_edits(term, each), each) for each in compared if _CORRECTABLE.fullmatch(each)]
    return _order([pair for pair in found if pair[0] <= limit], queries)


def _order(found: Iterable[tuple[int, str]], queries: TextQueries) -> list[str]:
    closest = sorted(found)[: _MAX_SUGGESTED * 4]
    counted = [(edits, -queries.count_matches(f'"{term}"'), term) for edits, term in closest]
    return [term for _, count, term in sorted(counted) if count][:_MAX_SUGGESTED]


def _split_evenly(term: str, count: int) -> list[str]:
    edges = [len(term) * at // count for at in range(count + 1)]
    return [term[start:end] for start, end in pairwise(edges)]


def count_edits(first: str, second: str) -> int:
    """Return how many letters were added, left out, changed or swapped with the next one."""
    above: list[int] = []
    row = list(range(len(second) + 1))
    for at, letter in enumerate(first, 1):
        above, last = row, above
        row = [at]
        for to, other in enumerate(second, 1):
            edits = min(above[to] + 1, row[-1] + 1, above[to - 1] + (letter != other))
            is_swapped = at > 1 and to > 1 and letter == second[to - 2] and first[at - 2] == other
            row.append(min(edits, last[to - 2] + 1) if is_swapped else edits)
    return row[-1]
