"""The target of `usage explain`, which is a message, a session, a subagent or a day, and the costs
that Claude Code itself reported for it.

The index is tried first, because it still has deleted transcripts. Other ways to name a session (a
title, a path, `latest`) mean the same here as everywhere, so `library` resolves them.

The reported costs are those of the last `cost-state` record of a transcript. They include calls
that leave no assistant record (compactions, searches, titles) and, after a fork, the cost of all
ancestors. So they are shown next to our figure and never added to anything. Clients up to 1.0.2x
wrote no total but a cost on each message (`costUSD`); the sum of those is compared with our cost of
the same messages. Finding these records means reading every transcript in the report, so it is done
only on request.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from enum import StrEnum
from pathlib import Path

from msgspec import Struct, structs

from recollect.errors import AmbiguousSession, Candidate, NothingFound, UnreadableInput
from recollect.library.listings import locate_session
from recollect.locations import claude_directories, place_names, references, transcript_files
from recollect.quantities import MICRO
from recollect.reader.line_blocks import iter_blocks
from recollect.records.decoding import decode_record
from recollect.records.state import CostState
from recollect.session.times import find_day
from recollect.sources.safe_files import open_file
from recollect.store.usage_queries import ClientSum, LedgerEntry
from recollect.usage import ledger_access, reports, totals, zones

_DAY_MS = 86_400_000


class ScopeKind(StrEnum):
    """The kind of target to explain."""

    MESSAGE = "message"
    SESSION = "session"
    SUBAGENT = "subagent"
    DAY = "day"


class ExplainScope(Struct, frozen=True, kw_only=True):
    """A target to explain, with all ledger entries that are needed for it."""

    kind: ScopeKind
    name: str
    zone: zones.Zone
    entries: tuple[LedgerEntry, ...]
    """The entries in scope, and all other entries of the same messages."""
    file_ids: frozenset[int] = frozenset()
    """The files in scope: those of a session, or all below the roots."""
    day: date | None = None

    def contains(self, entry: LedgerEntry) -> bool:
        """Whether an entry itself is in scope."""
        return entry.file_id in self.file_ids and self.contains_time(entry.measures.time)

    def contains_time(self, time: int | None) -> bool:
        """Whether `time`, in milliseconds, is on the day; always True without a day."""
        if self.day is None:
            return True
        return time is not None and self.zone.find_day(time // 1000) == self.day


def find_scope(
    ledger: ledger_access.UsageLedger, target: str, zone: zones.Zone, today: date
) -> ExplainScope:
    """Resolve `target`; raises `NothingFound` or `AmbiguousSession` unless it is exactly one.

    The name of a place in a session stands for the session.
    """
    problem: NothingFound | None = None
    for name in dict.fromkeys(place.session for place in place_names.read_place(target)):
        try:
            return _find_scope(ledger, name, zone, today)
        except AmbiguousSession:
            raise
        except NothingFound as error:
            problem = problem or error
    raise problem or NothingFound(target)


def _find_scope(
    ledger: ledger_access.UsageLedger, target: str, zone: zones.Zone, today: date
) -> ExplainScope:
    entries = ledger.queries.select_of_message(target)
    if any(entry.file_id in ledger.files for entry in entries):
        return ExplainScope(
            kind=ScopeKind.MESSAGE,
            name=target,
            zone=zone,
            entries=tuple(entries),
            file_ids=frozenset(ledger.files),
        )
    session = _find_session(ledger, target)
    if session is not None:
        return _make_session(ledger, session, zone)
    agents = [number for number, row in ledger.files.items() if _is_agent(row.agent_id, target)]
    if agents:
        return _make_of_files(ledger, ScopeKind.SUBAGENT, target, agents, zone)
    day = find_day(target, today)
    if day is not None:
        return _make_day(ledger, day, zone)
    return _find_by_library(ledger, target, zone)


def _find_session(ledger: ledger_access.UsageLedger, target: str) -> str | None:
    ids = {row.session_id for row in ledger.files.values() if row.session_id}
    if target in ids:
        return target
    if len(target) < references.MIN_PREFIX_LENGTH:
        return None
    found = sorted(name for name in ids if name.startswith(target))
    if len(found) > 1:
        raise AmbiguousSession(target, _list_candidates(ledger, found))
    return found[0] if found else None


def _list_candidates(ledger: ledger_access.UsageLedger, ids: Iterable[str]) -> list[Candidate]:
    project_paths = ledger_access.find_file_project_paths(ledger)
    directories: dict[str, str] = {}
    modified: dict[str, int] = {}
    for number, row in ledger.files.items():
        directories[row.session_id] = project_paths[number]
        modified[row.session_id] = max(modified.get(row.session_id, 0), row.mtime_ns)
    return [Candidate(each, None, directories[each], modified[each] / 1e9) for each in ids]


def _is_agent(agent_id: str | None, target: str) -> bool:
    return agent_id in (target, target.removeprefix(claude_directories.AGENT_PREFIX))


def _make_session(
    ledger: ledger_access.UsageLedger, session_id: str, zone: zones.Zone
) -> ExplainScope:
    files = [number for number, row in ledger.files.items() if row.session_id == session_id]
    return _make_of_files(ledger, ScopeKind.SESSION, session_id, files, zone)


def _make_of_files(
    ledger: ledger_access.UsageLedger,
    kind: ScopeKind,
    name: str,
    file_ids: Iterable[int],
    zone: zones.Zone,
) -> ExplainScope:
    wanted = frozenset(file_ids)
    entries = ledger.queries.select_of_files(wanted)
    return ExplainScope(kind=kind, name=name, zone=zone, entries=tuple(entries), file_ids=wanted)


def _make_day(ledger: ledger_access.UsageLedger, day: date, zone: zones.Zone) -> ExplainScope:
    # No time zone is a whole day away from UTC, so one more day on either side is enough.
    noon = datetime(day.year, day.month, day.day, 12, tzinfo=UTC).timestamp() * 1000
    entries = ledger.queries.select_in_time(int(noon) - 2 * _DAY_MS, int(noon) + 2 * _DAY_MS)
    return ExplainScope(
        kind=ScopeKind.DAY,
        name=day.isoformat(),
        zone=zone,
        entries=tuple(entries),
        file_ids=frozenset(ledger.files),
        day=day,
    )


def _find_by_library(
    ledger: ledger_access.UsageLedger, target: str, zone: zones.Zone
) -> ExplainScope:
    try:
        if references.looks_like_file(target):
            transcript = references.locate_file(Path(target))
        else:
            transcript = locate_session(target, root=ledger.roots)
    except AmbiguousSession:
        raise
    except NothingFound as error:
        raise NothingFound(
            f"{error}\nIt is not the id of a counted message or a day such as 2026-11-15 either."
        ) from error
    known = {row.path: number for number, row in ledger.files.items()}
    number = known.get(transcript.file)
    if number is None:
        raise NothingFound(
            f"{transcript.path} is not in any of the Claude directories that were counted. "
            "Pass its directory with --claude-dir."
        )
    row = ledger.files[number]
    if row.kind == transcript_files.TranscriptKind.SESSION.value and row.session_id:
        return _make_session(ledger, row.session_id, zone)
    return _make_of_files(ledger, ScopeKind.SUBAGENT, row.agent_id or row.path, [number], zone)


_MARKER = b'"cost-state"'

Track = Callable[[Sequence[reports.ReportRow]], Iterable[reports.ReportRow]]
"""Wrapper around the rows that shows progress, as `rich.progress.track` does."""


def find_client_cost(path: Path) -> totals.ClientCost | None:
    """Return the last reported cost in a transcript; None if there is none or it is unreadable."""
    try:
        records = [decode_record(line) for line in _iter_marked_lines(path)]
    except UnreadableInput:
        return None
    for record in reversed(records):
        if isinstance(record, CostState) and record.total_cost_usd is not None:
            cost = round(record.total_cost_usd * MICRO)
            return totals.ClientCost(cost, bool(record.has_unknown_model_cost))
    return None


def _iter_marked_lines(path: Path) -> Iterator[bytes]:
    """Iterate over lines that contain the record type: decoding all would take much longer."""
    with open_file(path) as file:
        for block in iter_blocks(file):
            if _MARKER in block.data:
                yield from (line for line in block.data.split(b"\n") if _MARKER in line)


def add_client_costs(
    report: reports.UsageReport, ledger: ledger_access.UsageLedger, track: Track = iter
) -> reports.UsageReport:
    """Return a report by session with the costs that Claude Code reported, where it did."""
    paths = {
        row.session_id: row.path
        for row in ledger.files.values()
        if row.kind == transcript_files.TranscriptKind.SESSION.value and not row.is_gone
    }
    sums = _sum_client_costs(ledger)
    rows = tuple(
        structs.replace(row, client=_read_cost(paths.get(row.key or "")) or sums.get(row.key or ""))
        for row in track(report.rows)
    )
    return structs.replace(report, rows=rows)


def _read_cost(path: str | None) -> totals.ClientCost | None:
    return None if path is None else find_client_cost(Path(path))


def _sum_client_costs(ledger: ledger_access.UsageLedger) -> Mapping[str, totals.ClientCost]:
    """Return the costs that old clients wrote on messages, by session."""
    sums: defaultdict[str, list[ClientSum]] = defaultdict(list)
    for file_id, each in ledger.queries.sum_client_costs().items():
        if file_id in ledger.files:
            sums[ledger.files[file_id].session_id].append(each)
    return {
        session_id: totals.ClientCost(
            sum(each.cost for each in parts),
            messages=sum(each.messages for each in parts),
            own_cost=sum(each.own_cost for each in parts),
        )
        for session_id, parts in sums.items()
    }
