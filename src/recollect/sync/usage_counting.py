"""Extract the rows of one transcript for the usage ledger; and the counting rule: which lines and
rows belong to one message, and its usage.

A message is written on several lines of a file, and again in every file that a resume or a fork
copied it to. For each message, the largest usage counts, at the earliest time, for the original
file. A message that a progress record repeats from a subagent counts only if no file contains the
message itself.

Message ids from the API are unique: rows with the same id are different messages only if request,
model and input all differ. Sequential ids from a proxy repeat in every session: there, rows of two
files are copies only if they share the request or the time. Rows of one file always follow the
first rule. Results do not depend on the order of files, lines or rows, nor on the number of reads.

Extraction runs in worker processes and touches no database. A file that has only grown is read from
where reading stopped; after any other change, all of it is read again.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

import msgspec

from recollect.errors import UnreadableInput
from recollect.locations.claude_directories import TRANSCRIPT_SUFFIX
from recollect.pricing import Prices
from recollect.reader import line_blocks, marked_lines, usage_reader
from recollect.records.conversation_records import AssistantUsage
from recollect.records.token_usage import Tokens, is_unique
from recollect.redact.quick_masks import mask_name
from recollect.sources import growth, safe_files, source
from recollect.store.ledger_rows import Copy, Counted, MessageRow
from recollect.sync.message_lines import Costs, find_first_time, gather_rows, max_known


class Traits(NamedTuple):
    """What distinguishes copies of a message from others with the same id."""

    file: Hashable
    """The file."""
    request_id: str | None
    model: str | None
    time: int | None
    input: int


def group_copies(message_id: str, rows: Sequence[Traits]) -> list[list[int]]:
    """Group rows by message: those linked directly or through others. Returns row numbers."""
    requests = {row.request_id for row in rows}
    if len(rows) == 1 or (len(requests) == 1 and None not in requests):
        return [list(range(len(rows)))]
    links = _link_unique_id(rows) if is_unique(message_id) else _link_shared_id(rows)
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
"""The number of a row, and a key that it shares with its copies."""


def _link_unique_id(rows: Sequence[Traits]) -> Iterator[_Link]:
    return _link_within(rows, [(number, "") for number in range(len(rows))])


def _link_shared_id(rows: Sequence[Traits]) -> Iterator[_Link]:
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
    """Link rows of one scope that share any key; one without a request may be a copy of any."""
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
    """Link copies by old clients, which have neither the request nor the time of their original.

    They are recognised by model and input, if there is only one possible original.
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


def merge_pair(one: MessageRow, other: MessageRow, costs: Costs) -> MessageRow:
    """Merge two rows of one message in one file; `one` is from the earlier lines."""
    larger = other if rank(other) > rank(one) else one
    time = _earliest((one.time, other.time))
    merged = msgspec.structs.replace(
        larger,
        position=min(one.position, other.position),
        time=time,
        tools=_merge_tools((one.tools, other.tools)),
        client_cost=max_known(one.client_cost, other.client_cost),
    )
    if (time, merged.client_cost) == (larger.time, larger.client_cost):
        return merged
    return msgspec.structs.replace(merged, cost=find_cost(merged, time, costs))


def rank(row: MessageRow) -> tuple[int, int, bool]:
    """Sort key: rows with larger usage are greater."""
    return (row.output, row.total, not row.is_sidechain)


def find_cost(
    row: MessageRow, time: int | None, costs: Costs, *, is_largest: bool = False
) -> int | None:
    """Return the cost of a message on the day of `time`; without tokens, the client's cost."""
    if row.client_cost is not None and not row.has_tokens:
        return row.client_cost
    if row.usage is not None:
        return costs.of_usage(row.model, row.usage, time, is_largest=is_largest)
    tokens = find_tokens(row, is_largest=is_largest)
    return costs.of_tokens(row.model, row.terms, tokens, time)


def find_tokens(row: MessageRow, *, is_largest: bool = False) -> Tokens:
    """Return the tokens of a row; the largest includes cache writes that its total lacks."""
    if is_largest and (row.late_5m or row.late_1h):
        return msgspec.structs.replace(
            row.tokens, cache_write_5m=row.late_5m, cache_write_1h=row.late_1h
        )
    return row.tokens


