"""Resolve the target of `usage explain`: a message, a session, a subagent or a day.

The index is tried first, because it still has deleted transcripts. Other ways to name a session (a
title, a path, `latest`) mean the same here as everywhere, so `library` resolves them.
"""

from collections.abc import Iterable
from datetime import UTC, date, datetime
from enum import StrEnum
from pathlib import Path

from msgspec import Struct

from recollect.errors import AmbiguousSession, Candidate, NothingFound
from recollect.library.sessions import locate_session
from recollect.locations.references import MIN_PREFIX_LENGTH, locate_file, looks_like_file
from recollect.locations.transcript_files import TranscriptKind
from recollect.session.calendar import find_day
from recollect.store.usage_queries import LedgerEntry
from recollect.usage.ledger_access import UsageLedger, find_file_project_paths
from recollect.usage.zones import Zone

_DAY_MS = 86_400_000


class ScopeKind(StrEnum):
    """What is explained."""

    MESSAGE = "message"
    SESSION = "session"
    SUBAGENT = "subagent"
    DAY = "day"


class ExplainScope(Struct, frozen=True, kw_only=True):
    """What is explained, and all ledger entries that are needed for it."""

    kind: ScopeKind
    name: str
    zone: Zone
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


def find_scope(ledger: UsageLedger, target: str, zone: Zone, today: date) -> ExplainScope:
    """Resolve `target`; raises `NothingFound` or `AmbiguousSession` unless it is exactly one."""
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


def _find_session(ledger: UsageLedger, target: str) -> str | None:
    ids = {row.session_id for row in ledger.files.values() if row.session_id}
    if target in ids:
        return target
    if len(target) < MIN_PREFIX_LENGTH:
        return None
    found = sorted(name for name in ids if name.startswith(target))
    if len(found) > 1:
        raise AmbiguousSession(target, _list_candidates(ledger, found))
    return found[0] if found else None


def _list_candidates(ledger: UsageLedger, ids: Iterable[str]) -> list[Candidate]:
    project_paths = find_file_project_paths(ledger)
    directories: dict[str, str] = {}
    modified: dict[str, int] = {}
    for number, row in ledger.files.items():
        directories[row.session_id] = project_paths[number]
        modified[row.session_id] = max(modified.get(row.session_id, 0), row.mtime_ns)
    return [Candidate(each, None, directories[each], modified[each] / 1e9) for each in ids]


def _is_agent(agent_id: str | None, target: str) -> bool:
    return agent_id is not None and target in (agent_id, f"agent-{agent_id}")


def _make_session(ledger: UsageLedger, session_id: str, zone: Zone) -> ExplainScope:
    files = [number for number, row in ledger.files.items() if row.session_id == session_id]
    return _make_of_files(ledger, ScopeKind.SESSION, session_id, files, zone)


def _make_of_files(
    ledger: UsageLedger, kind: ScopeKind, name: str, file_ids: Iterable[int], zone: Zone
) -> ExplainScope:
    wanted = frozenset(file_ids)
    entries = ledger.queries.select_of_files(wanted)
    return ExplainScope(kind=kind, name=name, zone=zone, entries=tuple(entries), file_ids=wanted)


def _make_day(ledger: UsageLedger, day: date, zone: Zone) -> ExplainScope:
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


def _find_by_library(ledger: UsageLedger, target: str, zone: Zone) -> ExplainScope:
    try:
        if looks_like_file(target):
            transcript = locate_file(Path(target))
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
    if row.kind == TranscriptKind.SESSION.value and row.session_id:
        return _make_session(ledger, row.session_id, zone)
    return _make_of_files(ledger, ScopeKind.SUBAGENT, row.agent_id or row.path, [number], zone)
