"""What a regular expression demands → an expression of FTS5 that every match of it fulfils.

A word of a literal is a whole term only if the literal shows where it begins and ends, and the
beginning of a term if it shows only that; otherwise it may be the middle of any term that contains
it. Texts of which the index holds a part only are always candidates.
"""

import re
from collections.abc import Iterator
from typing import Final

from recollect.search.literals import Demand, Either, Every, Literal, demand_of
from recollect.search.match import join_any, quote_terms
from recollect.search.runs import TERM_LIMIT
from recollect.search.terms import CUT, TermSequence, query_terms
from recollect.search.tree import Regex
from recollect.store.text_queries import TextQueries

SHORTEST: Final = 3
MOST_TERMS: Final = 400
"""Terms around a word: beyond them, looking them all up takes as long as reading texts."""

# Only characters that stand for themselves in the index, alone and beside all others.
_PIECE: Final = re.compile(r"([0-9A-Za-z]+)|([\u3400-\u4dbf\u4e00-\u9fff]+)")
_SEPARATORS: Final = frozenset(map(chr, range(128))) - frozenset(
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)


def find_candidates(regex: Regex, queries: TextQueries) -> str | None:
    """The expression for texts that may match; None if it would have to be all."""
    found = _Candidates(queries).express(demand_of(regex.pattern))
    return None if found is None else f'({found} OR "{CUT}")'


class _Candidates:
    """Turns what is demanded into terms, looking up those that contain a word."""

    def __init__(self, queries: TextQueries) -> None:
        self._queries = queries

    def express(self, demand: Demand) -> str | None:
        """The expression for a demand; None if it is no help."""
        match demand:
            case Literal():
                return _join_every(filter(None, self._iter_words(demand.text)))
            case Every():
                return _join_every(filter(None, map(self.express, demand.parts)))
            case Either():
                found = [self.express(part) for part in demand.parts]
                return None if None in found else join_any(filter(None, found))

    def _iter_words(self, text: str) -> Iterator[str | None]:
        for match in _PIECE.finditer(text):
            if match[2]:
                yield join_any(map(quote_terms, query_terms(match[2])))
                continue
            word = match[1].lower()
            is_begun = text[match.start() - 1 : match.start()] in _SEPARATORS
            is_ended = text[match.end() : match.end() + 1] in _SEPARATORS
            if len(word) > TERM_LIMIT:
                continue
            if is_begun:
                yield quote_terms(TermSequence((word,), ends_open=not is_ended))
            else:
                yield self._express_middle(word, is_ended=is_ended)

    def _express_middle(self, word: str, *, is_ended: bool) -> str | None:
        if len(word) < SHORTEST or not self._queries.knows_all_terms:
            return None
        terms = self._queries.find_terms(word, MOST_TERMS + 1)
        if len(terms) > MOST_TERMS:
            return None
        wanted = [term for term in terms if not is_ended or term.endswith(word)]
        return join_any(quote_terms(TermSequence((term,))) for term in wanted or [word])


def _join_every(expressions: Iterator[str]) -> str | None:
    joined = " AND ".join(expressions)
    return f"({joined})" if joined else None
