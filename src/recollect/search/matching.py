"""Find all texts that match a query, and the share of it that each text and session contains.

A text with every word matches. If there are few, words may be missing, be in other texts of the
session, or match in another form, which counts less: inflected, inside a longer word, or corrected
if the word occurs nowhere. This applies to plain words only: phrases, prefixes, fields, regular
expressions, alternatives with OR and negated terms must match as written.

If there are very many matches, a quick search uses only the newest, and reports that there are
more.
"""

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import compress
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from recollect.search import query_plan, word_lookup
from recollect.search.query_tree import And, Bound, FieldTerm, Node, Query, Word
from recollect.search.ranking import INSIDE, WHOLE
from recollect.search.word_forms import expand, widen
from recollect.search.word_lookup import file_of
from recollect.store import LAST_SECOND
from recollect.store.text_conditions import ALWAYS, Condition, all_of, has_secret_hash
from recollect.store.text_matches import Matches, unpack_place
from recollect.store.text_queries import TextQueries

_MIN_SHARE: Final = 1 / 3
"""A session is listed if its share of the query is at least this fraction of the best session's;
likewise for texts within a session."""

_MAX_WORDS: Final = 16
_MAX_COMPARED: Final = 20_000
"""Maximum number of matches to compare to find copies; beyond it, only marked copies are
dropped."""

_MAX_QUICK: Final = 30_000
"""Number of newest matches per word in a quick search: more would delay typing."""


class Found(Struct, frozen=True, kw_only=True):
    """All matching texts, without copies, and their sessions."""

    matches: Matches
    kinds: list[int]
    """For each text, a number that encodes its place and the share of the query in it."""
    sizes: Counter[int]
    """The number of texts by kind."""
    names: Mapping[int, word_lookup.SessionKey]
    """The sessions of their files."""
    shares: word_lookup.TextShares = word_lookup.TextShares()
    """The share of the query that each text contains."""
    missing: Mapping[word_lookup.SessionKey, tuple[str, ...]]
    """The words missing from each session."""
    session_coverages: Mapping[word_lookup.SessionKey, float]
    """The share of the query in each session; 1 for sessions that are not included."""
    query: Query
    """The query that was run."""
    marked: Query
    """The terms to highlight in the texts."""
    unknown: tuple[str, ...] = ()
    """Words that occur nowhere."""
    corrected: Mapping[str, str] = {}
    """Replacements for misspelt words."""
    split: tuple[str, ...] = ()
    """Names that occur nowhere as a whole: their parts are searched for instead."""
    capped: tuple[str, ...] = ()
    """Words that are part of more words than were looked up."""
    is_exact: bool = True


