"""Sessions that were opened lately, kept so that the next request for one is answered at once.

Bounded by the bytes of transcripts that were read for them: a session in memory is about twice as
large as its files. Each is used by one thread at a time, because a session that is being extended
must not be looked at.

The last survey of all files, for as long as it holds.

A survey reads every byte, so that it is made when somebody asks, and never twice at once.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from msgspec.structs import replace

from recollect.documents.health_report import HealthReport
from recollect.errors import NothingFound
from recollect.health.root_checks import examine_index, examine_roots
from recollect.health.survey import survey, take_inventory
from recollect.library.opening import IncrementalSession
from recollect.session.session import Session
from recollect.store import SQLITE_VERSION
from recollect.web.session_catalog import FoundSession, Snapshot, refresh_state
from recollect.web.settings import Settings

MAX_BYTES: Final = 160 * 1024 * 1024


class _CachedSession:
    """One session, and whose turn it is."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.growing = IncrementalSession()
        self.is_read = False


class SessionCache:
    """The sessions, the one used longest ago first."""

    def __init__(self, most_bytes: int = MAX_BYTES) -> None:
        self._most = most_bytes
        self._places: OrderedDict[str, _CachedSession] = OrderedDict()
        self._lock = threading.Lock()

    @contextmanager
    def use(self, found: FoundSession) -> Iterator[Session]:
        """The session, level with its files, for as long as nobody else may change it."""
        place = self._find_place(found.transcript.file)
        with place.lock:
            current = refresh_state([found.transcript])
            if not current:
                raise NothingFound(f"The transcript of {found.listing.id} is gone.")
            session = place.growing.catch_up(current[0], refresh_state(found.relatives))
            place.is_read = True
            yield session
        self._shrink()

    def is_open(self, found: FoundSession) -> bool:
        """Whether the session was read before, so that using it costs little."""
        place = self._places.get(found.transcript.file)
        return place is not None and place.is_read

    def _find_place(self, path: str) -> _CachedSession:
        with self._lock:
            place = self._places.setdefault(path, _CachedSession())
            self._places.move_to_end(path)
            return place

    def _shrink(self) -> None:
        """Forget what was used longest ago; the last one stays, however large it is."""
        with self._lock:
            total = sum(place.growing.bytes for place in self._places.values())
            while total > self._most and len(self._places) > 1:
                _, oldest = self._places.popitem(last=False)
                total -= oldest.growing.bytes


HealthState = frozenset[tuple[str, int, int]]


class HealthCache:
    """Makes surveys, and keeps the last one."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._made: tuple[HealthState, HealthReport] | None = None

    def find_report(self, known: Snapshot) -> HealthReport:
        """The report on the files as they are known."""
        with self._lock:
            state = _find_state(known)
            if self._made is None or self._made[0] != state:
                self._made = (state, self._make_report(known))
            return self._made[1]

    def _make_report(self, known: Snapshot) -> HealthReport:
        settings = self._settings
        inventory = take_inventory(settings.roots)
        report = survey(inventory.sources, inventory.refused)
        if settings.is_demo:
            return report
        transcripts = list(known.transcripts.values())
        return replace(
            report,
            roots=examine_roots(settings.roots, settings.now()),
            index=examine_index(settings.data_directory, transcripts),
            sqlite=SQLITE_VERSION,
        )

    def find_made(self, known: Snapshot) -> HealthReport | None:
        """The report, if it was made before and still holds."""
        made = self._made
        return made[1] if made is not None and made[0] == _find_state(known) else None


def _find_state(known: Snapshot) -> HealthState:
    return frozenset((path, each.size, each.mtime_ns) for path, each in known.transcripts.items())
