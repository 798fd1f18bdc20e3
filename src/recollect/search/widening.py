"""Widen words to what contains them.

A word of three letters or more is widened to what contains it: `ydant` finds *pydantic*, while `a`
would find everything. In a name of several pieces the first may be the end of a word and the last
the beginning of one: `script_head` finds *parse_transcript_header*. If very many words end with the
first piece, texts with the others are read: `2.3-be`. Negated words are not widened.
"""

import re
from collections.abc import Iterator
from typing import Final, Protocol

from recollect.search.folding import fold
from recollect.search.query_tree import (
    And,
    Node,
    Or,
    Prefix,
    Query,
    Regex,
    Word,
    iter_text_terms,
)
from recollect.search.terms import cut_long_runs, is_unspaced, list_spellings

MIN_LENGTH: Final = 3
MAX_TERMS: Final = 256
"""Terms that a word is looked for in: more take longer than the rest of a search."""

MAX_HEADS: Final = 64
"""Terms that the first piece of a name may be the end of, until texts are read instead."""

MAX_WORDS: Final = 16
"""Queries with more words are not widened, because each may become `MAX_TERMS` words."""

_ASCII_PIECE: Final = re.compile("[a-z0-9]+")
_BETWEEN: Final = r"[\W_]+"


class TermList(Protocol):
    """What widening asks about the terms of an index; `most` is a limit, the shortest first."""

    def find_terms(self, part: str, most: int) -> list[str]:
        """Return terms that contain `part`."""

    def find_ending(self, ending: str, most: int) -> list[str]:
        """Return terms that end with `ending`."""


def widen(query: Query, terms: TermList) -> Query | None:
    """Return the query with every word widened; None if nothing changes or it has many words."""
    if len(list(iter_text_terms(query.root))) > MAX_WORDS:
        return None
    root = _widen(query.root, terms)
    return None if root == query.root else Query(root)


def _widen(node: Node, terms: TermList) -> Node:
    match node:
        case Word():
            return widen_word(node, terms)
        case And():
            return And(tuple(_widen(part, terms) for part in node.parts))
        case Or():
            return Or(tuple(_widen(part, terms) for part in node.parts))
    return node


def widen_word(word: Word, terms: TermList) -> Node:
    """Return a word or what contains it, across the separators in it."""
    others = dict.fromkeys(
        other
        for spelling in list_spellings(cut_long_runs(fold(word.text)))
        for other in _iter_containing(spelling, terms)
        if other != word
    )
    return Or((word, *others)) if others else word


def _iter_containing(pieces: tuple[str, ...], terms: TermList) -> Iterator[Node]:
    """Iterate over what finds texts that contain these pieces, the outer ones in longer words."""
    first, rest = pieces[0], " ".join(pieces[1:])
    if is_unspaced(first):
        if rest:
            yield Prefix(" ".join(pieces))
    elif not rest:
        found = terms.find_terms(first, MAX_TERMS) if len(first) >= MIN_LENGTH else []
        yield from map(Word, found)
    elif sum(map(len, pieces)) >= MIN_LENGTH:
        heads = terms.find_ending(first, MAX_HEADS + 1)
        if len(heads) <= MAX_HEADS or not all(map(_ASCII_PIECE.fullmatch, pieces)):
            # The piece itself too: single characters may be missing in the list of terms.
            yield from (Prefix(f"{head} {rest}") for head in dict.fromkeys((first, *heads)))
        else:
            yield And((Prefix(rest), Regex(_BETWEEN.join(pieces), ignores_case=True)))
