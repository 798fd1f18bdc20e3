"""How tools were used: calls, failures, refusals and times, by tool and by MCP server.

Every call counts once, however many files hold a copy of it. A duration is the time from a call to
its answer, so waiting for a permission is part of it. It takes reading whole transcripts, once.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from math import ceil
from pathlib import Path
from typing import Final

from msgspec import Struct

from recollect.locations import Transcript
from recollect.records.tools.names import split_mcp_name
from recollect.store.figures import CallNote
from recollect.store.listings import Listing
from recollect.sync.figures import load_calls
from recollect.sync.file_notes import Watch
from recollect.sync.listings import list_level
from recollect.sync.selection import Conditions, select

_LATE: Final = 0.95


class ToolQuestion(Struct, frozen=True, kw_only=True):
    """Which calls are asked about; None asks for all."""

    session_id: str | None = None
    """Of this session and its subagents."""
    project: str | None = None
    """Of work directories that hold this text."""
    since: datetime | None = None
    until: datetime | None = None
    """The first moment that is too late."""


class ToolUse(Struct, frozen=True, kw_only=True):
    """How one tool, or all tools of one server, were used."""

    name: str
    calls: int
    failed: int
    rejected: int
    interrupted: int
    pending: int
    median_ms: float | None
    """Half of the calls were answered as soon as this; None if none was, or no time is known."""
    p95_ms: float | None
    """And 95 of a hundred as soon as this."""
    total_ms: float


class ToolReport(Struct, frozen=True, kw_only=True):
    """The answer, the most used first."""

    sessions: int
    """Transcripts with such calls, those of subagents included."""
    total: ToolUse
    tools: tuple[ToolUse, ...]
    mcp_servers: tuple[ToolUse, ...]
    unread: tuple[str, ...]
    """Transcripts that could not be read."""


def report_tools(
    directory: Path,
    transcripts: Sequence[Transcript],
    question: ToolQuestion,
    watch: Watch | None = None,
) -> ToolReport:
    """How tools were used in `transcripts`, by the index in `directory`."""
    wanted = _select(directory, transcripts, question)
    calls_of = load_calls(directory, wanted, watch)
    counted: list[CallNote] = []
    sessions = 0
    seen: set[str] = set()
    for each in wanted:
        fresh = list(_iter_fresh(calls_of.get(each.file, ()), seen, question))
        counted += fresh
        sessions += bool(fresh)
    return ToolReport(
        sessions=sessions,
        total=_count("", counted),
        tools=_group(counted, lambda call: call.tool),
        mcp_servers=_group(counted, _find_server),
        unread=tuple(each.file for each in wanted if each.file not in calls_of),
    )


def _select(
    directory: Path, transcripts: Sequence[Transcript], question: ToolQuestion
) -> list[Transcript]:
    if question.session_id is None and question.project is None:
        return list(transcripts)
    listings = list_level(directory, transcripts)
    fitting = select(listings, Conditions(project=question.project))
    paths = {each.path for each in fitting if _is_of(each, question.session_id)}
    return [each for each in transcripts if each.file in paths]


def _is_of(listing: Listing, session_id: str | None) -> bool:
    return session_id is None or session_id in (listing.id, listing.parent_id)


def _iter_fresh(
    calls: Iterable[CallNote], seen: set[str], question: ToolQuestion
) -> Iterator[CallNote]:
    """The calls in the time that is asked for, of which no copy was met before."""
    since = question.since.timestamp() if question.since else None
    until = question.until.timestamp() if question.until else None
    for call in calls:
        if not _is_between(call.started, since, until) or call.id in seen:
            continue
        if call.id:
            seen.add(call.id)
        yield call


def _is_between(moment: float | None, since: float | None, until: float | None) -> bool:
    if moment is None:
        return since is None and until is None
    return (since is None or moment >= since) and (until is None or moment < until)


def _find_server(call: CallNote) -> str | None:
    parts = split_mcp_name(call.tool)
    return parts[0] if parts else None


def _group(
    calls: Iterable[CallNote], key_of: Callable[[CallNote], str | None]
) -> tuple[ToolUse, ...]:
    groups: defaultdict[str, list[CallNote]] = defaultdict(list)
    for call in calls:
        key = key_of(call)
        if key is not None:
            groups[key].append(call)
    uses = [_count(name, group) for name, group in groups.items()]
    return tuple(sorted(uses, key=lambda use: (-use.calls, use.name)))


def _count(name: str, calls: Sequence[CallNote]) -> ToolUse:
    statuses = Counter(call.status for call in calls)
    times = sorted(call.duration_ms for call in calls if call.duration_ms is not None)
    return ToolUse(
        name=name,
        calls=len(calls),
        failed=statuses["failed"],
        rejected=statuses["rejected"],
        interrupted=statuses["interrupted"],
        pending=statuses["pending"],
        median_ms=_find_rank(times, 0.5),
        p95_ms=_find_rank(times, _LATE),
        total_ms=sum(times),
    )


def _find_rank(times: Sequence[float], share: float) -> float | None:
    """The least of the sorted `times` that is not exceeded by this share of them."""
    return times[ceil(share * len(times)) - 1] if times else None
