"""Matching texts grouped by session, the best session first as far as can be told cheaply.

There may be a hundred thousand of them, so scores are computed for each distinct kind of text, not
for each text: what it is, how long its record is, how much of the query it contains.
"""

import operator
from collections import Counter
from collections.abc import Callable, Collection, Container, Iterator
from functools import lru_cache
from typing import Final

from recollect.search.matching import Found, Session
from recollect.search.ranking import score_roughly, score_session
from recollect.store.text_queries import unpack_place

_SHARES: Final = 1 << 10
"""Steps in which coverage is told apart."""

_FILE: Final = _SHARES << 12
"""Kinds in one file."""


class SessionGroups:
    """The sessions that match a query, and their texts."""

    def __init__(self, found: Found, name_session: Callable[[int], Session]) -> None:
        self._found = found
        self._kinds = _list_kinds(found)
        # Handles ascend, so that the last one of a kind is its newest.
        newest = dict(zip(self._kinds, found.handles, strict=True))
        files = {kind: kind // _SHARES >> 12 for kind in newest}
        names = {file: name_session(file) for file in set(files.values())}
        self._names = {kind: names[file] for kind, file in files.items()}
        self._scores = {kind: _score(kind % _FILE) for kind in newest}
        self._newest: dict[Session, int] = {}
        self.counts: Counter[Session] = Counter()
        self._sizes = Counter(self._kinds)
        for kind, count in self._sizes.items():
            name = self._names[kind]
            self._newest[name] = max(newest[kind], self._newest.get(name, 0))
            self.counts[name] += count

    def order_by_time(self) -> list[Session]:
        """Return the sessions, the one with the newest text first."""
        return sorted(self._newest, key=lambda name: -self._newest[name])

    def order_roughly(self) -> list[Session]:
        """Return the sessions, the one whose best text seems to match best first."""
        best: dict[Session, float] = {}
        for kind, score in self._scores.items():
            name = self._names[kind]
            best[name] = max(score, best.get(name, 0.0))
        scores = {name: score_session([score], self.cover(name)) for name, score in best.items()}
        return sorted(scores, key=lambda name: (-scores[name], -self._newest[name]))

    def cover(self, name: Session) -> float:
        """Return how much of the query the texts of a session contain together."""
        return self._found.session_coverages.get(name, 1.0)

    def list_texts(
        self, names: Collection[Session], most: int, *, recent: bool
    ) -> dict[Session, list[int]]:
        """Return the handles of the `most` best texts of each session, or the newest."""
        wanted = set(self._choose_kinds(set(names), most, recent=recent))
        texts: dict[Session, list[tuple[float, int]]] = {name: [] for name in names}
        for kind, handle in zip(self._kinds, self._found.handles, strict=True):
            if kind in wanted:
                texts[self._names[kind]].append((self._scores[kind], handle))
        order = operator.itemgetter(1) if recent else None
        return {
            name: [handle for _, handle in sorted(scored, key=order, reverse=True)[:most]]
            for name, scored in texts.items()
        }

    def _choose_kinds(self, names: Container[Session], most: int, *, recent: bool) -> Iterator[int]:
        """Iterate over the kinds that the `most` best texts of each session are of."""
        room: dict[Session, int] = {}
        for kind in sorted(self._sizes, key=lambda kind: -self._scores[kind]):
            name = self._names[kind]
            if name in names and (recent or room.get(name, most) > 0):
                room[name] = room.get(name, most) - self._sizes[kind]
                yield kind


def _list_kinds(found: Found) -> list[int]:
    """Return for each text a number for its place and how much of the query it contains."""
    coverages = found.coverages
    if coverages is None:
        return [place * _SHARES + _SHARES - 1 for place in found.places]
    return [
        place * _SHARES + int(coverages[handle] * (_SHARES - 1))
        for handle, place in zip(found.handles, found.places, strict=True)
    ]


@lru_cache(maxsize=1 << 14)
def _score(kind: int) -> float:
    place, share = divmod(kind, _SHARES)
    _, part, magnitude, _, _ = unpack_place(place)
    return score_roughly(part, share / (_SHARES - 1), magnitude)
