"""The beginning of a word → words and longer beginnings that find the same texts sooner.

FTS5 unites the texts of all terms that begin alike before it gives out the first, of all the years
that there are. The newest texts of a whole term it gives out at once. So terms that many texts
hold are asked for by themselves, and what is united are those between them.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import groupby

from recollect.search.terms import TermSequence
from recollect.store.text_queries import TextQueries

Spell = Callable[[TermSequence], Sequence[TermSequence]]
"""Sequences of terms that together find what one finds."""


def spell_as_is(sequence: TermSequence) -> Sequence[TermSequence]:
    """Nothing but the sequence itself."""
    return (sequence,)


def make_spell(queries: TextQueries) -> Spell:
    """A function that spells beginnings out with the terms of an index."""

    def spell(sequence: TermSequence) -> Sequence[TermSequence]:
        if not sequence.ends_open or len(sequence.terms) > 1 or not queries.knows_all_terms:
            return spell_as_is(sequence)
        (beginning,) = sequence.terms
        frequent = queries.find_frequent(beginning)
        if not frequent:
            return spell_as_is(sequence)
        # The beginning itself too: single characters are not noted when they are new.
        terms = sorted({beginning, *queries.find_beginning(beginning)})
        return tuple(cover(beginning, terms, frequent))

    return spell


def cover(
    beginning: str, terms: Sequence[str], frequent: Collection[str]
) -> Iterator[TermSequence]:
    """What finds the same as a beginning, where no frequent term is found by a beginning.

    `terms` are all that begin so, in order.
    """
    within = {term for term in frequent if term.startswith(beginning)}
    if not within:
        yield TermSequence((beginning,), ends_open=True)
        return
    for head, group in groupby(terms, lambda term: term[: len(beginning) + 1]):
        members = list(group)
        if len(members) == 1:
            yield TermSequence((members[0],))
        else:
            yield from cover(head, members, within)
