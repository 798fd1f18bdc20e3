"""Tool calls by tool and by MCP server, as `recollect tools --json` prints them."""

from typing import Literal

from msgspec import Struct


class ToolUsageRow(Struct, frozen=True, kw_only=True):
    """Statistics of one tool, or of all tools of one MCP server."""

    name: str
    calls: int
    failed: int
    rejected: int
    interrupted: int
    pending: int
    median_ms: float | None
    """Median duration; None if no call has one."""
    p95_ms: float | None
    """95th percentile of the durations."""
    total_ms: float


class ToolsDocument(Struct, frozen=True, kw_only=True):
    """Statistics of all tools, the most used first, and the filters that were applied."""

    schema: Literal["recollect.tools/1"] = "recollect.tools/1"
    session_id: str | None
    project: str | None
    since: str | None
    until: str | None
    sessions: int
    """Number of transcripts with matching calls, including those of subagents."""
    total: ToolUsageRow
    tools: tuple[ToolUsageRow, ...]
    mcp_servers: tuple[ToolUsageRow, ...]
    unread: tuple[str, ...]
    """Transcripts that could not be read."""
