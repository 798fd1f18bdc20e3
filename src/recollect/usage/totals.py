"""Usage totals, averages, shares and 5-hour blocks; the ledger rows that reports are built from,
and the ways to group them.

Money is an integer number of millionths of a dollar. Messages without a known price are counted
separately and never treated as free: if some messages have none, the cost is a lower bound; if all
have none, it is unknown.

A block starts at the full UTC hour of its first message and lasts five hours; the next one starts
with the first message after that. Hourly sums are therefore enough to compute blocks exactly.
Filters do not move blocks: messages that a filter excludes still start and end them.

Each row has exactly one key, so that rows always add up to the total. A message that calls several
tools is shared equally among them, to the token; what cannot be divided goes to the first names.
"""

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import date
from itertools import accumulate, pairwise
from operator import add
from pathlib import PurePath
from types import MappingProxyType
from typing import Final

from msgspec import Struct, structs

from recollect.documents.usage_groups import Group
from recollect.locations.claude_directories import TRANSCRIPT_SUFFIX, encode_id
from recollect.locations.transcript_files import TranscriptKind
from recollect.quantities import format_utc
from recollect.records.token_usage import Tokens
from recollect.store.usage_queries import Dimension
from recollect.usage.zones import BLOCK, Zone, find_block_starts

AVERAGED_DAYS: Final = 7
MIN_AVERAGE_DAYS: Final = 2 * AVERAGED_DAYS
"""Minimum number of days: in a shorter range the average is little more than one value."""


class Totals(Tokens, frozen=True, gc=False, kw_only=True):
    """Tokens by class, server-side searches, messages, and cost."""

    messages: int = 0
    cost: int = 0
    """Cost of the messages with a known price."""
    unpriced: int = 0
    """Messages without a known price."""
    relayed: int = 0
    """Messages of subagents that are known only from progress records of the parent."""
    client_priced: int = 0
    """Messages without token counts, whose cost is the one that the client recorded."""

    def __add__(self, other: "Totals") -> "Totals":
        """Return the sum of both."""
        return make_totals(map(add, structs.astuple(self), structs.astuple(other)))

    @property
    def tokens(self) -> int:
        """Return the tokens of all classes."""
        return self.total

    @property
    def cache_write(self) -> int:
        """Return the cache writes of both lifetimes."""
        return self.cache_write_5m + self.cache_write_1h

    @property
    def known_cost(self) -> int | None:
        """Return the known part of the cost; None if there are messages and none has a price."""
        if self.messages:
            return None if self.unpriced == self.messages else self.cost
        # A share of a message may be less than one.
        return None if self.tokens and not self.cost else self.cost


def make_totals(figures: Iterable[int]) -> Totals:
    """Return totals from figures in the column order of the index."""
    counts = list(figures)
    tokens, (messages, cost, unpriced, relayed, client_priced) = counts[:-5], counts[-5:]
    return Totals(
        *tokens,
        messages=messages,
        cost=cost,
        unpriced=unpriced,
        relayed=relayed,
        client_priced=client_priced,
    )


def add_up(parts: Iterable[Totals]) -> Totals:
    """Return the sum of `parts`."""
    columns = list(zip(*map(structs.astuple, parts), strict=True))
    return make_totals(map(sum, columns)) if columns else Totals()


def split_evenly(totals: Totals, count: int) -> list[Totals]:
    """Return `count` parts that add up to `totals`; what cannot be divided goes to the first."""
    divided = [divmod(figure, count) for figure in structs.astuple(totals)]
    return [
        make_totals(share + (number < rest) for share, rest in divided) for number in range(count)
    ]


class SourceFile(Struct, frozen=True):
    """The fields of a transcript that reports need."""

    path: str
    project: str
    """Name of the project's directory below `projects/`."""
    session_id: str = ""
    kind: str = TranscriptKind.SESSION.value
    project_path: str | None = None
    """The working directory that the project is named after."""
    agent_type: str | None = None

    @property
    def session(self) -> str:
        """Return the session id; a subagent without one is its own session, named by its file."""
        if self.session_id:
            return self.session_id
        return encode_id(PurePath(self.path).name.removesuffix(TRANSCRIPT_SUFFIX))

    @property
    def is_subagent(self) -> bool:
        """Whether this is the transcript of a subagent."""
        return self.kind != TranscriptKind.SESSION.value


