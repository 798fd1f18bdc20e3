"""Opened sessions and the last health report, kept so that the next request is immediate.

Sessions are limited by the bytes of transcripts that were read for them: a session in memory is
about twice as large as its files. Each is used by one thread at a time, because a session must not
be read while it is being extended. A health report reads every byte of every file, so it is made on
request, and never twice at once.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from recollect.documents.health_report import HealthReport
from recollect.errors import NothingFound
from recollect.health.file_checks import check_files, list_inputs
from recollect.library.opening import IncrementalSession
from recollect.redact.own_rules import find_own_rules
from recollect.session.session import Session
from recollect.workspace.maintenance import add_local_checks
from recollect.workspace.session_catalog import FoundSession, Snapshot, refresh_state
from recollect.workspace.workspace import Workspace

MAX_BYTES: Final = 160 * 1024 * 1024


class _CachedSession:
    """An opened session and its lock."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.reader = IncrementalSession()
        self.is_read = False


class SessionCache:
    """The most recently used sessions."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._sessions: OrderedDict[str, _CachedSession] = OrderedDict()
        self._lock = threading.Lock()
        self._rules = find_own_rules()

    @contextmanager
    def use(self, found: FoundSession) -> Iterator[Session]:
        """Open a session, up to date with its files; nobody else changes it meanwhile."""
        entry = self._find_entry(found.transcript.file)
        with entry.lock:
            current = refresh_state([found.transcript])
            if not current:
                raise NothingFound(f"The transcript of {found.listing.id} no longer exists.")
            session = entry.reader.catch_up(current[0], refresh_state(found.relatives))
            entry.is_read = True
            yield session
        self._evict()

    def is_open(self, found: FoundSession) -> bool:
        """Return whether the session is already in memory."""
        entry = self._sessions.get(found.transcript.file)
        return entry is not None and entry.is_read

    def _find_entry(self, path: str) -> _CachedSession:
        with self._lock:
            if self._rules is not find_own_rules():
                # The cached sessions are masked by the previous rules.
                self._rules = find_own_rules()
                self._sessions.clear()
            entry = self._sessions.setdefault(path, _CachedSession())
            self._sessions.move_to_end(path)
            return entry

    def _evict(self) -> None:
        """Drop the least recently used sessions; the last one stays, however large it is."""
        with self._lock:
            total = sum(entry.reader.bytes for entry in self._sessions.values())
            while total > self._max_bytes and len(self._sessions) > 1:
                _, oldest = self._sessions.popitem(last=False)
                total -= oldest.reader.bytes


HealthState = frozenset[tuple[str, int, int]]


class HealthCache:
    """Makes health reports, and caches the last one."""

    def __init__(self, workspace: Workspace, *, checks_this_machine: bool) -> None:
        self._workspace = workspace
        self._checks_this_machine = checks_this_machine
        self._lock = threading.Lock()
        self._made: tuple[HealthState, HealthReport] | None = None

    def find_report(self, known: Snapshot) -> HealthReport:
        """Return a report on the files in the snapshot."""
        with self._lock:
            state = _find_state(known)
            if self._made is None or self._made[0] != state:
                self._made = (state, self._make_report())
            return self._made[1]

    def get_cached(self, known: Snapshot) -> HealthReport | None:
        """Return the last report if it is still current."""
        made = self._made
        return made[1] if made is not None and made[0] == _find_state(known) else None

    def _make_report(self) -> HealthReport:
        inputs = list_inputs(self._workspace.roots)
        report = check_files(inputs.sources, inputs.refused)
        return add_local_checks(self._workspace, report) if self._checks_this_machine else report


def _find_state(known: Snapshot) -> HealthState:
    return frozenset((path, each.size, each.mtime_ns) for path, each in known.transcripts.items())
