"""Look up the words of a query one by one: as written, in other forms, in longer words, corrected.

What is found is counted in columns and sets, because a word may be in a hundred thousand texts.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from itertools import compress
from typing import Final

from msgspec import Struct

from recollect.search.query_plan import to_match
from recollect.search.query_tree import Inside, Node, Or, Word
from recollect.search.ranking import CORRECTED, FORM, INSIDE, WHOLE, weigh_rarity
from recollect.search.terms import query_terms, split_word
from recollect.search.word_forms import find_corrections, find_forms, widen_word
from recollect.store.text_matches import Matches
from recollect.store.text_queries import TextQueries

ENOUGH: Final = 20
"""Sessions with every word, or texts with one word, from which on nothing else is looked for."""

_MAX_COMMON: Final = 5_000
"""Texts with a word beyond which it says little: it is taken to be in every session."""

SHARES: Final = 1 << 16
"""How finely the share of a query in a text is measured; one more than the whole."""

Session = str
"""Identifies a session: its id, or the path of a file without one."""


class SoughtWord(Struct, frozen=True):
    """A word with the texts that have it, and how good a match each is."""

    text: str
    rarity: float
    levels: Sequence[tuple[float, Matches]]
    """Texts by quality, the best first; a text may have the word in several ways."""

    @property
    def united(self) -> Iterable[Matches]:
        """Matches that have all of the texts."""
        last_quality, last = self.levels[-1]
        # What was looked for in longer words was looked for in every other way too.
        return [last] if last_quality == INSIDE else [found for _, found in self.levels]


class SoughtWords:
    """The words of a query with what else they may mean, looked up one by one."""

    def __init__(self, queries: TextQueries, find: Callable[[Node], Matches]) -> None:
        self._queries = queries
        self._find = find
        self.words: list[SoughtWord] = []
        self.nodes: list[Node] = []
        """What was looked up."""
        self.marked: list[Node] = []
        """How it is highlighted in a text."""
        self.unknown: list[str] = []
        self.corrected: dict[str, str] = {}
        self.split: list[str] = []
        self.capped: list[str] = []

    def add(self, word: Word) -> None:
        """Look up a word, or its pieces if it occurs nowhere."""
        if not self._add(word):
            self._add_pieces(word)

    def _add(self, word: Word, *, is_piece: bool = False) -> bool:
        """Look up a word and its forms; if rare, also in longer words; if unknown, corrected.

        A piece of a word that is unknown as a whole is looked for in longer words only if it is no
        word itself. Returns whether the word occurs anywhere, in one of these ways.
        """
        match = to_match(word)
        count = self._queries.count_matches(match) if match else 0
        if count > _MAX_COMMON:
            return True
        term = _find_single_term(word)
        forms = tuple(map(Word, find_forms(term, self._queries))) if term else ()
        levels = [*self._look_up(word, WHOLE)] if count else []
        levels += self._look_up_any(forms, FORM)
        if sum(len(found.handles) for _, found in levels) < (1 if is_piece else ENOUGH):
            wider = widen_word(word, self._queries)
            self.capped += [] if wider.is_complete else [word.text]
            if wider.node != word:
                levels += self._look_up(Or((wider.node, *forms)), INSIDE, Inside(word.text))
        if not levels and term and not count:
            corrections = find_corrections(term, self._queries)
            levels += self._look_up_any(tuple(map(Word, corrections[:1])), CORRECTED)
            if corrections:
                self.corrected[word.text] = corrections[0]
        if levels:
            found = max(len(found.handles) for _, found in levels)
            rarity = weigh_rarity(found, self._queries.text_count)
            self.words.append(SoughtWord(word.text, rarity, levels))
        return bool(levels or count)

    def gather(self) -> Matches:
        """Return all texts that have any of the words."""
        found = (each for word in self.words for each in word.united)
        return reduce(_unite, found, Matches([], [], []))

    def _add_pieces(self, word: Word) -> None:
        pieces, before = split_word(word.text), len(self.words)
        missing = [
            piece
            for piece in pieces
            if len(pieces) == 1 or not self._add(Word(piece), is_piece=True)
        ]
        if len(self.words) == before:
            self.unknown.append(word.text)
            return
        self.unknown += missing
        self.split.append(word.text)

    def _look_up_any(self, words: tuple[Word, ...], quality: float) -> list[tuple[float, Matches]]:
        return self._look_up(Or(words), quality) if words else []

    def _look_up(
        self, node: Node, quality: float, marked: Node | None = None
    ) -> list[tuple[float, Matches]]:
        """Return the texts that have it, if any, with a quality."""
        found = self._find(node)
        self.nodes.append(node)
        self.marked.append(marked or node)
        return [(quality, found)] if found.handles else []


def _unite(first: Matches, second: Matches) -> Matches:
    """Return the texts of both, the oldest first."""
    if not first.handles:
        return second
    known = set(first.handles)
    is_new = [handle not in known for handle in second.handles]
    if not any(is_new):
        return first
    added = keep(second, is_new)
    handles = first.handles + added.handles
    order = sorted(range(len(handles)), key=handles.__getitem__)
    return Matches(
        [handles[at] for at in order],
        _reorder(first.places, added.places, order) or [],
        _reorder(first.values, added.values, order),
    )


def _reorder(
    first: list[int] | None, second: list[int] | None, order: Iterable[int]
) -> list[int] | None:
    return (
        None if first is None or second is None else list(map((first + second).__getitem__, order))
    )


def keep(matches: Matches, is_kept: Sequence[int]) -> Matches:
    """Return the matches for which `is_kept` is true."""
    values = None if matches.values is None else list(compress(matches.values, is_kept))
    handles, places = (
        list(compress(column, is_kept)) for column in (matches.handles, matches.places)
    )
    return Matches(handles, places, values, matches.is_cut)


def cover_texts(words: Sequence[SoughtWord]) -> dict[int, int]:
    """Return how much of the query each text contains, by handle."""
    total = sum(word.rarity for word in words)
    shares: dict[int, int] = {}
    for word in words:
        found: dict[int, int] = {}
        for quality, matches in reversed(word.levels):
            found |= dict.fromkeys(matches.handles, share_of(quality * word.rarity / total))
        for handle in shares.keys() & found.keys():
            found[handle] += shares[handle]
        shares |= found
    return shares


def share_of(coverage: float) -> int:
    """Return how much of a query a text contains, in steps."""
    return int(coverage * (SHARES - 1))


def cover_sessions(
    words: Sequence[SoughtWord], names: Mapping[int, Session]
) -> dict[Session, dict[str, float]]:
    """Return how much of the query each session contains, by word."""
    total = sum(word.rarity for word in words)
    sessions: dict[Session, dict[str, float]] = {}
    for word in words:
        for quality, matches in reversed(word.levels):
            for file in names.keys() & {place >> 12 for place in set(matches.places)}:
                has = sessions.setdefault(names[file], {})
                has[word.text] = max(quality * word.rarity / total, has.get(word.text, 0.0))
    return sessions


def _find_single_term(word: Word) -> str | None:
    sequences = query_terms(word.text)
    terms = sequences[0].terms if sequences else ()
    return terms[0] if len(terms) == 1 and not sequences[0].ends_open else None