class Matcher:
    """Finds texts on one snapshot of the index."""

    def __init__(
        self,
        queries: TextQueries,
        reader: query_plan.TextReader,
        scope: Condition,
        deadline: float,
        *,
        with_traits: bool = False,
        is_quick: bool = False,
    ) -> None:
        self._queries = queries
        self._reader = reader
        self._scope = scope
        self._deadline = deadline
        self._with_traits = with_traits
        self._is_quick = is_quick
        self._is_cut = False

    def find(self, query: Query) -> Found:
        """Return all texts that match a query, with fewer of its words if necessary."""
        found = self._make_found(self._find(query.root), query)
        sessions = set(found.names.values())
        parts = query.root.parts if isinstance(query.root, And) else (query.root,)
        is_in_session = any(
            isinstance(each, FieldTerm) and each.name == "session" for each in parts
        )
        enough = 1 if is_in_session else word_lookup.ENOUGH
        if len(sessions) >= enough or time.monotonic() >= self._deadline:
            return found
        words = [part for part in parts if isinstance(part, Word)]
        filters = _list_filters(parts)
        if filters and len(filters) < len(parts) and not is_in_session:
            filtered = self._find_filtered(parts, filters, found)
            if filtered.matches.handles:
                return filtered
        if not words or len(words) > _MAX_WORDS:
            return self._find_wider(query, found)
        others = [part for part in parts if part not in words]
        is_absent = parts == (words[0],) and self._scope == ALWAYS and not found.matches.handles
        return self._find_loosely(words, others, is_absent=is_absent) or found

    def _find_filtered(
        self, parts: Sequence[Node], filters: Sequence[FieldTerm | Bound], found: Found
    ) -> Found:
        """Return the matches without the last filter, filtered afterwards.

        `found` has the exact matches. A search with few results is widened, and a filter reduces
        the results: filtering first would find texts that are not found without the filter.
        """
        rest = tuple(part for part in parts if part is not filters[-1])
        query = Query(rest[0] if len(rest) == 1 else And(rest))
        base = self.find(query)
        if base.query == query:
            return found
        builder = query_plan.ConditionBuilder(self._queries, self._reader, query)
        passing = self._queries.find_passing(
            base.matches.handles, builder.make_condition(filters[-1])
        )
        return _keep_texts(base, [handle in passing for handle in base.matches.handles])

    def find_secret(self, digest: bytes, query: Query) -> Found:
        """Return the texts of records that contain a secret, which is not among their words."""
        condition = all_of([has_secret_hash(digest), self._scope])
        matches = self._queries.find_matches(
            None, condition, deadline=self._deadline, with_traits=self._with_traits
        )
        return self._make_found(matches, query)

    def _name_session(self, file_id: int) -> word_lookup.SessionKey:
        """Return the session of a file."""
        file = self._queries.files[file_id]
        return file.session_id or file.path

    def _name_sessions(self, matches: Matches) -> dict[int, word_lookup.SessionKey]:
        """Return the session of each file with a match."""
        return {file: self._name_session(file) for file in matches.files}

    def move_texts(self, found: Found, files: Mapping[int, int]) -> Found:
        """Return the texts with some moved to other files, by their numbers in the list."""
        kinds, sizes = list(found.kinds), found.sizes.copy()
        for at, file_id in files.items():
            sizes[kinds[at]] -= 1
            kinds[at] = word_lookup.move_kind(kinds[at], file_id)
            sizes[kinds[at]] += 1
        names = {file: self._name_session(file) for file in files.values()}
        return replace(found, kinds=kinds, sizes=+sizes, names={**found.names, **names})

    def _make_found(self, matches: Matches, query: Query) -> Found:
        kept = self._drop_copies(matches)
        return Found(
            matches=kept, kinds=kept.places, sizes=kept.sizes, names=self._name_sessions(kept),
            missing={}, session_coverages={}, query=query, marked=query,
            is_exact=not matches.is_cut,
        )  # fmt: skip

    def _find(self, node: Node) -> Matches:
        expanded = expand(node, self._queries)
        query = Query(expanded.node)
        builder = query_plan.ConditionBuilder(self._queries, self._reader, query)
        plan = query_plan.make_search_plan(
            query,
            builder.make_condition,
            lambda regex: query_plan.find_candidates(regex, self._queries),
        )
        found = self._queries.find_matches(
            plan.match,
            all_of([plan.condition, self._scope]),
            deadline=self._deadline,
            checks=builder.checks,
            with_traits=self._with_traits,
            limit=_MAX_QUICK if self._is_quick else None,
        )
        self._is_cut |= found.is_cut or not expanded.is_complete
        return found

    def _find_wider(self, query: Query, found: Found) -> Found:
        """Return matches inside longer words too, for a query that is not plain."""
        wider, capped = widen(query, self._queries, is_quick=self._is_quick)
        if wider == query:
            return found
        matches = self._drop_copies(self._find(wider.root))
        whole = dict.fromkeys(found.matches.handles, word_lookup.share_of(WHOLE))
        shares = word_lookup.TextShares(word_lookup.share_of(INSIDE), whole)
        kinds, sizes = shares.classify(matches)
        return Found(
            matches=matches, kinds=kinds, sizes=sizes, names=self._name_sessions(matches),
            shares=shares, missing={}, session_coverages={}, query=wider, marked=wider,
            capped=capped, is_exact=not self._is_cut,
        )  # fmt: skip

    def _find_loosely(
        self, words: Sequence[Word], others: Sequence[Node], *, is_absent: bool
    ) -> Found | None:
        """Return texts with some of the words; None if all words are too common.

        A single word may be known not to occur as written.
        """
        lookup = word_lookup.WordLookup(
            self._queries, lambda node: self._find(_join(node, others)), is_quick=self._is_quick
        )
        for word in words:
            lookup.add(word, is_absent=is_absent)
        if not lookup.words and not lookup.unknown:
            return None
        matches = self._drop_copies(lookup.gather())
        names = self._name_sessions(matches)
        shares = word_lookup.cover_texts(lookup.words)
        sessions = word_lookup.cover_sessions(lookup.words, names)
        listed = _keep_best({name: min(sum(has.values()), 1.0) for name, has in sessions.items()})
        missing = {
            name: tuple(each.text for each in lookup.words if each.text not in sessions[name])
            for name in listed
        }
        kinds, sizes = shares.classify(matches)
        found = Found(
            matches=matches,
            kinds=kinds,
            sizes=sizes,
            names=names,
            shares=shares,
            missing={name: left for name, left in missing.items() if left},
            session_coverages=listed,
            query=Query(And((*words, *lookup.nodes, *others))),
            marked=Query(And((*words, *lookup.marked, *others))),
            unknown=tuple(lookup.unknown),
            corrected=lookup.corrected,
            split=tuple(lookup.split),
            capped=tuple(lookup.capped),
            is_exact=not self._is_cut,
        )
        return _keep_best_texts(found)

    def _drop_copies(self, matches: Matches) -> Matches:
        """Return the matches without copies, keeping the original of each text."""
        if len(matches.handles) > _MAX_COMPARED:
            marked = {place for place in matches.sizes if place & 2}
            return (
                word_lookup.keep(matches, [at not in marked for at in matches.places])
                if marked
                else matches
            )
        known = self._queries.find_keys(matches.handles)
        keys = [known[handle] for handle in matches.handles]
        if len(set(keys)) == len(keys):
            return matches
        repeated = {key for key, count in Counter(keys).items() if count > 1}
        copies: dict[int, list[int]] = {}
        for at in [at for at, key in enumerate(keys) if key in repeated]:
            copies.setdefault(keys[at], []).append(at)
        is_kept = bytearray(b"\x01") * len(keys)
        for numbers in copies.values():
            original = min(numbers, key=lambda at: self._originality(matches, at))
            for at in numbers:
                is_kept[at] = at == original
        return word_lookup.keep(matches, is_kept)

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


