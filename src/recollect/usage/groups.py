"""Ways to group a report, and the key of a row in each of them.

Each message has exactly one key, so that rows always add up to the total: a message that calls two
tools is listed under both names joined, not once under each.
"""

from collections.abc import Callable
from datetime import date
from types import MappingProxyType
from typing import Final

from recollect.documents.usage_groups import Group
from recollect.store.usage_queries import Dimension
from recollect.usage.totals import LedgerRow
from recollect.usage.zones import Zone

MAIN: Final = "main"
SUBAGENT: Final = "subagent"
JOINT: Final = " + "
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
        Group.TOOL: lambda row: JOINT.join(_name_tools(row.tools)) or None,
        Group.MCP_SERVER: lambda row: JOINT.join(_servers(row.tools)) or None,
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


def _name_tools(tools: str | None) -> list[str]:
    """Return the tools of a message under their present names, as `recollect tools` has them."""
    from recollect.records.tools.tool_parsing import canonical_name  # the types of all tools

    return list(dict.fromkeys(map(canonical_name, (tools or "").split("\n"))))


def _servers(tools: str | None) -> list[str]:
    names = (tools or "").split("\n")
    # MCP tools are named `mcp__server__tool`, and a server's name may contain a single `_`.
    servers = {
        name.removeprefix(_MCP_PREFIX).partition("__")[0]
        for name in names
        if name.startswith(_MCP_PREFIX)
    }
    return sorted(servers)


def _name_agent(row: LedgerRow) -> str:
    if row.file is not None and row.file.is_subagent:
        return row.file.agent_type or SUBAGENT
    return SUBAGENT if row.is_sidechain else MAIN
