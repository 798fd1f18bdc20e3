"""What a figure to be explained is about: a message, a session, a subagent or a day.

Asks the index first, which remembers what is gone. Whatever else people call a session (a title,
a path, `latest`) means the same here as everywhere, so `library` looks it up among the files.
"""

from collections.abc import Iterable
from datetime import UTC, date, datetime
from enum import StrEnum
from pathlib import Path

from msgspec import Struct

from recollect.errors import AmbiguousSession, Candidate, NothingFound
from recollect.library.references import locate_session
from recollect.locations.references import SHORTEST_PREFIX, locate_file, looks_like_file
from recollect.locations.transcript_files import TranscriptKind
from recollect.store.usage_queries import Entry
from recollect.usage.days import find_day
from recollect.usage.loading import Books, find_file_homes
from recollect.usage.zones import Zone

_DAY_MS = 86_400_000


class ScopeKind(StrEnum):
    """What is explained."""

    MESSAGE = "message"
    SESSION = "session"
    SUBAGENT = "subagent"
    DAY = "day"


class Scope(Struct, frozen=True, kw_only=True):
    """What is explained, and every row that has to do with it."""

    kind: ScopeKind
    name: str
    zone: Zone
    entries: tuple[Entry, ...]
    """The rows that it is about, and all other rows of the same messages."""
    file_ids: frozenset[int] = frozenset()
    """The files that it is about: those of a session, or all below the roots."""
    day: date | None = None

    def holds(self, entry: Entry) -> bool:
        """Whether a row is part of it, going by the row alone."""
        return entry.file_id in self.file_ids and self.holds_time(entry.measures.time)

    def holds_time(self, time: int | None) -> bool:
        """Whether a time, in milliseconds, is within it; without a day any time is, and none."""
        if self.day is None:
            return True
        return time is not None and self.zone.find_day(time // 1000) == self.day


def find_scope(books: Books, target: str, zone: Zone, today: date) -> Scope:
    """What `target` names; raises NothingFound or AmbiguousSession when it is not one thing."""
    entries = books.ledger.select_of_message(target)
    if any(entry.file_id in books.files for entry in entries):
        return Scope(
            kind=ScopeKind.MESSAGE,
            name=target,
            zone=zone,
            entries=tuple(entries),
            file_ids=frozenset(books.files),
        )
    session = _find_session(books, target)
    if session is not None:
        return _make_session(books, session, zone)
    agents = [number for number, row in books.files.items() if _is_agent(row.agent_id, target)]
    if agents:
        return _make_of_files(books, ScopeKind.SUBAGENT, target, agents, zone)
    day = find_day(target, today)
    if day is not None:
        return _make_day(books, day, zone)
    return _find_by_library(books, target, zone)


def _find_session(books: Books, target: str) -> str | None:
    ids = {row.session_id for row in books.files.values() if row.session_id}
    if target in ids:
        return target
    if len(target) < SHORTEST_PREFIX:
        return None
    found = sorted(name for name in ids if name.startswith(target))
    if len(found) > 1:
        raise AmbiguousSession(target, _list_candidates(books, found))
    return found[0] if found else None


def _list_candidates(books: Books, ids: Iterable[str]) -> list[Candidate]:
    homes = find_file_homes(books)
    places: dict[str, str] = {}
    written: dict[str, int] = {}
    for number, row in books.files.items():
        places[row.session_id] = homes[number]
        written[row.session_id] = max(written.get(row.session_id, 0), row.mtime_ns)
    return [Candidate(each, None, places[each], written[each] / 1e9) for each in ids]


def _is_agent(agent_id: str | None, target: str) -> bool:
    return agent_id is not None and target in (agent_id, f"agent-{agent_id}")


def _make_session(books: Books, session_id: str, zone: Zone) -> Scope:
    files = [number for number, row in books.files.items() if row.session_id == session_id]
    return _make_of_files(books, ScopeKind.SESSION, session_id, files, zone)


def _make_of_files(
    books: Books, kind: ScopeKind, name: str, file_ids: Iterable[int], zone: Zone
) -> Scope:
    wanted = frozenset(file_ids)
    entries = books.ledger.select_of_files(wanted)
    return Scope(kind=kind, name=name, zone=zone, entries=tuple(entries), file_ids=wanted)


def _make_day(books: Books, day: date, zone: Zone) -> Scope:
    # No zone is a whole day away from UTC, so that a day more on either side is enough.
    noon = datetime(day.year, day.month, day.day, 12, tzinfo=UTC).timestamp() * 1000
    entries = books.ledger.select_in_time(int(noon) - 2 * _DAY_MS, int(noon) + 2 * _DAY_MS)
    return Scope(
        kind=ScopeKind.DAY,
        name=day.isoformat(),
        zone=zone,
        entries=tuple(entries),
        file_ids=frozenset(books.files),
        day=day,
    )


def _find_by_library(books: Books, target: str, zone: Zone) -> Scope:
    try:
        if looks_like_file(target):
            transcript = locate_file(Path(target))
        else:
            transcript = locate_session(target, root=books.roots)
    except AmbiguousSession:
        raise
    except NothingFound as error:
        raise NothingFound(
            f"{error}\nNor is it the id of a counted message, or a day such as 2026-11-15."
        ) from error
    known = {row.path: number for number, row in books.files.items()}
    number = known.get(transcript.file)
    if number is None:
        raise NothingFound(
            f"{transcript.path} is below none of the Claude directories that were counted. "
            "Name its directory with --claude-dir."
        )
    row = books.files[number]
    if row.kind == TranscriptKind.SESSION.value and row.session_id:
        return _make_session(books, row.session_id, zone)
    return _make_of_files(books, ScopeKind.SUBAGENT, row.agent_id or row.path, [number], zone)
