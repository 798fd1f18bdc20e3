"""The last survey of all files, for as long as it holds.

A survey reads every byte, so that it is made when somebody asks, and never twice at once.
"""

import threading

from msgspec.structs import replace

from recollect.health.index_state import examine_index
from recollect.health.report import Report
from recollect.health.roots import examine_roots
from recollect.health.sources import take_inventory
from recollect.health.survey import survey
from recollect.store.versions import SQLITE_VERSION
from recollect.web.settings import Settings
from recollect.web.shelf import Known

State = frozenset[tuple[str, int, int]]


class Surveys:
    """Makes surveys, and keeps the last one."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._made: tuple[State, Report] | None = None

    def find_report(self, known: Known) -> Report:
        """The report on the files as they are known."""
        with self._lock:
            state = _find_state(known)
            if self._made is None or self._made[0] != state:
                self._made = (state, self._make_report(known))
            return self._made[1]

    def _make_report(self, known: Known) -> Report:
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

    def find_made(self, known: Known) -> Report | None:
        """The report, if it was made before and still holds."""
        made = self._made
        return made[1] if made is not None and made[0] == _find_state(known) else None


def _find_state(known: Known) -> State:
    return frozenset((path, each.size, each.mtime_ns) for path, each in known.transcripts.items())
