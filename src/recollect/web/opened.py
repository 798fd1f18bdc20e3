"""Sessions that were opened lately, kept so that the next request for one is answered at once.

Bounded by the bytes of transcripts that were read for them: a session in memory is about twice as
large as its files. Each is used by one thread at a time, because a session that is being extended
must not be looked at.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from recollect.errors import NothingFound
from recollect.library.growing import GrowingSession
from recollect.session.session import Session
from recollect.web.shelf import Found, refresh_state

MOST_BYTES: Final = 160 * 1024 * 1024


class _Place:
    """One session, and whose turn it is."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.growing = GrowingSession()
        self.is_read = False


class OpenedSessions:
    """The sessions, the one used longest ago first."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most = most_bytes
        self._places: OrderedDict[str, _Place] = OrderedDict()
        self._lock = threading.Lock()

    @contextmanager
    def use(self, found: Found) -> Iterator[Session]:
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

    def is_open(self, found: Found) -> bool:
        """Whether the session was read before, so that using it costs little."""
        place = self._places.get(found.transcript.file)
        return place is not None and place.is_read

    def _find_place(self, path: str) -> _Place:
        with self._lock:
            place = self._places.setdefault(path, _Place())
            self._places.move_to_end(path)
            return place

    def _shrink(self) -> None:
        """Forget what was used longest ago; the last one stays, however large it is."""
        with self._lock:
            total = sum(place.growing.bytes for place in self._places.values())
            while total > self._most and len(self._places) > 1:
                _, oldest = self._places.popitem(last=False)
                total -= oldest.growing.bytes
