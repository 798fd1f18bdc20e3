"""Build a usage report from ledger rows: filter, group, sum and sort them.

Pure functions; rows come from `ledger_access`, and titles and client costs are added later.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable
from datetime import date
from enum import StrEnum

from msgspec import UNSET, Struct, UnsetType, structs

from recollect.documents.usage_groups import Group
from recollect.quantities import to_dollars
from recollect.usage.totals import (
    ClientCost,
    KeyOf,
    LedgerRow,
    Totals,
    UsageBlock,
    add_up,
    find_block,
    make_blocks,
    make_key,
    share_by_tool,
)
from recollect.usage.zones import Zone


class ReportOrder(StrEnum):
    """Sort order of the rows of a report."""

    ASC = "asc"
    DESC = "desc"
    COST_ASC = "cost-asc"
    COST_DESC = "cost-desc"


class RowFilter(Struct, frozen=True):
    """Restricts a report to one row of another report, to break that row down differently."""

    group: Group
    key: str | None


class UsageQuery(Struct, frozen=True, kw_only=True):
    """What to report; `since` and `until` are days in `zone`, both inclusive."""

    group: Group
    zone: Zone
    since: date | None = None
    until: date | None = None
    project: str = ""
    model: str = ""
    order: ReportOrder | None = None
    breakdown: bool = False
    only: RowFilter | None = None

    @property
    def groups(self) -> tuple[Group, ...]:
        """Return all groups that rows must be split by."""
        return (self.group,) if self.only is None else (self.group, self.only.group)

    @property
    def has_dates(self) -> bool:
        """Whether the report is limited to some days."""
        return self.since is not None or self.until is not None


class ReportRow(Struct, frozen=True, kw_only=True):
    """One row of a report; the key is None for messages whose records do not have it."""

    key: str | None
    totals: Totals
    models: tuple["ReportRow", ...] = ()
    """The same totals by model, if requested."""
    project: str | None = None
    """Sessions only: the working directory."""
    title: str | UnsetType | None = UNSET
    """Sessions only: the title as in lists, if requested; None if there is none."""
    first: int | None = None
    """Sessions only: when it began, in seconds since 1970, rounded down to the hour."""
    last: int | None = None
    client: ClientCost | None = None
    """Sessions only: the cost that Claude Code reported, if requested and known."""
    block: UsageBlock | None = None

    @property
    def tokens(self) -> int:
        """Return the tokens of all classes."""
        return self.totals.tokens

    @property
    def cost_usd(self) -> float | None:
        """Return the cost at list prices; None if no message has a known price."""
        return to_dollars(self.totals.known_cost)

    @property
    def client_cost(self) -> int | None:
        """Return the cost that Claude Code itself reported."""
        return None if self.client is None else self.client.cost


class UsageReport(Struct, frozen=True, kw_only=True):
    """The rows of a report and their totals."""

    query: UsageQuery
    rows: tuple[ReportRow, ...]
    totals: Totals
    unpriced: dict[str, int]
    """Messages without a known price, by model."""


def make_report(rows: Collection[LedgerRow], query: UsageQuery) -> UsageReport:
    """Build the report for `query`."""
    if {Group.TOOL, Group.MCP_SERVER}.intersection(query.groups):
        rows = list(share_by_tool(rows))
    blocks: list[UsageBlock] = []
    if Group.BLOCK in query.groups:
        blocks = make_blocks({row.moment for row in rows if row.moment is not None})
    keys = [_choose_key(group, query.zone, blocks) for group in query.groups]
    only = query.only
    matching = [
        row for row in rows if matches(row, query) and (only is None or keys[1](row) == only.key)
    ]
    lines = [
        _describe(_add_up(key, members, query), members, query.group, blocks)
        for key, members in _split(matching, keys[0])
    ]
    return UsageReport(
        query=query,
        rows=tuple(_sort(lines, query)),
        totals=add_up(row.totals for row in matching),
        unpriced=_count_unpriced(matching),
    )


def matches(row: LedgerRow, query: UsageQuery) -> bool:
    """Return whether a row is within the days, the projects and the models of a query."""
    if query.has_dates:
        day = query.zone.find_day(row.moment)
        if day is None or not (query.since or date.min) <= day <= (query.until or date.max):
            return False
    if query.model and not _contains(row.model, query.model):
        return False
    if not query.project:
        return True
    file = row.file
    paths = (row.cwd, file.project_path, file.project) if file else (row.cwd,)
    return any(_contains(path, query.project) for path in paths)


def _contains(text: str | None, part: str) -> bool:
    return text is not None and part.casefold() in text.casefold()


def _choose_key(group: Group, zone: Zone, blocks: list[UsageBlock]) -> KeyOf:
    return _key_by_block(blocks) if group is Group.BLOCK else make_key(group, zone)


def _key_by_block(blocks: list[UsageBlock]) -> KeyOf:
    def key_of(row: LedgerRow) -> str | None:
        block = None if row.moment is None else find_block(blocks, row.moment)
        return None if block is None else block.key

    return key_of


def _split(
    rows: Iterable[LedgerRow], key_of: KeyOf
) -> Iterable[tuple[str | None, list[LedgerRow]]]:
    members: defaultdict[str | None, list[LedgerRow]] = defaultdict(list)
    for row in rows:
        members[key_of(row)].append(row)
    return members.items()


def _add_up(key: str | None, members: list[LedgerRow], query: UsageQuery) -> ReportRow:
    models: list[ReportRow] = []
    if query.breakdown:
        by_model = _split(members, make_key(Group.MODEL, query.zone))
        models = [
            ReportRow(key=model, totals=add_up(row.totals for row in rows))
            for model, rows in by_model
        ]
    return ReportRow(
        key=key,
        totals=add_up(row.totals for row in members),
        models=tuple(sorted(models, key=_by_cost, reverse=True)),
    )


def _describe(
    line: ReportRow, members: list[LedgerRow], group: Group, blocks: list[UsageBlock]
) -> ReportRow:
    moments = [row.moment for row in members if row.moment is not None]
    if group is Group.BLOCK and moments:
        return structs.replace(line, block=find_block(blocks, moments[0]))
    if group is not Group.SESSION:
        return line
    # The session's own transcript comes first: those of subagents may be in other projects.
    files = sorted(
        (row.file for row in members if row.file), key=lambda file: (file.is_subagent, file.path)
    )
    return structs.replace(
        line,
        project=files[0].project_path if files else None,
        first=min(moments, default=None),
        last=max(moments, default=None),
    )


def _sort(lines: Iterable[ReportRow], query: UsageQuery) -> list[ReportRow]:
    order = query.order or (ReportOrder.ASC if query.group.is_time else ReportOrder.COST_DESC)
    if order in (ReportOrder.COST_ASC, ReportOrder.COST_DESC):
        return sorted(lines, key=_by_cost, reverse=order is ReportOrder.COST_DESC)
    named = sorted(
        (line for line in lines if line.key is not None),
        key=_by_key,
        reverse=order is ReportOrder.DESC,
    )
    return [*named, *(line for line in lines if line.key is None)]


def _by_cost(line: ReportRow) -> tuple[int, int, str]:
    cost = line.totals.known_cost
    return (-1 if cost is None else cost, line.totals.tokens, line.key or "")


def _by_key(line: ReportRow) -> tuple[int, list[str | int]]:
    """Sort sessions by start time, and numbers within a name numerically, as in versions."""
    # Bounded, because a name from a record may be a number with a million digits.
    parts = re.split("([0-9]{1,18})", line.key or "")
    return (line.first or 0, [int(part) if at % 2 else part for at, part in enumerate(parts)])


def _count_unpriced(rows: Iterable[LedgerRow]) -> dict[str, int]:
    counts: defaultdict[str, int] = defaultdict(int)
    for row in rows:
        if row.totals.unpriced:
            counts[row.model or ""] += row.totals.unpriced
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
