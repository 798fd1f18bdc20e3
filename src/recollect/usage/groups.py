"""Ways to group a report, and the key of a row in each of them.

Each row has exactly one key, so that rows always add up to the total. A message that calls several
tools is shared equally among them, to the token; what cannot be divided goes to the first names.
"""

from collections.abc import Callable, Iterable, Iterator
from datetime import date
from types import MappingProxyType
from typing import Final

from msgspec.structs import replace

from recollect.documents.usage_groups import Group
from recollect.store.usage_queries import Dimension
from recollect.usage.totals import LedgerRow, split_evenly
from recollect.usage.zones import Zone

MAIN: Final = "main"
SUBAGENT: Final = "subagent"
_MCP_PREFIX: Final = "mcp__"

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
            yield replace(row, tools=name, totals=part)


def _find_server(tool: str) -> str | None:
    # MCP tools are named `mcp__server__tool`, and a server's name may contain a single `_`.
    if not tool.startswith(_MCP_PREFIX):
        return None
    return tool.removeprefix(_MCP_PREFIX).partition("__")[0] or None


def _name_agent(row: LedgerRow) -> str:
    if row.file is not None and row.file.is_subagent:
        return row.file.agent_type or SUBAGENT
    return SUBAGENT if row.is_sidechain else MAIN