def count_group(copies: Sequence[Copy], costs: Costs) -> list[Counted]:
    """Return the figures that count for rows with one message id, which may be several messages."""
    traits = [_describe(copy) for copy in copies]
    groups = group_copies(copies[0].row.message_id, traits)
    return [_count_cluster(copies, group, costs) for group in groups]


class CostRule:
    """The counting rule, with costs at these prices; a `CountingRule`."""

    def __init__(self, costs: Costs) -> None:
        self._costs = costs

    def count_group(self, copies: Sequence[Copy]) -> list[Counted]:
        """Return the figures that count for copies with the same message id."""
        return count_group(copies, self._costs)

    def merge_pair(self, one: MessageRow, other: MessageRow) -> MessageRow:
        """Merge two rows of one message in one file."""
        return merge_pair(one, other, self._costs)

    def find_cost(self, row: MessageRow) -> int | None:
        """Return the cost of a message on the day of its time."""
        return find_cost(row, row.time, self._costs)


def _describe(copy: Copy) -> Traits:
    row = copy.row
    return Traits(copy.path, row.request_id, row.model, row.time, row.input)


def _count_cluster(copies: Sequence[Copy], cluster: Iterable[int], costs: Costs) -> Counted:
    members = sorted(cluster, key=lambda number: _ownership(copies[number]))
    rows = [copies[number].row for number in members]
    if not rows[0].is_relayed:
        rows = [row for row in rows if not row.is_relayed]
    # `max` returns the first of equals, which is the least likely copy here.
    largest = max(rows, key=rank)
    time = _earliest(row.time for row in rows)
    return Counted(
        owner=members[0],
        members=tuple(members),
        time=time,
        tools=_merge_tools(row.tools for row in rows),
        tokens=find_tokens(largest, is_largest=True),
        cost=find_cost(largest, time, costs, is_largest=True),
    )


def _ownership(copy: Copy) -> tuple[bool, bool, bool, int, bool, int, int, int, bool, str, int]:
    """Sort key that puts the original before its copies.

    In order: not from a progress record, not marked as a copy, with a request id, earliest, not a
    subagent's. If a fork's copies are equal in all that, the file that began first has the
    original, as in search. Among equal files, existing ones come first; the rest makes the order
    deterministic.
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


def _merge_tools(tools: Iterable[str]) -> str:
    names = {name for text in tools for name in text.split("\n")}
    return "\n".join(sorted(names - {""}))


_MAX_VALUE = 1024 * 1024

MAX_NAMING_LINES = 1000
"""Maximum number of lines to return; if there are more, a list searches the file for them."""


class _Meta(msgspec.Struct, rename="camel"):
    # Not `session.subagents`, whose imports take longer than a small sync.
    agent_type: str | None = None


_decode = msgspec.json.Decoder(_Meta).decode


def find_agent_type(transcript: str) -> str | None:
    """Return the type of the subagent with this transcript; None if no file contains it."""
    path = f"{transcript.removesuffix(TRANSCRIPT_SUFFIX)}.meta.json"
    try:
        with safe_files.open_file(path) as file:
            name = _decode(file.read(_MAX_VALUE) or b"").agent_type
    except (UnreadableInput, OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None
    return mask_name(name) if name else None


class Job(msgspec.Struct, frozen=True):
    """A file to read: from `known.position` on if it has only grown, else all of it."""

    path: str
    known: growth.FileState = growth.FileState()
    prices: str | None = None
    """The user's own price file."""
    wants_session: bool = False
    """Whether its session is only known from its records."""
    is_subagent: bool = False
    """Whether it is a subagent: its type is in the sidecar file, and no line has a title."""
    fingerprint: str = ""
    """The fingerprint of the prices."""
    session: str = ""
    """Its session, if known from the path."""
    keeps_parts: bool = False
    """Whether to return its head and tail and its naming lines too."""


