"""Tool statistics: calls, failures, rejections and durations, by tool and by MCP server.

Each call counts once, however many files have a copy of it. A duration is the time from the call to
its result, so it includes waiting for permission. Transcripts are read completely, but only once:
the calls of each file are cached in the index.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from math import ceil
from pathlib import Path
from typing import Final

from msgspec import Struct

from recollect.documents.command_reports import ToolUsageRow
from recollect.documents.session_listing import CallSummary, SessionListing
from recollect.library.session_filters import SessionQuery, select
from recollect.locations import Transcript
from recollect.records.tools.tool_parsing import split_mcp_name
from recollect.sync import OnFileRead, list_current, load_calls

_MEDIAN: Final = 0.5
_P95: Final = 0.95


class ToolQuery(Struct, frozen=True, kw_only=True):
    """Filters for calls; None does not filter."""

    session_id: str | None = None
    """Only this session and its subagents."""
    project: str | None = None
    """Only working directories whose path contains this text."""
    since: datetime | None = None
    until: datetime | None = None
    """Exclusive."""


class ToolReport(Struct, frozen=True, kw_only=True):
    """Statistics of all tools, the most used first."""

    sessions: int
    """Number of transcripts with matching calls, including those of subagents."""
    total: ToolUsageRow
    tools: tuple[ToolUsageRow, ...]
    mcp_servers: tuple[ToolUsageRow, ...]
    unread: tuple[str, ...]
    """Transcripts that could not be read."""


def report_tools(
    directory: Path,
    transcripts: Sequence[Transcript],
    query: ToolQuery,
    on_progress: OnFileRead | None = None,
) -> ToolReport:
    """Report how tools were used in `transcripts`, with the index in `directory` as a cache."""
    wanted = _select(directory, transcripts, query)
    calls_by_file = load_calls(directory, wanted, on_progress)
    counted: list[CallSummary] = []
    sessions = 0
    seen: set[str] = set()
    for each in wanted:
        unseen = list(_iter_unseen(calls_by_file.get(each.file, ()), seen, query))
        counted += unseen
        sessions += bool(unseen)
    tools = _group_by_tool(counted)
    return ToolReport(
        sessions=sessions,
        total=_count("", counted),
        tools=_count_groups(tools),
        mcp_servers=_count_groups(_group_by_server(tools)),
        unread=tuple(each.file for each in wanted if each.file not in calls_by_file),
    )


def _select(
    directory: Path, transcripts: Sequence[Transcript], query: ToolQuery
) -> list[Transcript]:
    if query.session_id is None and query.project is None:
        return list(transcripts)
    listings = list_current(directory, transcripts)
    matching = select(listings, SessionQuery(project=query.project))
    paths = {each.path for each in matching if _belongs_to(each, query.session_id)}
    return [each for each in transcripts if each.file in paths]


def _belongs_to(listing: SessionListing, session_id: str | None) -> bool:
    return session_id is None or session_id in (listing.id, listing.parent_id)


def _iter_unseen(
    calls: Iterable[CallSummary], seen: set[str], query: ToolQuery
) -> Iterator[CallSummary]:
    """Iterate over the calls in the requested period that are not copies of calls in `seen`."""
    since = query.since.timestamp() if query.since else None
    until = query.until.timestamp() if query.until else None
    is_limited = since is not None or until is not None
    for call in calls:
        if call.id in seen or (is_limited and not _is_between(call.started, since, until)):
            continue
        if call.id:
            seen.add(call.id)
        yield call


def _is_between(moment: float | None, since: float | None, until: float | None) -> bool:
    if moment is None:
        return since is None and until is None
    return (since is None or moment >= since) and (until is None or moment < until)


def _group_by_tool(calls: Iterable[CallSummary]) -> dict[str, list[CallSummary]]:
    groups: defaultdict[str, list[CallSummary]] = defaultdict(list)
    for call in calls:
        groups[call.tool].append(call)
    return groups


def _group_by_server(tools: Mapping[str, list[CallSummary]]) -> dict[str, list[CallSummary]]:
    groups: defaultdict[str, list[CallSummary]] = defaultdict(list)
    for tool, calls in tools.items():
        parts = split_mcp_name(tool)
        if parts:
            groups[parts[0]] += calls
    return groups


def _count_groups(groups: Mapping[str, Sequence[CallSummary]]) -> tuple[ToolUsageRow, ...]:
    uses = [_count(name, calls) for name, calls in groups.items()]
    return tuple(sorted(uses, key=lambda use: (-use.calls, use.name)))


def _count(name: str, calls: Sequence[CallSummary]) -> ToolUsageRow:
    statuses = Counter([call.status for call in calls])
    times = sorted([call.duration_ms for call in calls if call.duration_ms is not None])
    return ToolUsageRow(
        name=name,
        calls=len(calls),
        failed=statuses["failed"],
        rejected=statuses["rejected"],
        interrupted=statuses["interrupted"],
        pending=statuses["pending"],
        median_ms=_find_percentile(times, _MEDIAN),
        p95_ms=_find_percentile(times, _P95),
        total_ms=sum(times),
    )


def _find_percentile(times: Sequence[float], share: float) -> float | None:
    """Return the nearest-rank percentile of the sorted `times`."""
    return times[ceil(share * len(times)) - 1] if times else None
