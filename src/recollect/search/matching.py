"""Find all texts that match a query, and how much of it each of them and their session contains.

A text that has every word matches. If that are few, words may be missing, lie in other texts of
the session, and count for less in another form: inflected, inside a longer word, or corrected where
the word occurs nowhere. Only plain words are treated that way: phrases, prefixes, fields, regular
expressions and what is joined by OR or negated were meant as they were written.
"""

import time
from collections import Counter
from collections.abc import Callable, Container, Mapping, Sequence
from itertools import compress
from typing import Final

from msgspec import Struct

from recollect.search.query_plan import (
    ConditionBuilder,
    TextReader,
    find_candidates,
    make_search_plan,
    to_match,
)
from recollect.search.query_tree import And, FieldTerm, Node, Or, Query, Word
from recollect.search.ranking import CORRECTED, FORM, INSIDE, WHOLE, weigh_rarity
from recollect.search.terms import query_terms, split_word
from recollect.search.widening import widen, widen_word
from recollect.search.word_forms import find_corrections, find_forms
from recollect.store import LAST_SECOND
from recollect.store.text_conditions import Condition, all_of, holds_secret
from recollect.store.text_queries import Matches, TextQueries, unpack_place

ENOUGH: Final = 20
"""Sessions with every word, or texts with one word, from which on nothing else is looked for."""

_MIN_SHARE: Final = 1 / 3
"""A session is listed if it has at least this share of what the best one has of the query, and a
text if it has at least this share of what the best one in its session has."""

_MAX_WORDS: Final = 16
_MAX_COMMON: Final = 5_000
"""Texts with a word beyond which it tells little: it is taken to be in every session."""

_MAX_COMPARED: Final = 20_000
"""Matches that are compared to find copies; among more only those are known that are marked so."""

Session = str
"""What tells sessions apart: the id, or the path of a file without one."""


class Found(Struct, frozen=True, kw_only=True):
    """All matching texts, without copies, and what is known of their sessions."""

    handles: Sequence[int]
    places: Sequence[int]
    coverages: Mapping[int, float] | None
    """By handle; None if every text has every word."""
    missing: Mapping[Session, tuple[str, ...]]
    """The words that a session does not have."""
    session_coverages: Mapping[Session, float]
    """1 for sessions that are not in it."""
    query: Query
    """What to highlight."""
    unknown: tuple[str, ...] = ()
    """Words that occur nowhere."""
    corrected: Mapping[str, str] = {}
    """What is suggested for those of them that are misspelt."""
    split: tuple[str, ...] = ()
    """Names that occur nowhere as a whole: their parts are searched for instead."""
    is_exact: bool = True