class LedgerRow(Struct, frozen=True, kw_only=True):
    """Totals of messages with the same values in all requested columns.

    A column is None if the report did not request it, or if the records do not have it.
    """

    totals: Totals
    moment: int | None = None
    """Start of the hour, or of a quarter of it, in seconds since 1970."""
    file: SourceFile | None = None
    model: str | None = None
    branch: str | None = None
    version: str | None = None
    entrypoint: str | None = None
    cwd: str | None = None
    tools: str | None = None
    """Names of all tools that the message calls, separated by newlines."""
    is_sidechain: bool = False


class ClientCost(Struct, frozen=True):
    """The cost that Claude Code itself reported, in millionths of a dollar."""

    cost: int
    is_guess: bool = False
    """Whether the client did not know the price of a model and used that of another."""
    messages: int | None = None
    """Number of messages whose costs were added up; None if the client reported a total."""
    own_cost: int = 0
    """Our cost of the same messages."""

    def find_difference(self, total: int) -> int:
        """Return how much more it is than ours; `total` is our cost of the whole session."""
        return self.cost - (total if self.messages is None else self.own_cost)


_MINUTE = 60


class UsageBlock(Struct, frozen=True):
    """One block; times are in seconds since 1970."""

    start: int
    idle_before: int = 0
    """Seconds since the end of the previous block."""

    @property
    def key(self) -> str:
        """Return the key of the block in a report: its start in UTC."""
        return format_utc(self.start)

    @property
    def end(self) -> int:
        """Return the end of the block (exclusive)."""
        return self.start + BLOCK

    def contains(self, moment: int) -> bool:
        """Whether the block contains `moment`."""
        return self.start <= moment < self.end


class BurnRate(Struct, frozen=True):
    """Burn rate of the current block, and its projected totals if the rate stays the same."""

    block: UsageBlock
    elapsed_minutes: float
    remaining_minutes: float
    tokens_per_minute: float
    cost_per_hour: int | None
    projected_tokens: int
    projected_cost: int | None


def make_blocks(moments: Collection[int]) -> list[UsageBlock]:
    """Return the blocks of messages sent at `moments`, in chronological order."""
    starts = find_block_starts(moments)
    idle = [0, *(later - earlier - BLOCK for earlier, later in pairwise(starts))]
    return [UsageBlock(start, gap) for start, gap in zip(starts, idle, strict=False)]


def find_block(blocks: list[UsageBlock], moment: int) -> UsageBlock | None:
    """Return the block that contains `moment`; None if there is none."""
    index = bisect_right(blocks, moment, key=lambda block: block.start) - 1
    return blocks[index] if index >= 0 and blocks[index].contains(moment) else None


def average_days(values: Sequence[float]) -> list[float]:
    """Return the mean of each day and the six before it, beginning with the seventh day.

    `values` has one value for every day, 0 for a day without usage. Empty for a short range.
    """
    if len(values) < MIN_AVERAGE_DAYS:
        return []
    sums = [0.0, *accumulate(values)]
    # Subtracting large sums may leave a tiny negative remainder instead of zero.
    return [
        max(sums[end] - sums[end - AVERAGED_DAYS], 0.0) / AVERAGED_DAYS
        for end in range(AVERAGED_DAYS, len(sums))
    ]


def find_share(part: float | None, total: float | None) -> float | None:
    """Return a value as a fraction of a total; None if either is unknown or the total is zero."""
    return None if part is None or not total else part / total


