"""Look up the words of a query one by one: as written, in other forms, in longer words, corrected.

Results are columns and sets rather than objects, because a word may be in a hundred thousand texts.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from itertools import compress, count, repeat
from operator import or_
from typing import Final

from msgspec import Struct

from recollect.search.query_plan import to_match
from recollect.search.query_tree import Inside, Node, Or, Word
from recollect.search.ranking import CORRECTED, FORM, INSIDE, WHOLE, weigh_by_rarity
from recollect.search.terms import query_terms, split_word
from recollect.search.word_forms import find_corrections, widen_word
from recollect.store.text_matches import Matches
from recollect.store.text_queries import TextQueries

ENOUGH: Final = 20
"""Sessions with every word, or texts with one word, that are enough to stop searching."""

_MAX_COMMON: Final = 5_000
"""Number of texts above which a word is too common to matter: it counts as in every session."""

WHOLE_SHARE: Final = (1 << 16) - 1
"""The share of a complete match; shares are integers up to this."""

SHARE_SHIFT: Final = 44
"""Number of bits for the place of a text; the share is in the bits above."""

_MAX_FORMS: Final = 32
_MAX_PLACED: Final = 1_000
"""Maximum number of texts to renumber one by one."""

FILES: Final = (1 << SHARE_SHIFT - 12) - 1
"""The bits of a kind for the number of its file, above twelve other bits."""

SessionKey = str
"""Identifies a session: its id, or the path of a file without one."""


class WordMatches(Struct, frozen=True):
    """The texts that match a word, and how well each does."""

    text: str
    rarity: float
    levels: Sequence[tuple[float, Matches]]
    """Texts by quality of the match, best first; a text may match in several ways."""

    @property
    def merged(self) -> Iterable[Matches]:
        """Matches that together cover all texts."""
        last_quality, last = self.levels[-1]
        # Longer words are searched last, after every other way.
        return [last] if last_quality == INSIDE else [found for _, found in self.levels]


class WordLookup:
    """Looks up the words of a query one by one, with their alternatives."""

    def __init__(
        self, queries: TextQueries, find: Callable[[Node], Matches], *, is_quick: bool
    ) -> None:
        self._queries = queries
        self._find = find
        self._is_quick = is_quick
        self.words: list[WordMatches] = []
        self.nodes: list[Node] = []
        """Nodes of the query, with the terms to search for."""
        self.marked: list[Node] = []
        """Nodes to highlight in a text."""
        self.unknown: list[str] = []
        self.corrected: dict[str, str] = {}
        self.split: list[str] = []
        self.capped: list[str] = []

    def add(self, word: Word, *, is_absent: bool = False) -> None:
        """Look up a word, or its pieces if it occurs nowhere; `is_absent` skips the word itself."""
        if not self._add(word, is_absent=is_absent):
            self._add_pieces(word)

    def _add(self, word: Word, *, is_piece: bool = False, is_absent: bool = False) -> bool:
        """Look up a word and its forms; if it is rare, also longer words; if unknown, corrections.

        A piece of an unknown word is searched for in longer words only if it is not a word itself.
        Returns whether anything was found.
        """
        match = None if is_absent else to_match(word)
        matching = self._queries.count_matches(match, _MAX_COMMON + 1) if match else 0
        if matching > _MAX_COMMON:
            return True
        term = _find_single_term(word)
        forms = tuple(map(Word, self._queries.find_forms(term, _MAX_FORMS))) if term else ()
        levels = [*self._look_up(word, WHOLE)] if matching else []
        levels += self._look_up_any(forms, FORM)
        found_enough = sum(len(found.handles) for _, found in levels) >= (1 if is_piece else ENOUGH)
        if not found_enough and not (is_piece and self._is_quick):
            wider = widen_word(word, self._queries, is_quick=self._is_quick)
            self.capped += [] if wider.is_complete else [word.text]
            if wider.others:
                found = (word, *wider.others) if matching else wider.others
                levels += self._look_up(Or((*found, *forms)), INSIDE, Inside(word.text))
        if not levels and term and not matching:
            corrections = find_corrections(term, self._queries)
            levels += self._look_up_any(tuple(map(Word, corrections[:1])), CORRECTED)
            if corrections:
                self.corrected[word.text] = corrections[0]
        if levels:
            most = max(len(found.handles) for _, found in levels)
            rarity = weigh_by_rarity(most, self._queries.text_count)
            self.words.append(WordMatches(word.text, rarity, levels))
        return bool(levels or matching)

    def gather(self) -> Matches:
        """Return all texts that have any of the words."""
        found = (each for word in self.words for each in word.merged)
        return reduce(_merge, found, Matches([], [], []))

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
        """Return the texts that match, if any, with a quality."""
        found = self._find(node)
        self.nodes.append(node)
        self.marked.append(marked or node)
        return [(quality, found)] if found.handles else []


def _merge(first: Matches, second: Matches) -> Matches:
    """Return the texts of both, oldest first."""
    if not first.handles:
        return second
    is_known = set(first.handles).__contains__
    added = keep(second, [not each for each in map(is_known, second.handles)])
    if not added.handles:
        return first
    handles = first.handles + added.handles
    # Both are sorted, so sorting is just a merge.
    order = sorted(range(len(handles)), key=handles.__getitem__)
    return Matches(
        list(map(handles.__getitem__, order)),
        _reorder(first.places, added.places, order) or [],
        _reorder(first.traits, added.traits, order),
    )


def _reorder(
    first: list[int] | None, second: list[int] | None, order: Iterable[int]
) -> list[int] | None:
    return (
        None if first is None or second is None else list(map((first + second).__getitem__, order))
    )


def keep(matches: Matches, is_kept: Sequence[int]) -> Matches:
    """Return the matches for which `is_kept` is true."""
    traits = None if matches.traits is None else list(compress(matches.traits, is_kept))
    handles, places = (
        list(compress(column, is_kept)) for column in (matches.handles, matches.places)
    )
    return Matches(handles, places, traits, matches.is_cut)


class TextShares(Struct, frozen=True):
    """The share of the query in each text, by handle: `usual`, with some exceptions."""

    usual: int = WHOLE_SHARE
    others: Mapping[int, int] = {}

    def classify(self, matches: Matches) -> tuple[list[int], Counter[int]]:
        """Return the kind of each text, and the number of texts of each kind.

        A kind is one number that encodes the place of a text and the share of the query in it. With
        the usual share, it is the place alone, because that is the case for most texts.
        """
        others = self.others
        if not others:
            return matches.places, matches.sizes
        if len(others) > _MAX_PLACED:
            shifted = {handle: share << SHARE_SHIFT for handle, share in others.items()}
            kinds = list(map(or_, matches.places, map(shifted.get, matches.handles, repeat(0))))
            return kinds, Counter(kinds)
        kinds, sizes = list(matches.places), matches.sizes.copy()
        for at in compress(count(), map(others.__contains__, matches.handles)):
            sizes[kinds[at]] -= 1
            kinds[at] |= others[matches.handles[at]] << SHARE_SHIFT
            sizes[kinds[at]] += 1
        return kinds, +sizes

    def share_of_kind(self, kind: int) -> int:
        """Return the share of the query in texts of a kind."""
        return kind >> SHARE_SHIFT or self.usual

    def cover(self, handle: int) -> float:
        """Return the share of the query in a text, from 0 to 1."""
        return self.others.get(handle, self.usual) / WHOLE_SHARE


def file_of(kind: int) -> int:
    """Return the number of the file of texts of a kind."""
    return kind >> 12 & FILES


def move_kind(kind: int, file_id: int) -> int:
    """Return the kind of a text after moving it to another file."""
    return kind & ~(FILES << 12) | file_id << 12


def cover_texts(words: Sequence[WordMatches]) -> TextShares:
    """Return the share of the query in each text."""
    total = sum(word.rarity for word in words)
    largest = max(
        ((word, level) for word in words for level in word.levels),
        key=lambda each: len(each[1][1].handles),
        default=None,
    )
    if largest is None:
        return TextShares()
    # Texts that only match this word, in this way, have the usual share and can be skipped.
    word, (quality, matches) = largest
    usual, with_usual = share_of(quality * word.rarity / total), set(matches.handles)
    own = _cover(word, total, without=matches)
    own = {
        handle: max(share, usual if handle in with_usual else 0) for handle, share in own.items()
    }
    shares: dict[int, int] = {}
    for other in words:
        if other is not word:
            _add_shares(shares, _cover(other, total))
    for handle in shares.keys() & with_usual - own.keys():
        shares[handle] += usual
    _add_shares(shares, own)
    return TextShares(usual, shares)


def _cover(word: WordMatches, total: float, without: Matches | None = None) -> dict[int, int]:
    """Return the shares of texts with a word, except those of one quality."""
    found: dict[int, int] = {}
    for quality, matches in reversed(word.levels):
        if matches is not without:
            found |= dict.fromkeys(matches.handles, share_of(quality * word.rarity / total))
    return found


def _add_shares(shares: dict[int, int], found: dict[int, int]) -> None:
    for handle in shares.keys() & found.keys():
        found[handle] += shares[handle]
    shares |= found


def share_of(coverage: float) -> int:
    """Return the share of the query in a text, as an integer."""
    return int(coverage * WHOLE_SHARE)


def cover_sessions(
    words: Sequence[WordMatches], names: Mapping[int, SessionKey]
) -> dict[SessionKey, dict[str, float]]:
    """Return the share of the query in each session, by word."""
    total = sum(word.rarity for word in words)
    sessions: dict[SessionKey, dict[str, float]] = {}
    for word in words:
        for quality, matches in reversed(word.levels):
            for file in names.keys() & matches.files:
                has = sessions.setdefault(names[file], {})
                has[word.text] = max(quality * word.rarity / total, has.get(word.text, 0.0))
    return sessions


def _find_single_term(word: Word) -> str | None:
    sequences = query_terms(word.text)
    terms = sequences[0].terms if sequences else ()
    return terms[0] if len(terms) == 1 and not sequences[0].ends_open else None