class Extract(msgspec.Struct, frozen=True, array_like=True):
    """The rows of a file from byte `start` on, and the position to continue from."""

    path: str
    start: int = 0
    state: growth.FileState = growth.FileState()
    session_id: str | None = None
    agent_type: str | None = None
    began: int | None = None
    rows: list[MessageRow] = []
    problem: str | None = None
    is_gone: bool = False
    """Whether the file no longer existed, which is not an error."""
    naming: list[tuple[int, int]] | None = None
    """Offset and length of the lines from `start` on that may name the session; None for many."""
    parts: safe_files.FileParts | None = None
    """The parts of the file that a list needs, if requested."""


def extract_many(jobs: Sequence[Job]) -> bytes:
    """Return the rows of the files of `jobs`, encoded: cheaper to transfer than objects."""
    # Paths are left out: they may not be UTF-8, and the caller knows them.
    return msgspec.msgpack.encode([msgspec.structs.replace(extract(job), path="") for job in jobs])


def decode_extracts(data: bytes, jobs: Iterable[Job]) -> list[Extract]:
    """Decode the result of `extract_many` for the same jobs."""
    found = msgspec.msgpack.decode(data, type=list[Extract])
    return [
        msgspec.structs.replace(read, path=job.path) for job, read in zip(jobs, found, strict=True)
    ]


def extract(job: Job) -> Extract:
    """Extract one file; the result has a problem if it cannot be read."""
    try:
        return _read(job)
    except (UnreadableInput, OSError) as error:
        if not source.is_present(job.path):
            return Extract(job.path, is_gone=True)
        return Extract(job.path, problem=str(error))


def _read(job: Job) -> Extract:
    with safe_files.open_file(job.path) as file:
        return _read_open(file, job)


def _read_open(file: source.SourceFile, job: Job) -> Extract:
    seen = growth.capture_state(file)
    began = find_first_time(file, seen.size)
    start = job.known.position
    if start and growth.find_growth(file, job.known, seen) is not growth.Growth.APPENDED:
        start = 0
    read = partial(usage_reader.read_usage_of, file, job.path, stop=seen.size, completes_last=True)
    position = _find_last_line(file, seen.size)
    if position < seen.size and next(read(position), None) is not None:
        # The last line counts, but has no line end: it may still change.
        position = 0
    naming = _NamingLines()
    records = read(start, on_lines=None if job.is_subagent else naming.find)
    rows = gather_rows(records, load_costs(job.prices, job.fingerprint))
    return Extract(
        path=job.path,
        start=start,
        state=growth.record_state(file, seen, position),
        session_id=_find_session(read(0)) if job.wants_session else None,
        agent_type=find_agent_type(job.path) if job.is_subagent else None,
        began=began,
        rows=rows,
        naming=naming.spans if len(naming.spans) <= MAX_NAMING_LINES else None,
        parts=safe_files.read_parts(file, naming.spans[:MAX_NAMING_LINES])
        if job.keeps_parts
        else None,
    )


class _NamingLines:
    """Finds the lines that name a session, so that a list need not search the file for them."""

    def __init__(self) -> None:
        self.spans: list[tuple[int, int]] = []

    def find(self, offset: int, data: bytes, lines: range) -> None:
        """Search complete lines; `data` is at `offset` in the file."""
        for start, end in marked_lines.find_marked_lines(data, lines, marked_lines.NAMING_MARKS):
            self.spans.append((offset + start, end - start))


def _find_last_line(file: source.SourceFile, size: int) -> int:
    """Return the start of a last line without a line end; otherwise, the end of the file."""
    # Nearly always it has one, which is faster to check than the start of a line.
    return (
        size
        if growth.read_before(file, size).endswith(b"\n")
        else line_blocks.seek_line_start(file, size)
    )


def _find_session(records: Iterator[AssistantUsage]) -> str | None:
    first = next(records, None)
    return first.session_id if first else None


@lru_cache(maxsize=2)
def load_costs(user_file: str | None, fingerprint: str) -> Costs:  # noqa: ARG001 - a part of the key
    """Load the bundled prices, overridden by the user's price file if there is one."""
    return Costs(Prices.load(Path(user_file) if user_file else None))
