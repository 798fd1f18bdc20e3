"""Words of a query → the same words and those of the index that contain them.

Only for whole words of three letters or more, and only as many as change little: `ydant` finds
*pydantic*, while `a` would find everything. What is negated stays as narrow as it was.
"""

from collections.abc import Callable
from typing import Final

from recollect.search.terms import query_terms
from recollect.search.tree import And, Node, Or, Query, Word

SHORTEST: Final = 3
MOST_TERMS: Final = 32

FindTerms = Callable[[str, int], list[str]]


def widen(query: Query, find_terms: FindTerms) -> Query | None:
    """The query with every word widened; None when that changes nothing."""
    root = _widen(query.root, find_terms)
    return None if root == query.root else Query(root)


def _widen(node: Node, find_terms: FindTerms) -> Node:
    match node:
        case Word():
            return _widen_word(node, find_terms)
        case And():
            return And(tuple(_widen(part, find_terms) for part in node.parts))
        case Or():
            return Or(tuple(_widen(part, find_terms) for part in node.parts))
    return node


def _widen_word(word: Word, find_terms: FindTerms) -> Node:
    sequences = query_terms(word.text)
    if not sequences or len(sequences[0].terms) != 1 or sequences[0].ends_open:
        return word
    term = sequences[0].terms[0]
    found = find_terms(term, MOST_TERMS) if len(term) >= SHORTEST else []
    others = [Word(other) for other in found if other != term]
    return Or((word, *others)) if others else word