def measure_burn_rate(block: UsageBlock, totals: Totals, first: float, now: float) -> BurnRate:
    """Return the burn rate of the block that contains `now`; its first message is from `first`."""
    # A rate over less than a minute would be meaningless.
    elapsed = max(now - first, _MINUTE) / _MINUTE
    remaining = max(block.end - now, 0) / _MINUTE
    cost = totals.known_cost
    return BurnRate(
        block=block,
        elapsed_minutes=elapsed,
        remaining_minutes=remaining,
        tokens_per_minute=totals.tokens / elapsed,
        cost_per_hour=None if cost is None else round(cost / elapsed * 60),
        projected_tokens=totals.tokens + round(totals.tokens / elapsed * remaining),
        projected_cost=None if cost is None else cost + round(cost / elapsed * remaining),
    )


MAIN: Final = "main"
SUBAGENT: Final = "subagent"

KeyOf = Callable[[LedgerRow], str | None]


DIMENSIONS: Final = MappingProxyType[Group, tuple[Dimension, ...]](
    {
        Group.DAY: ("moment",),
        Group.WEEK: ("moment",),
        Group.MONTH: ("moment",),
        Group.SESSION: ("file_id", "moment"),
        Group.PROJECT: ("file_id",),
        Group.MODEL: (),
        Group.BRANCH: ("branch",),
        Group.VERSION: ("version",),
        Group.ENTRYPOINT: ("entrypoint",),
        Group.TOOL: ("tools",),
        Group.MCP_SERVER: ("tools",),
        Group.SUBAGENT: ("file_id", "is_sidechain"),
        Group.BLOCK: ("moment",),
    }
)
"""The columns, in addition to the model, that each group needs."""


def make_key(group: Group, zone: Zone) -> KeyOf:
    """Return a function from row to key. Blocks depend on all rows, so their key is None here."""
    keys: dict[Group, KeyOf] = {
        Group.DAY: lambda row: _name_day(zone.find_day(row.moment)),
        Group.WEEK: lambda row: _name_week(zone.find_day(row.moment)),
        Group.MONTH: lambda row: _name_month(zone.find_day(row.moment)),
        Group.SESSION: lambda row: row.file.session if row.file else None,
        Group.PROJECT: lambda row: row.file.project_path if row.file else None,
        Group.MODEL: lambda row: row.model,
        Group.BRANCH: lambda row: row.branch or None,
        Group.VERSION: lambda row: row.version,
        Group.ENTRYPOINT: lambda row: row.entrypoint,
        Group.TOOL: lambda row: row.tools or None,
        Group.MCP_SERVER: lambda row: _find_server(row.tools or ""),
        Group.SUBAGENT: _name_agent,
        Group.BLOCK: lambda _: None,
    }
    return keys[group]


def _name_day(day: date | None) -> str | None:
    return None if day is None else day.isoformat()


def _name_week(day: date | None) -> str | None:
    """Return the ISO 8601 week, which starts on Monday and belongs to the year of its Thursday."""
    if day is None:
        return None
    week = day.isocalendar()
    return f"{week.year:04}-W{week.week:02}"


def _name_month(day: date | None) -> str | None:
    return None if day is None else day.isoformat()[: len("2026-11")]


def share_by_tool(rows: Iterable[LedgerRow]) -> Iterator[LedgerRow]:
    """Yield rows with one tool at most, which add up to `rows`; renamed tools have one name."""
    from recollect.records.tools.tool_parsing import canonical_name  # for reports by tool only

    for row in rows:
        names = sorted({canonical_name(name) for name in (row.tools or "").split("\n") if name})
        if not names:
            yield row
            continue
        for name, part in zip(names, split_evenly(row.totals, len(names)), strict=True):
            yield structs.replace(row, tools=name, totals=part)


def _find_server(tool: str) -> str | None:
    from recollect.records.tools.tool_parsing import split_mcp_name  # for reports by server only

    server, _ = split_mcp_name(tool) or (None, None)
    return server


def _name_agent(row: LedgerRow) -> str:
    if row.file is not None and row.file.is_subagent:
        return row.file.agent_type or SUBAGENT
    return SUBAGENT if row.is_sidechain else MAIN
