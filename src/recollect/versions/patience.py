"""Patience diff of lines: what two texts have in common, found by lines that occur once in each.

Long lines that occur once in the whole texts come first, then shorter ones, then those that occur
once between two matches: there a `}` or an empty line may be the only one, and would pull blocks
apart. What is left is compared by `difflib`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence, Set
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Final, NamedTuple

_MAX_QUADRATIC = 4_000_000
"""Lines times lines up to which what has no unique lines is compared in full."""
_DISTINCTIVE: Final = re.compile(r"(?:\w\W*){12}")


class Match(NamedTuple):
    """`length` equal lines from `old` and from `new` on."""

    old: int
    new: int
    length: int


def is_distinctive(line: str) -> bool:
    """Whether a line is long enough to be recognized; `}` and `return None` are everywhere."""
    return _DISTINCTIVE.search(line) is not None


def match_lines(old: Sequence[str], new: Sequence[str]) -> list[Match]:
    """Return the runs of equal lines, in order."""
    pairs = list(_iter_pairs(old, new))
    runs: list[Match] = []
    for before, after in pairs:
        if runs and (before, after) == (
            runs[-1].old + runs[-1].length,
            runs[-1].new + runs[-1].length,
        ):
            runs[-1] = runs[-1]._replace(length=runs[-1].length + 1)
        else:
            runs.append(Match(before, after, 1))
    return runs


def count_changes(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """Return the number of lines that were added and removed."""
    same = sum(match.length for match in match_lines(old, new))
    return len(new) - same, len(old) - same


def _iter_pairs(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int]]:
    pending = [(0, len(old), 0, len(new))]
    rare = _find_unique(old, 0, len(old)).keys() & _find_unique(new, 0, len(new)).keys()
    found: list[tuple[int, int]] = []
    while pending:
        low, high, start, stop = pending.pop()
        while low < high and start < stop and old[low] == new[start]:
            found.append((low, start))
            low, start = low + 1, start + 1
        while low < high and start < stop and old[high - 1] == new[stop - 1]:
            high, stop = high - 1, stop - 1
            found.append((high, stop))
        if low == high or start == stop:
            continue
        anchors = _find_anchors(old, new, (low, high, start, stop), rare)
        if not anchors:
            found += _compare_plainly(old, new, (low, high, start, stop))
            continue
        edges = [(low - 1, start - 1), *anchors, (high, stop)]
        found += anchors
        pending += [
            (before[0] + 1, after[0], before[1] + 1, after[1]) for before, after in pairwise(edges)
        ]
    yield from sorted(found)


def _find_anchors(
    old: Sequence[str], new: Sequence[str], area: tuple[int, int, int, int], rare: Set[str]
) -> list[tuple[int, int]]:
    """Return the longest increasing run of lines that occur once in both, `rare` ones first."""
    low, high, start, stop = area
    first, second = _find_unique(old, low, high), _find_unique(new, start, stop)
    shared = first.keys() & second.keys()
    distinctive = {line for line in shared if is_distinctive(line)}
    chosen = distinctive & rare or shared & rare or distinctive or shared
    return _find_longest_run(sorted((first[line], second[line]) for line in chosen))


def _find_longest_run(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest part of sorted pairs whose second numbers increase too."""
    tops: list[int] = []
    chain: list[tuple[tuple[int, int], int]] = []
    ends: list[int] = []
    for pair in pairs:
        place = bisect_left(tops, pair[1])
        chain.append((pair, ends[place - 1] if place else -1))
        if place == len(tops):
            tops.append(pair[1])
            ends.append(len(chain) - 1)
        else:
            tops[place], ends[place] = pair[1], len(chain) - 1
    result: list[tuple[int, int]] = []
    at = ends[-1] if ends else -1
    while at >= 0:
        pair, at = chain[at]
        result.append(pair)
    return result[::-1]


def _find_unique(lines: Sequence[str], start: int, stop: int) -> dict[str, int]:
    places: dict[str, int] = {}
    for at in range(start, stop):
        line = lines[at]
        places[line] = -1 if line in places else at
    return {line: at for line, at in places.items() if at >= 0}


def _compare_plainly(
    old: Sequence[str], new: Sequence[str], area: tuple[int, int, int, int]
) -> list[tuple[int, int]]:
    low, high, start, stop = area
    if (high - low) * (stop - start) > _MAX_QUADRATIC:
        return []
    matcher = SequenceMatcher(None, old[low:high], new[start:stop], autojunk=False)
    return [
        (low + block.a + at, start + block.b + at)
        for block in matcher.get_matching_blocks()
        for at in range(block.size)
    ]
