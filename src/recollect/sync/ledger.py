"""The rule by which usage is counted once: which lines are one message, and what it used.

A message is written on several lines of a file, and again in every file that a resume or a fork
copied it to. Per message the largest usage counts, at the earliest time, for the file that is not
the copy. Nothing here depends on the order in which files or lines are seen, nor on how many
readings it took to see them.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import astuple, replace

from recollect.records.tokens import CLASSES, Tokens
from recollect.sync.costs import Costs
from recollect.sync.rows import MessageRow

NEVER = 1 << 62


class Copy(NamedTuple):
    """A message as one file tells it, and where that file is."""

    row: MessageRow
    place: str
    is_gone: bool = False
    began: int | None = None
    """The first time in that file."""


class Counted(Struct, frozen=True):
    """What counts of copies of one message, which are given by their number."""

    owner: int
    """The copy that it is booked on."""
    members: tuple[int, ...]
    time: int | None
    tools: str
    tokens: Tokens
    cost: int | None


def merge_pair(one: MessageRow, other: MessageRow, costs: Costs) -> MessageRow:
    """Two rows of one message in one file as one; `one` is of the earlier lines."""
    larger = other if rank(other) > rank(one) else one
    time = _earliest((one.time, other.time))
    merged = replace(
        larger,
        position=min(one.position, other.position),
        time=time,
        tools=_unite_tools((one.tools, other.tools)),
    )
    return merged if time == larger.time else replace(merged, cost=find_cost(merged, time, costs))


def rank(row: MessageRow) -> tuple[int, int, bool]:
    """Which of several rows has the larger usage."""
    return (row.output, row.total, not row.is_sidechain)


def find_cost(
    row: MessageRow, time: int | None, costs: Costs, *, is_largest: bool = False
) -> int | None:
    """What the message cost on the day of `time`."""
    if row.usage is not None:
        return costs.of_usage(row.model, row.usage, time, is_largest=is_largest)
    tokens = find_tokens(row, is_largest=is_largest)
    return costs.of_tokens(row.model, row.terms, tokens, time)


def find_tokens(row: MessageRow, *, is_largest: bool = False) -> Tokens:
    """The tokens of a row; with the cache writes that its total denies if it is the largest."""
    tokens = Tokens(*astuple(row)[: len(CLASSES)])
    if is_largest and (row.late_5m or row.late_1h):
        return replace(tokens, cache_write_5m=row.late_5m, cache_write_1h=row.late_1h)
    return tokens


def count_group(copies: Sequence[Copy], costs: Costs) -> list[Counted]:
    """What counts of copies that share a message id.

    Copies that agree in neither request, model nor input are different messages, of a server that
    uses its ids again.
    """
    return [_count_cluster(copies, cluster, costs) for cluster in _cluster(copies)]


def _cluster(copies: Sequence[Copy]) -> list[list[int]]:
    """Numbers of copies that are one message: alike in something, directly or by way of others."""
    if len(copies) == 1 or any(copy.row.request_id is None for copy in copies):
        # Old clients leave the request out of a copy, so that it may be a copy of any of them.
        return [list(range(len(copies)))]
    leader = list(range(len(copies)))
    first: dict[tuple[str, object], int] = {}
    for number, (row, *_) in enumerate(copies):
        for key in (("request", row.request_id), ("model", row.model), ("input", row.input)):
            one, other = _follow(leader, first.setdefault(key, number)), _follow(leader, number)
            leader[max(one, other)] = min(one, other)
    clusters: dict[int, list[int]] = {}
    for number in range(len(copies)):
        clusters.setdefault(_follow(leader, number), []).append(number)
    return list(clusters.values())


def _follow(leader: list[int], number: int) -> int:
    while leader[number] != number:
        leader[number] = number = leader[leader[number]]
    return number


def _count_cluster(copies: Sequence[Copy], cluster: Iterable[int], costs: Costs) -> Counted:
    members = sorted(cluster, key=lambda number: _ownership(copies[number]))
    rows = [copies[number].row for number in members]
    # `max` takes the first of equals, which here is the one that is least of a copy.
    largest = max(rows, key=rank)
    time = _earliest(row.time for row in rows)
    return Counted(
        owner=members[0],
        members=tuple(members),
        time=time,
        tools=_unite_tools(row.tools for row in rows),
        tokens=find_tokens(largest, is_largest=True),
        cost=find_cost(largest, time, costs, is_largest=True),
    )


def _ownership(copy: Copy) -> tuple[bool, bool, int, bool, int, int, int, bool, str, int]:
    """Smallest for what is no copy: it knows its request, is earlier, is no subagent's, used more.

    Copies in a fork are alike in all that; some say that they are copies, and of the others the
    file that began first is the original. Between equal files one that is still there has
    precedence; the rest is for the sake of order.
    """
    row = copy.row
    output, total, _ = rank(row)
    return (
        row.is_copy,
        row.request_id is None,
        NEVER if row.time is None else row.time,
        row.is_sidechain,
        -output,
        -total,
        NEVER if copy.began is None else copy.began,
        copy.is_gone,
        copy.place,
        row.position,
    )


def _earliest(times: Iterable[int | None]) -> int | None:
    return min((time for time in times if time is not None), default=None)


def _unite_tools(tools: Iterable[str]) -> str:
    names = {name for text in tools for name in text.split("\n")}
    return "\n".join(sorted(names - {""}))
