"""One look at the files after another, each bringing level what has changed since.

Knows the order that people feel: the newest sessions are listed first, then usage is counted, then
texts are indexed, a little at a time, and last comes what takes reading whole files. An index that
cannot be written costs the answers that need it, and no more.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from recollect.errors import IndexFailure, NothingFound, UnreadableInput
from recollect.health.retention import read_retention
from recollect.library.processes import find_live_processes
from recollect.locations import Transcript
from recollect.session.live_process import LiveProcess
from recollect.sync.level import find_transcripts
from recollect.sync.listings import list_level
from recollect.web.shelf import SessionUsage, Update

FIRST_BATCH: Final = 400
"""Sessions that are described before all others: what a first look waits for."""

BATCH: Final = 4000
FIGURE_BYTES: Final = 32 << 20
"""Transcripts that are read whole in one look."""

SETTLED_SECONDS: Final = 20.0
"""A large file that is written to right now is read whole when it comes to rest."""

LARGE: Final = 1 << 20

LEAST_PAUSE: Final = 0.5
SHARE: Final = 8
"""A look at all files may take one part in so many of the time."""


class Task(Struct, frozen=True):
    """Which files to look at, and where the index is."""

    roots: tuple[Path, ...]
    data_directory: Path
    shows_errors: bool = False
    """Whether a bug may be told on stderr."""


class Rounds:
    """Remembers what it has told, so that it tells only what is new."""

    def __init__(self, task: Task, tell: Callable[[Update], None]) -> None:
        self._task = task
        self._tell = tell
        self._states: dict[str, tuple[int, int, int]] = {}
        self._usage: dict[str, SessionUsage] = {}
        self._live: Mapping[str, LiveProcess] | None = None
        self._is_searchable: bool | None = None
        self._unread: dict[str, Transcript] = {}
        self._is_first = True
        self.has_found = False
        """Whether the last look found a change."""

    def run(self) -> float:
        """Look once; the seconds until the next look."""
        started = time.monotonic()
        transcripts = _find_transcripts(self._task.roots)
        changed = [each for each in transcripts if self._states.get(each.file) != each.state]
        gone = tuple(self._states.keys() - {each.file for each in transcripts})
        seconds = time.monotonic() - started
        self.has_found = bool(changed or gone)
        self._tell_processes()
        if changed or gone or self._is_first:
            self._list(changed, gone)
            self._count(transcripts)
        if changed or gone or not self._is_searchable:
            self._index(transcripts)
        elif self._unread:
            self._find_figures()
        self._is_first = False
        has_more = not self._is_searchable or bool(self._list_settled())
        return 0.0 if has_more else max(LEAST_PAUSE, SHARE * seconds)

    def _tell_processes(self) -> None:
        live: dict[str, LiveProcess] = {}
        for root in self._task.roots:
            live |= find_live_processes(root)
        if live != self._live:
            self._live = live
            self._tell(Update(live=live))

    def _list(self, changed: Sequence[Transcript], gone: tuple[str, ...]) -> None:
        newest = sorted(changed, key=lambda each: -each.mtime_ns)
        for batch in _split(newest):
            self._describe(batch)
        for path in gone:
            del self._states[path]
            self._unread.pop(path, None)
        self._states.update((each.file, each.state) for each in changed)
        days = min((read_retention(root).days for root in self._task.roots), default=None)
        self._tell(Update(gone=gone, keeps_days=days, is_listed=True))

    def _describe(self, transcripts: Sequence[Transcript]) -> None:
        """Tell what lists show of these transcripts, and note what they cannot show yet."""
        found = {each.path: each for each in list_level(self._task.data_directory, transcripts)}
        listings = tuple((each.file, found.get(each.file)) for each in transcripts)
        for each, (path, listing) in zip(transcripts, listings, strict=True):
            if listing is not None and listing.turn_count is None:
                self._unread[path] = each
        self._tell(Update(transcripts=tuple(transcripts), listings=listings))

    def _find_figures(self) -> None:
        """Read some transcripts whole; those that cannot be read are not tried again."""
        batch = self._list_settled()
        for each in batch:
            del self._unread[each.file]
        if batch:
            found = list_level(self._task.data_directory, batch, is_complete=True)
            self._tell(Update(listings=tuple((each.path, each) for each in found)))

    def _list_settled(self) -> list[Transcript]:
        """The next transcripts to read whole."""
        now, room = time.time(), FIGURE_BYTES
        batch: list[Transcript] = []
        for each in self._unread.values():
            if each.size < LARGE or now - each.mtime_ns / 1e9 > SETTLED_SECONDS:
                batch.append(each)
                room -= each.size
            if room <= 0:
                break
        return batch

    def _count(self, transcripts: Sequence[Transcript]) -> None:
        # With it comes most of the program, which somebody who waits for the list does without.
        from recollect.web.levelling.contents import count_usage  # noqa: PLC0415

        try:
            usage, failure = count_usage(self._task.data_directory, transcripts, self._task.roots)
        except IndexFailure as error:
            self._tell(Update(failure=str(error)))
            return
        fresh = {key: each for key, each in usage.items() if self._usage.get(key) != each}
        self._usage = usage
        self._tell(Update(usage=fresh, failure=failure))

    def _index(self, transcripts: Sequence[Transcript]) -> None:
        from recollect.web.levelling.contents import index_some  # noqa: PLC0415 - as above

        try:
            is_level = index_some(self._task.data_directory, transcripts)
        except IndexFailure as error:
            # Nothing more can be done about it here; search says why it finds nothing.
            self._is_searchable = True
            self._tell(Update(is_searchable=False, failure=str(error)))
            return
        if is_level != self._is_searchable:
            self._is_searchable = is_level
            self._tell(Update(is_searchable=is_level))


def _find_transcripts(roots: Sequence[Path]) -> list[Transcript]:
    try:
        return find_transcripts(roots)
    except (NothingFound, UnreadableInput):
        # A root that was there at the start may be on a disk that was taken out.
        return []


def _split(transcripts: Sequence[Transcript]) -> Iterator[Sequence[Transcript]]:
    if transcripts:
        yield transcripts[:FIRST_BATCH]
    for start in range(FIRST_BATCH, len(transcripts), BATCH):
        yield transcripts[start : start + BATCH]
