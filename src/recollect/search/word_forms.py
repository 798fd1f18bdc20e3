"""Other terms of the index that a word may mean: inflected forms, corrections, and longer words
that contain it.

Inflected forms have the same stem in SQLite's Porter stemmer, so `truncation` also finds
*truncate*. This works for English; words in other scripts have no stem. A word that occurs nowhere
may be misspelt: terms within one edit are corrections, or two edits if it has eight letters or
more. At least one piece of the word is unchanged in a correction, so only terms that contain one of
its pieces are compared.

A word of three letters or more is widened to words that contain it: `ydant` finds *pydantic*, while
`a` would find everything. In a name of several pieces, the first may be the end of a word and the
last the start of one: `script_head` finds *parse_transcript_header*. If very many words end with
the first piece, or few texts have the other pieces, as for `2.3-be`, those texts are read instead.
Negated words are not widened. Between stars, as in `*tion*`, longer words are searched however
common the word itself is.

Search as you type is too slow if very many words contain one: a quick search only considers the
shortest, and reports that.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Final, Protocol

from msgspec import Struct

from recollect.search import query_tree
from recollect.search.folding import fold
from recollect.search.query_plan import to_match
from recollect.search.terms import cut_long_runs, is_unspaced, list_spellings
from recollect.store.text_queries import TextQueries

_CORRECTABLE: Final = re.compile("[a-z]{4,}")
_TWO_EDITS: Final = 8
"""Minimum length of a word for which two edits are allowed."""

_MAX_COMPARED: Final = 20_000
_MAX_SUGGESTED: Final = 4


def find_corrections(term: str, queries: TextQueries) -> list[str]:
    """Return terms that `term` may be a misspelling of, the closest and most frequent first."""
    if not _CORRECTABLE.fullmatch(term) or not queries.has_all_terms:
        return []
    limit = 2 if len(term) >= _TWO_EDITS else 1
    pieces = _split_evenly(term, limit + 1)
    lengths = range(len(term) - limit, len(term) + limit + 1)
    near = {each for piece in pieces for each in queries.find_terms(piece, _MAX_COMPARED, lengths)}
    letters = set(term)
    # An edit changes the length by at most one.
    compared = [each for each in near if len(letters.symmetric_difference(each)) <= 2 * limit]
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


MIN_LENGTH: Final = 3
MAX_TERMS: Final = 32
"""Maximum number of containing terms in a quick search: more would take longer than the rest."""

MAX_ALL_TERMS: Final = 10_000
"""The same for other searches: about a second per gigabyte."""

MAX_HEADS: Final = 1024
"""Maximum number of terms that end with the first piece of a name; beyond it, texts are read."""

_FEW_HEADS: Final = 16
"""Number of those that are searched for, however many texts have the other pieces."""

_MAX_READ: Final = 100
"""Maximum number of texts with the other pieces to read instead of searching for many terms."""

_HEADS_PER_TEXT: Final = 4
"""Number of terms that take as long to look up as one text to read; decides a quick search."""

_MAX_QUICK_HEADS: Final = 64
"""Maximum number of terms for the first piece in a quick search."""

_MAX_COMPARISONS: Final = 200_000
"""The same for a quick search: terms for the first piece per text with the other pieces."""

_MAX_TAILS: Final = 500
"""Number of terms that start with the last piece above which collecting them is slow."""

MAX_TEXTS: Final = 1 << 40
"""More than any number of texts."""

MAX_WORDS: Final = 16
"""Queries with more words are not widened, because each may become `MAX_TERMS` words."""

_ASCII_PIECE: Final = re.compile("[a-z0-9]+")
_BETWEEN: Final = r"[\W_]+"


class TermList(Protocol):
    """Lookups of terms that widening needs; they return at most `limit` terms, shortest first."""

    def find_terms(self, part: str, limit: int) -> list[str]:
        """Return terms that contain `part`."""

    def find_ending(self, ending: str, limit: int) -> list[str]:
        """Return terms that end with `ending`."""

    def find_beginning(self, beginning: str) -> set[str]:
        """Return all terms that begin with `beginning`."""

    def count_matches(self, match: str, limit: int) -> int:
        """Return how many texts match an FTS5 expression; counting may stop at `limit`."""


class Widened(Struct, frozen=True):
    """A node widened to longer words; incomplete if there were more than the limit."""

    node: query_tree.Node
    is_complete: bool = True
    others: tuple[query_tree.Node, ...] = ()
    """The expressions added for a word."""


def widen(
    query: query_tree.Query, terms: TermList, *, is_quick: bool
) -> tuple[query_tree.Query, tuple[str, ...]]:
    """Return the query with every word widened, and the words for which that is incomplete.

    A query with many words is returned unchanged.
    """
    if len(list(query_tree.iter_text_terms(query.root))) > MAX_WORDS:
        return query, ()
    capped: list[str] = []

    def widen_leaf(leaf: query_tree.Node) -> query_tree.Node:
        if not isinstance(leaf, query_tree.Word):
            return leaf
        widened = widen_word(leaf, terms, is_quick=is_quick)
        capped.extend([] if widened.is_complete else [leaf.text])
        return widened.node

    return query_tree.Query(_replace(query.root, widen_leaf)), tuple(capped)


def expand(node: query_tree.Node, terms: TermList) -> Widened:
    """Replace parts of words such as `*tion*` by the terms that contain them, even negated ones."""
    is_complete = True

    def expand_leaf(leaf: query_tree.Node) -> query_tree.Node:
        nonlocal is_complete
        if isinstance(leaf, query_tree.Not):
            return query_tree.Not(_replace(leaf.part, expand_leaf))
        if not isinstance(leaf, query_tree.Inside):
            return leaf
        widened = widen_word(query_tree.Word(leaf.text), terms, is_starred=True)
        is_complete &= widened.is_complete
        return widened.node

    return Widened(_replace(node, expand_leaf), is_complete)


def _replace(
    node: query_tree.Node, change: Callable[[query_tree.Node], query_tree.Node]
) -> query_tree.Node:
    if isinstance(node, query_tree.And | query_tree.Or):
        return type(node)(tuple(_replace(part, change) for part in node.parts))
    return change(node)


def widen_word(
    word: query_tree.Word, terms: TermList, *, is_quick: bool = False, is_starred: bool = False
) -> Widened:
    """Return a node for a word or anything that contains it, even across separators."""
    others: dict[query_tree.Node, None] = {}
    is_complete = True
    for pieces in list_spellings(cut_long_runs(fold(word.text))):
        found, is_all = _list_containing(pieces, terms, is_quick=is_quick, is_starred=is_starred)
        others |= dict.fromkeys(found)
        is_complete &= is_all
    others.pop(word, None)
    node = query_tree.Or((word, *others)) if others else word
    return Widened(node, is_complete, tuple(others))


def _list_containing(
    pieces: tuple[str, ...], terms: TermList, *, is_quick: bool, is_starred: bool
) -> tuple[Sequence[query_tree.Node], bool]:
    """Return an expression for texts with these adjacent pieces, and whether it finds them all."""
    first, rest = pieces[0], pieces[1:]
    if is_unspaced(first):
        return [query_tree.Prefix(" ".join(pieces))] if rest else [], True
    if not rest:
        limit = MAX_TERMS if is_quick else MAX_ALL_TERMS
        found = terms.find_terms(first, limit + 1) if len(first) >= MIN_LENGTH else []
        return [*map(query_tree.Word, found[:limit])], len(found) <= limit
    if sum(map(len, pieces)) < MIN_LENGTH and not is_starred:
        return [], True
    is_open = len(terms.find_beginning(rest[-1])) > _MAX_TAILS
    if is_quick and is_open:
        return _list_without_last(pieces, terms), False
    heads = terms.find_ending(first, MAX_HEADS + 1)
    is_plain = all(map(_ASCII_PIECE.fullmatch, pieces))
    is_large, is_few = len(heads) > MAX_HEADS, len(heads) <= _FEW_HEADS
    max_read = max(_MAX_READ, len(heads) // _HEADS_PER_TEXT if is_quick else 0)
    max_compared = _MAX_COMPARISONS // _FEW_HEADS if is_quick and not is_large else 0
    enough = max(max_read + 1, max_compared)
    count = MAX_TEXTS if is_open or is_few else _count_beginning(rest, terms, enough)
    is_read = count <= max_read
    if is_plain and (is_read or (is_large and not is_quick)):
        between = query_tree.Regex(_BETWEEN.join(pieces), ignores_case=True, narrows=not is_read)
        return [query_tree.And((query_tree.Prefix(" ".join(rest)), between))], True
    limit = len(heads)
    if is_quick:
        fitting = min(_MAX_COMPARISONS // max(count, 1), _MAX_QUICK_HEADS)
        limit = 0 if is_large else max(_FEW_HEADS, fitting)
    # Includes the piece itself: single characters may be missing in the list of terms.
    chosen = dict.fromkeys((first, *heads[:limit]))
    return [query_tree.NamePart(" ".join(pieces), tuple(chosen))], len(heads) <= limit


def _list_without_last(pieces: tuple[str, ...], terms: TermList) -> Sequence[query_tree.Node]:
    """Return an expression for texts with all but the last piece; empty if the first is common."""
    first, *rest, _ = pieces
    if rest:
        return _list_containing((first, *rest), terms, is_quick=True, is_starred=False)[0]
    heads = terms.find_ending(first, _FEW_HEADS + 1)
    is_few = len(heads) <= _FEW_HEADS
    return [*map(query_tree.Word, dict.fromkeys((first, *heads)))] if is_few else []


def _count_beginning(pieces: Sequence[str], terms: TermList, enough: int) -> int:
    """Count the texts with these adjacent pieces, of which the last starts a word.

    At `enough` or more, the count may be too low.
    """
    text = " ".join(pieces)
    # Expanding a prefix is slow if most texts contain it as a word.
    whole = terms.count_matches(to_match(query_tree.Phrase(text)) or "", enough)
    return whole if whole >= enough else terms.count_matches(_match_prefix(text), enough)


def _match_prefix(text: str) -> str:
    return to_match(query_tree.Prefix(text)) or ""