def _list_filters(parts: Iterable[Node]) -> list[FieldTerm | Bound]:
    return [part for part in parts if isinstance(part, FieldTerm | Bound)]


def _join(node: Node, others: Sequence[Node]) -> Node:
    return And((node, *others)) if others else node


def _keep_best(
    coverages: Mapping[word_lookup.SessionKey, float],
) -> dict[word_lookup.SessionKey, float]:
    """Return the sessions above a fraction of the best one's share."""
    threshold = _MIN_SHARE * max(coverages.values(), default=0.0)
    return {name: coverage for name, coverage in coverages.items() if coverage >= threshold}


def _keep_best_texts(found: Found) -> Found:
    """Return the texts of listed sessions above a fraction of their best one's share."""
    listed, share_of_kind = found.session_coverages, found.shares.share_of_kind
    shares = {kind >> word_lookup.SHARE_SHIFT or found.shares.usual for kind in found.sizes} or {0}
    if min(shares) >= _MIN_SHARE * max(shares) and listed.keys() >= set(found.names.values()):
        return found
    kinds = [(kind, share_of_kind(kind), found.names[file_of(kind)]) for kind in found.sizes]
    best: dict[word_lookup.SessionKey, int] = {}
    for _, share, name in kinds:
        best[name] = max(share, best.get(name, 0))
    left_out = {
        kind for kind, share, name in kinds if name not in listed or share < _MIN_SHARE * best[name]
    }
    return _keep_texts(found, [kind not in left_out for kind in found.kinds])


def _keep_texts(found: Found, is_kept: Sequence[bool]) -> Found:
    matches, kinds = word_lookup.keep(found.matches, is_kept), list(compress(found.kinds, is_kept))
    return replace(found, matches=matches, kinds=kinds, sizes=Counter(kinds))
