"""Patience diff of lines: what two texts have in common, found by lines that occur once in each.

Repeated lines such as `}` are matched only next to lines that are matched already, so that they
do not pull blocks apart; between, `difflib` compares what is left.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from typing import NamedTuple

_MAX_QUADRATIC = 4_000_000
"""Lines times lines up to which what has no unique lines is compared in full."""


class Match(NamedTuple):
    """`length` equal lines from `old` and from `new` on."""

    old: int
    new: int
    length: int


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
        anchors = _find_anchors(old, new, (low, high, start, stop))
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
    old: Sequence[str], new: Sequence[str], area: tuple[int, int, int, int]
) -> list[tuple[int, int]]:
    """Return the longest increasing run of lines that occur once on both sides."""
    low, high, start, stop = area
    first, second = _find_unique(old, low, high), _find_unique(new, start, stop)
    pairs = sorted((at, second[line]) for line, at in first.items() if line in second)
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
