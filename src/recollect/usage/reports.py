"""Rows → a report: grouped, filtered, ordered and added up. A pure function of its arguments."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable
from datetime import date
from enum import StrEnum

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from recollect.usage.blocks import Block, cut_blocks, find_block
from recollect.usage.groups import Group, KeyOf, make_key
from recollect.usage.rows import UsageRow
from recollect.usage.totals import Totals, add_up
from recollect.usage.zones import Zone


class Order(StrEnum):
    """How the rows of a report follow each other."""

    ASC = "asc"
    DESC = "desc"
    COST_ASC = "cost-asc"
    COST_DESC = "cost-desc"


class Only(Struct, frozen=True):
    """One row of a report: a question about it splits what that row holds in another way."""

    group: Group
    key: str | None


class Question(Struct, frozen=True, kw_only=True):
    """What a report is asked for; days are those of the zone, both inclusive."""

    group: Group
    zone: Zone
    since: date | None = None
    until: date | None = None
    project: str = ""
    model: str = ""
    order: Order | None = None
    breakdown: bool = False
    only: Only | None = None

    @property
    def groups(self) -> tuple[Group, ...]:
        """All that rows have to be told apart by."""
        return (self.group,) if self.only is None else (self.group, self.only.group)

    @property
    def has_dates(self) -> bool:
        """Whether it is about some days only."""
        return self.since is not None or self.until is not None


class ReportRow(Struct, frozen=True, kw_only=True):
    """One line of a report; a key of None is what the records do not tell."""

    key: str | None
    totals: Totals
    models: tuple["ReportRow", ...] = ()
    """The same split by model, if that was asked for."""
    project: str | None = None
    """Of a session: its work directory."""
    title: str | UnsetType | None = UNSET
    """Of a session: what lists call it, if that was asked for; None if they do not know it."""
    first: int | None = None
    """Of a session: when it began, in seconds since 1970, to the hour."""
    last: int | None = None
    client_cost: int | None = None
    """Of a session: what Claude Code itself says, if that was asked for and is known."""
    block: Block | None = None


class Report(Struct, frozen=True, kw_only=True):
    """The answer to a question."""

    question: Question
    rows: tuple[ReportRow, ...]
    totals: Totals
    unpriced: dict[str, int]
    """Messages without a known price, by model."""


def make_report(rows: Collection[UsageRow], question: Question) -> Report:
    """The report that `question` asks for."""
    blocks: list[Block] = []
    if Group.BLOCK in question.groups:
        blocks = cut_blocks({row.moment for row in rows if row.moment is not None})
    keys = [_choose_key(group, question.zone, blocks) for group in question.groups]
    only = question.only
    wanted = [
        row
        for row in rows
        if _is_wanted(row, question) and (only is None or keys[1](row) == only.key)
    ]
    lines = [
        _describe(_add_up(key, members, question), members, question.group, blocks)
        for key, members in _split(wanted, keys[0])
    ]
    return Report(
        question=question,
        rows=tuple(_sort(lines, question)),
        totals=add_up(row.totals for row in wanted),
        unpriced=_count_unpriced(wanted),
    )


def _is_wanted(row: UsageRow, question: Question) -> bool:
    if question.has_dates:
        day = question.zone.find_day(row.moment)
        if day is None or not (question.since or date.min) <= day <= (question.until or date.max):
            return False
    if question.model and not _contains(question.model, row.model):
        return False
    if not question.project:
        return True
    file = row.file
    places = (row.cwd, file.home, file.project) if file else (row.cwd,)
    return any(_contains(question.project, place) for place in places)


def _contains(part: str, text: str | None) -> bool:
    return text is not None and part.casefold() in text.casefold()


def _choose_key(group: Group, zone: Zone, blocks: list[Block]) -> KeyOf:
    return _key_by_block(blocks) if group is Group.BLOCK else make_key(group, zone)


def _key_by_block(blocks: list[Block]) -> KeyOf:
    def key_of(row: UsageRow) -> str | None:
        block = None if row.moment is None else find_block(blocks, row.moment)
        return None if block is None else block.key

    return key_of


def _split(rows: Iterable[UsageRow], key_of: KeyOf) -> Iterable[tuple[str | None, list[UsageRow]]]:
    members: defaultdict[str | None, list[UsageRow]] = defaultdict(list)
    for row in rows:
        members[key_of(row)].append(row)
    return members.items()


def _add_up(key: str | None, members: list[UsageRow], question: Question) -> ReportRow:
    models: list[ReportRow] = []
    if question.breakdown:
        by_model = _split(members, make_key(Group.MODEL, question.zone))
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
    line: ReportRow, members: list[UsageRow], group: Group, blocks: list[Block]
) -> ReportRow:
    moments = [row.moment for row in members if row.moment is not None]
    if group is Group.BLOCK and moments:
        return replace(line, block=find_block(blocks, moments[0]))
    if group is not Group.SESSION:
        return line
    # The transcript of the session itself tells its project, rather than those of its subagents.
    files = sorted(
        (row.file for row in members if row.file), key=lambda file: (file.is_subagent, file.path)
    )
    return replace(
        line,
        project=files[0].home if files else None,
        first=min(moments, default=None),
        last=max(moments, default=None),
    )


def _sort(lines: Iterable[ReportRow], question: Question) -> list[ReportRow]:
    order = question.order or (Order.ASC if question.group.is_time else Order.COST_DESC)
    if order in (Order.COST_ASC, Order.COST_DESC):
        return sorted(lines, key=_by_cost, reverse=order is Order.COST_DESC)
    named = sorted(
        (line for line in lines if line.key is not None),
        key=_by_key,
        reverse=order is Order.DESC,
    )
    return [*named, *(line for line in lines if line.key is None)]


def _by_cost(line: ReportRow) -> tuple[int, int, str]:
    cost = line.totals.known_cost
    return (-1 if cost is None else cost, line.totals.tokens, line.key or "")


def _by_key(line: ReportRow) -> tuple[int, list[str | int]]:
    """Sessions by their beginning; numbers within a name by their size, as in versions."""
    # Bounded, because a name out of a record may be one number of a million digits.
    parts = re.split("([0-9]{1,18})", line.key or "")
    return (line.first or 0, [int(part) if at % 2 else part for at, part in enumerate(parts)])


def _count_unpriced(rows: Iterable[UsageRow]) -> dict[str, int]:
    counts: defaultdict[str, int] = defaultdict(int)
    for row in rows:
        if row.totals.unpriced:
            counts[row.model or ""] += row.totals.unpriced
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