class Matcher:
    """Finds texts on one snapshot of the index."""

    def __init__(
        self, queries: TextQueries, reader: TextReader, scope: Condition, deadline: float
    ) -> None:
        self._queries = queries
        self._reader = reader
        self._scope = scope
        self._deadline = deadline
        self._is_cut = False

    def find(self, query: Query) -> Found:
        """Return all texts that match a query, with fewer of its words if need be."""
        strict = self._find(query.root)
        handles, places = self._drop_copies(strict)
        found = Found(
            handles=handles, places=places, coverages=None, missing={}, session_coverages={},
            query=query, is_exact=not strict.is_cut,
        )  # fmt: skip
        sessions = {self.name_session(file) for file in {place >> 12 for place in places}}
        parts = query.root.parts if isinstance(query.root, And) else (query.root,)
        is_in_session = any(
            isinstance(each, FieldTerm) and each.name == "session" for each in parts
        )
        enough = 1 if is_in_session else ENOUGH
        if len(sessions) >= enough or time.monotonic() >= self._deadline:
            return found
        words = [part for part in parts if isinstance(part, Word)]
        if not words or len(words) > _MAX_WORDS:
            return self._find_wider(query, found)
        others = [part for part in parts if part not in words]
        return self._find_loosely(words, others) or found

    def find_secret(self, digest: bytes, query: Query) -> Found:
        """Return the texts of records that hold a secret, which no word of them shows."""
        condition = all_of([holds_secret(digest), self._scope])
        matches = self._queries.find_matches(None, condition, deadline=self._deadline)
        handles, places = self._drop_copies(matches)
        return Found(
            handles=handles, places=places, coverages=None, missing={}, session_coverages={},
            query=query, is_exact=not matches.is_cut,
        )  # fmt: skip

    def name_session(self, file_id: int) -> Session:
        """Return the session of a file."""
        file = self._queries.files[file_id]
        return file.session_id or file.path

    def _find(self, node: Node) -> Matches:
        query = Query(node)
        builder = ConditionBuilder(self._queries, self._reader, query)
        plan = make_search_plan(
            query,
            builder.make_condition,
            lambda regex: find_candidates(regex, self._queries),
        )
        found = self._queries.find_matches(
            plan.match,
            all_of([plan.condition, self._scope]),
            deadline=self._deadline,
            checks=builder.checks,
        )
        self._is_cut |= found.is_cut
        return found

    def _find_wider(self, query: Query, found: Found) -> Found:
        """Return what matches with parts of longer words too, in a query that is not plain."""
        wider = widen(query, self._queries)
        if wider is None:
            return found
        matches = self._find(wider.root)
        handles, places = self._drop_copies(matches)
        whole = set(found.handles)
        coverages = {handle: WHOLE if handle in whole else INSIDE for handle in handles}
        return Found(
            handles=handles, places=places, coverages=coverages, missing={}, session_coverages={},
            query=wider, is_exact=not self._is_cut,
        )  # fmt: skip

    def _find_loosely(self, words: Sequence[Word], others: Sequence[Node]) -> Found | None:
        """Return texts with some of the words; None if all words are too common for that."""
        sought = _SoughtWords(self._queries, lambda node: self._find(_join(node, others)))
        for word in words:
            sought.add(word)
        if not sought.words and not sought.unknown:
            return None
        handles, places = self._drop_copies(sought.gather())
        place_of = dict(zip(handles, places, strict=True))
        total = sum(each.rarity for each in sought.words)
        texts: dict[int, float] = {}
        sessions: dict[Session, dict[str, float]] = {}
        names = {file: self.name_session(file) for file in {place >> 12 for place in places}}
        for each in sought.words:
            weight, best = each.rarity / total, dict[int, float]()
            for handle, quality in each.qualities.items():
                place = place_of.get(handle)
                if place is not None:
                    texts[handle] = texts.get(handle, 0.0) + quality * weight
                    best[place >> 12] = max(quality, best.get(place >> 12, 0.0))
            for file, quality in best.items():
                found = sessions.setdefault(names[file], {})
                found[each.text] = max(quality * weight, found.get(each.text, 0.0))
        coverages = {name: min(sum(found.values()), 1.0) for name, found in sessions.items()}
        listed = _keep_best(coverages)
        kept = _keep_best_texts(texts, {h: names[p >> 12] for h, p in place_of.items()}, listed)
        missing = {
            name: tuple(each.text for each in sought.words if each.text not in sessions[name])
            for name in listed
        }
        return Found(
            handles=[handle for handle in handles if handle in kept],
            places=[place for handle, place in zip(handles, places, strict=True) if handle in kept],
            coverages=kept,
            missing={name: left for name, left in missing.items() if left},
            session_coverages=listed,
            query=Query(And((*words, *sought.nodes, *others))),
            unknown=tuple(sought.unknown),
            corrected=sought.corrected,
            split=tuple(sought.split),
            is_exact=not self._is_cut,
        )

    def _drop_copies(self, matches: Matches) -> tuple[list[int], list[int]]:
        """Return handles and places without copies: of each text the original is kept."""
        keys = matches.keys
        if len(keys) > _MAX_COMPARED:
            is_original = [not place & 2 for place in matches.places]
            return (
                list(compress(matches.handles, is_original)),
                list(compress(matches.places, is_original)),
            )
        if len(set(keys)) == len(keys):
            return matches.handles, matches.places
        repeated = {key for key, count in Counter(keys).items() if count > 1}
        copies: dict[int, list[int]] = {}
        for at in [at for at, key in enumerate(keys) if key in repeated]:
            copies.setdefault(keys[at], []).append(at)
        is_kept = bytearray(b"\x01") * len(keys)
        for numbers in copies.values():
            original = min(numbers, key=lambda at: self._originality(matches, at))
            for at in numbers:
                is_kept[at] = at == original
        return list(compress(matches.handles, is_kept)), list(compress(matches.places, is_kept))

    def _originality(self, matches: Matches, at: int) -> tuple[bool, bool, int, str, int]:
        """Sort key that puts the original before its copies, like the usage ledger.

        The original is not marked as a copy, not a subagent's, and in the file that began first. A
        copy with its own timestamp is in a file that began no earlier; text ids are not exact
        enough.
        """
        place = unpack_place(matches.places[at])
        file = self._queries.files[place.file_id]
        began = LAST_SECOND * 1000 if file.began is None else file.began
        return place.is_copy, place.is_subagent, began, file.path, matches.handles[at]


