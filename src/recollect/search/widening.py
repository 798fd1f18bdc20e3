"""Rewrite queries with the terms of the index: expand prefixes for speed, widen words for recall.

For a prefix, FTS5 merges the texts of all matching terms before it returns the first; for a whole
term it returns the newest texts at once. So frequent terms are queried by themselves, and only the
ranges between them as prefixes. A word of three letters or more is widened to the terms that
contain it, if there are few: `ydant` finds *pydantic*, while `a` would find everything. Negated
words are not widened.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import groupby
from typing import Final

from recollect.search.query_tree import And, Node, Or, Query, Word, iter_text_terms
from recollect.search.terms import TermSequence, query_terms
from recollect.store.text_queries import TextQueries

ExpandPrefix = Callable[[TermSequence], Sequence[TermSequence]]
"""Returns alternative sequences that together match the same texts as the given one."""


def keep_prefix(sequence: TermSequence) -> Sequence[TermSequence]:
    """Return only the sequence itself."""
    return (sequence,)


def make_prefix_expander(queries: TextQueries) -> ExpandPrefix:
    """Return a function that expands prefixes with the terms of an index."""

    def expand_prefix(sequence: TermSequence) -> Sequence[TermSequence]:
        if not sequence.ends_open or len(sequence.terms) > 1 or not queries.knows_all_terms:
            return keep_prefix(sequence)
        (prefix,) = sequence.terms
        frequent = queries.find_frequent(prefix)
        if not frequent:
            return keep_prefix(sequence)
        # Including the prefix itself: new single characters are not in the list of terms.
        terms = sorted({prefix, *queries.find_beginning(prefix)})
        return tuple(cover_prefix(prefix, terms, frequent))

    return expand_prefix


def cover_prefix(
    prefix: str, terms: Sequence[str], frequent: Collection[str]
) -> Iterator[TermSequence]:
    """Iterate over terms and longer prefixes that match the same as `prefix`.

    No prefix among them matches a frequent term. `terms` are all terms with the prefix, sorted.
    """
    within = {term for term in frequent if term.startswith(prefix)}
    if not within:
        yield TermSequence((prefix,), ends_open=True)
        return
    for head, group in groupby(terms, lambda term: term[: len(prefix) + 1]):
        members = list(group)
        if len(members) == 1:
            yield TermSequence((members[0],))
        else:
            yield from cover_prefix(head, members, within)


MIN_LENGTH: Final = 3
MAX_TERMS: Final = 32
MAX_WORDS: Final = 16
"""Queries with more words are not widened, because each may become `MAX_TERMS` words."""

FindTerms = Callable[[str, int], list[str]]


def widen(query: Query, find_terms: FindTerms) -> Query | None:
    """Return the query with every word widened; None if nothing changes or it has many words."""
    if len(list(iter_text_terms(query.root))) > MAX_WORDS:
        return None
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
    found = find_terms(term, MAX_TERMS) if len(term) >= MIN_LENGTH else []
    others = [Word(other) for other in found if other != term]
    return Or((word, *others)) if others else word
