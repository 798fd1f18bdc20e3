"""The counting rule: which lines and rows are one message, and what it used.

A message is written on several lines of a file, and again in every file that a resume or a fork
copied it to. Per message the largest usage counts, at the earliest time, for the file that is not
the copy. What a progress record repeats of a subagent counts only if no file has the message.

If ids never repeat, rows are different messages only if they agree in neither request, model nor
input. Ids counted up by a proxy repeat in every session: there, rows of two files are copies only
if they share the request or the time. Rows of one file always follow the first rule. Nothing here
depends on the order of files, lines or rows, nor on how many reads it took.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import astuple, replace

from recollect.records.usage import CLASSES, Tokens, is_unique
from recollect.sync.message_lines import Costs, MessageRow, max_known


class Traits(NamedTuple):
    """What distinguishes copies of a message from others with the same id."""

    file: Hashable
    """The file."""
    request_id: str | None
    model: str | None
    time: int | None
    input: int


def group_copies(message_id: str, rows: Sequence[Traits]) -> list[list[int]]:
    """The numbers of the rows of each message: alike directly, or by way of others."""
    requests = {row.request_id for row in rows}
    if len(rows) == 1 or (len(requests) == 1 and None not in requests):
        return [list(range(len(rows)))]
    links = _link_anywhere(rows) if is_unique(message_id) else _link_with_care(rows)
    leader = list(range(len(rows)))
    first: dict[Hashable, int] = {}
    for number, key in links:
        one, other = _follow(leader, first.setdefault(key, number)), _follow(leader, number)
        leader[max(one, other)] = min(one, other)
    groups: defaultdict[int, list[int]] = defaultdict(list)
    for number in range(len(rows)):
        groups[_follow(leader, number)].append(number)
    return list(groups.values())


_Link = tuple[int, Hashable]
"""The number of a row, and something that it shares with its copies."""


def _link_anywhere(rows: Sequence[Traits]) -> Iterator[_Link]:
    return _link_within(rows, [(number, "") for number in range(len(rows))])


def _link_with_care(rows: Sequence[Traits]) -> Iterator[_Link]:
    for number, row in enumerate(rows):
        if row.request_id is not None:
            yield number, ("request", row.request_id)
    placed = [(number, ("file", row.file)) for number, row in enumerate(rows)]
    timed = [
        (number, ("time", row.time)) for number, row in enumerate(rows) if row.time is not None
    ]
    yield from _link_within(rows, [*placed, *timed])
    yield from _link_bare(rows)


def _link_within(rows: Sequence[Traits], scopes: Sequence[tuple[int, Hashable]]) -> Iterator[_Link]:
    """Rows of one scope that agree in anything; one without a request may be a copy of any."""
    bare = {scope for number, scope in scopes if rows[number].request_id is None}
    for number, scope in scopes:
        row = rows[number]
        if scope in bare:
            yield number, (scope, "all")
        else:
            yield number, (scope, "request", row.request_id)
            yield number, (scope, "model", row.model)
            yield number, (scope, "input", row.input)


def _link_bare(rows: Sequence[Traits]) -> Iterator[_Link]:
    """Copies by old clients, which have neither the request nor the time of their original.

    They are known by model and input, if there is one original only that they can be of.
    """
    alike: defaultdict[Hashable, list[int]] = defaultdict(list)
    for number, row in enumerate(rows):
        alike[row.model, row.input].append(number)
    for key, numbers in alike.items():
        requests = {rows[number].request_id for number in numbers} - {None}
        if len(requests) == 1:
            yield from ((number, ("bare", key)) for number in numbers)


def _follow(leader: list[int], number: int) -> int:
    while leader[number] != number:
        leader[number] = number = leader[leader[number]]
    return number


NEVER = 1 << 62


class Copy(NamedTuple):
    """A message as recorded in one file, and where that file is."""

    row: MessageRow
    path: str
    is_gone: bool = False
    began: int | None = None
    """The first time in that file."""


class Counted(Struct, frozen=True):
    """What counts of copies of one message, which are given by their number."""

    owner: int
    """The copy that it is counted for."""
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
        client_cost=max_known(one.client_cost, other.client_cost),
    )
    if (time, merged.client_cost) == (larger.time, larger.client_cost):
        return merged
    return replace(merged, cost=find_cost(merged, time, costs))


def rank(row: MessageRow) -> tuple[int, int, bool]:
    """Which of several rows has the larger usage."""
    return (row.output, row.total, not row.is_sidechain)


def find_cost(
    row: MessageRow, time: int | None, costs: Costs, *, is_largest: bool = False
) -> int | None:
    """What the message cost on the day of `time`; without tokens, what the client says."""
    if row.client_cost is not None and not row.has_tokens:
        return row.client_cost
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
    """What counts of copies that share a message id, which may be of several messages."""
    traits = [_describe(copy) for copy in copies]
    groups = group_copies(copies[0].row.message_id, traits)
    return [_count_cluster(copies, group, costs) for group in groups]


def _describe(copy: Copy) -> Traits:
    row = copy.row
    return Traits(copy.path, row.request_id, row.model, row.time, row.input)


def _count_cluster(copies: Sequence[Copy], cluster: Iterable[int], costs: Costs) -> Counted:
    members = sorted(cluster, key=lambda number: _ownership(copies[number]))
    rows = [copies[number].row for number in members]
    if not rows[0].is_relayed:
        rows = [row for row in rows if not row.is_relayed]
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


def _ownership(copy: Copy) -> tuple[bool, bool, bool, int, bool, int, int, int, bool, str, int]:
    """Sort key that puts the original before its copies.

    Not from a progress record, not marked as a copy, has a request id, earliest, not a subagent's.
    Copies in a fork may be alike in all that: then the file that began first has the original, as
    in search. Between equal files one that is still there has precedence; the rest is for the sake
    of order.
    """
    row = copy.row
    output, total, _ = rank(row)
    return (
        row.is_relayed,
        row.is_copy,
        row.request_id is None,
        NEVER if row.time is None else row.time,
        row.is_sidechain,
        NEVER if copy.began is None else copy.began,
        -output,
        -total,
        copy.is_gone,
        copy.path,
        row.position,
    )


def _earliest(times: Iterable[int | None]) -> int | None:
    return min((time for time in times if time is not None), default=None)


def _unite_tools(tools: Iterable[str]) -> str:
    names = {name for text in tools for name in text.split("\n")}
    return "\n".join(sorted(names - {""}))