class _SoughtWord(Struct, frozen=True):
    """A word with the texts that have it, and how good a match each is."""

    text: str
    rarity: float
    qualities: dict[int, float]


class _SoughtWords:
    """The words of a query with what else they may mean, looked up one by one."""

    def __init__(self, queries: TextQueries, find: Callable[[Node], Matches]) -> None:
        self._queries = queries
        self._find = find
        self._matches: list[Matches] = []
        self.words: list[_SoughtWord] = []
        self.nodes: list[Node] = []
        self.unknown: list[str] = []
        self.corrected: dict[str, str] = {}
        self.split: list[str] = []

    def add(self, word: Word, *, is_piece: bool = False) -> None:
        """Look up a word and its forms; if rare, also in longer words; if unknown, corrected.

        A piece of a word that is unknown as a whole is not looked for in longer words.
        """
        match = to_match(word)
        count = self._queries.count_matches(match) if match else 0
        if count > _MAX_COMMON:
            return
        qualities: dict[int, float] = {}
        term = _find_single_term(word)
        if count:
            self._look_up(word, WHOLE, qualities)
        if term:
            self._look_up_any(find_forms(term, self._queries), FORM, qualities)
        if len(qualities) < ENOUGH and not is_piece:
            wider = widen_word(word, self._queries)
            if wider != word:
                self._look_up(wider, INSIDE, qualities)
        if not qualities and term and not count:
            corrections = find_corrections(term, self._queries)
            self._look_up_any(corrections[:1], CORRECTED, qualities)
            if corrections:
                self.corrected[word.text] = corrections[0]
        if qualities:
            rarity = weigh_rarity(len(qualities), self._queries.text_count)
            self.words.append(_SoughtWord(word.text, rarity, qualities))
        elif not count and not is_piece:
            self._add_pieces(word)

    def gather(self) -> Matches:
        """Return all texts that have any of the words."""
        places: dict[int, int] = {}
        keys: dict[int, int] = {}
        for each in self._matches:
            places.update(zip(each.handles, each.places, strict=True))
            keys.update(zip(each.handles, each.keys, strict=True))
        handles = sorted(places)
        return Matches(
            handles, [places[each] for each in handles], [keys[each] for each in handles]
        )

    def _add_pieces(self, word: Word) -> None:
        pieces = split_word(word.text)
        before = len(self.words)
        for piece in pieces if len(pieces) > 1 else ():
            self.add(Word(piece), is_piece=True)
        if len(self.words) == before:
            self.unknown.append(word.text)
            return
        self.split.append(word.text)
        corrected = word.text
        for piece in pieces:
            corrected = corrected.replace(piece, self.corrected.pop(piece, piece), 1)
        if corrected != word.text:
            self.corrected[word.text] = corrected

    def _look_up_any(
        self, terms: Sequence[str], quality: float, qualities: dict[int, float]
    ) -> None:
        if terms:
            self._look_up(Or(tuple(map(Word, terms))), quality, qualities)

    def _look_up(self, node: Node, quality: float, qualities: dict[int, float]) -> None:
        """Note the texts that have it, unless they have the word in a better way."""
        found = self._find(node)
        self._matches.append(found)
        self.nodes.append(node)
        known = dict(qualities)
        qualities.update(dict.fromkeys(found.handles, quality))
        qualities.update(known)


def _join(node: Node, others: Sequence[Node]) -> Node:
    return And((node, *others)) if others else node


def _find_single_term(word: Word) -> str | None:
    sequences = query_terms(word.text)
    terms = sequences[0].terms if sequences else ()
    return terms[0] if len(terms) == 1 and not sequences[0].ends_open else None


def _keep_best(coverages: Mapping[Session, float]) -> dict[Session, float]:
    """Return the sessions that have at least a share of what the best one has."""
    least = _MIN_SHARE * max(coverages.values(), default=0.0)
    return {name: coverage for name, coverage in coverages.items() if coverage >= least}


def _keep_best_texts(
    texts: Mapping[int, float], sessions: Mapping[int, Session], listed: Container[Session]
) -> dict[int, float]:
    """Return the texts of listed sessions that have at least a share of what their best one has."""
    best: dict[Session, float] = {}
    for handle, coverage in texts.items():
        name = sessions[handle]
        best[name] = max(coverage, best.get(name, 0.0))
    return {
        handle: coverage
        for handle, coverage in texts.items()
        if (name := sessions[handle]) in listed and coverage >= _MIN_SHARE * best[name]
    }
