"""What is brought level by reading files: what sessions used, and which words they hold.

Needs most of the program; the list of sessions, which comes first, does not.

One look at the files after another, each bringing level what has changed since.

Knows the order that people feel: the newest sessions are listed first, then usage is counted, then
texts are indexed, a little at a time, and last comes what takes reading whole files. An index that
cannot be written costs the answers that need it, and no more.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from msgspec import Struct

from recollect.documents.session_listing import LiveProcess
from recollect.errors import IndexFailure, NothingFound, UnreadableInput
from recollect.health.retention import read_retentions
from recollect.library.processes import find_live_processes
from recollect.locations import Transcript
from recollect.search.engine import ANALYZER
from recollect.sources.stamps import Stamp, make_stamp
from recollect.store.text_database import find_identity
from recollect.store.usage_queries import UsageQueries
from recollect.sync.freshness import find_transcripts
from recollect.sync.session_lists import list_current, list_retitled
from recollect.sync.text_indexer import index_texts
from recollect.usage.groups import Group
from recollect.usage.ledger_access import UsageLedger, ask_ledger, load_rows
from recollect.usage.reports import UsageQuestion, make_report
from recollect.usage.zones import load_zone
from recollect.web.session_catalog import SessionUsage, Update

TEXT_SECONDS: Final = 2.0
"""How long texts are indexed before files are looked at again."""


def count_usage(
    data_directory: Path, transcripts: Sequence[Transcript], roots: Sequence[Path]
) -> tuple[dict[str, SessionUsage], str | None]:
    """What each session used, and what is wrong with the index if anything is."""
    return ask_ledger(data_directory, transcripts, partial(_add_up, roots))


def index_some(data_directory: Path, transcripts: Sequence[Transcript]) -> bool:
    """Make texts searchable for a while; whether all of them are."""
    return index_texts(data_directory, ANALYZER, transcripts, seconds=TEXT_SECONDS)


def find_text_identity(data_directory: Path) -> str | None:
    """The identity of the full-text index; None if there is none that is sound."""
    return find_identity(data_directory, ANALYZER.version)


def _add_up(roots: Sequence[Path], queries: UsageQueries) -> dict[str, SessionUsage]:
    question = UsageQuestion(group=Group.SESSION, zone=load_zone("UTC"), breakdown=True)
    report = make_report(load_rows(UsageLedger(queries, roots), question), question)
    return {
        row.key: SessionUsage(row.totals, tuple(each.key for each in row.models if each.key))
        for row in report.rows
        if row.key is not None
    }


FIRST_BATCH: Final = 400
"""Sessions that are described before all others: what a first look waits for."""

BATCH: Final = 4000
FIGURE_BYTES: Final = 32 << 20
"""Transcripts that are read whole in one look."""

SETTLED_SECONDS: Final = 20.0
"""A large file that is written to right now is read whole when it comes to rest."""

LARGE: Final = 1 << 20

MIN_PAUSE: Final = 0.5
SHARE: Final = 8
"""A look at all files may take one part in so many of the time."""


class RefreshTask(Struct, frozen=True):
    """Which files to look at, and where the index is."""

    roots: tuple[Path, ...]
    data_directory: Path
    shows_errors: bool = False
    """Whether a bug may be told on stderr."""


class Refresher:
    """Remembers what it has told, so that it tells only what is new."""

    def __init__(self, task: RefreshTask, tell: Callable[[Update], None]) -> None:
        self._task = task
        self._publish = tell
        self._stamps: dict[str, Stamp] = {}
        self._usage: dict[str, SessionUsage] = {}
        self._live: Mapping[str, LiveProcess] | None = None
        self._is_searchable: bool | None = None
        self._text_identity: str | None = None
        self._unread: dict[str, Transcript] = {}
        self._titles: dict[Path, str] = {}
        """A hash of the titles in the files of a project, once one of these has changed."""
        self._is_first = True
        self.has_found = False
        """Whether the last look found a change."""

    def check_texts(self) -> None:
        """Index texts in the next look, whatever the index was like after the last."""
        self._is_searchable = None

    def run(self) -> float:
        """Look once; the seconds until the next look."""
        started = time.monotonic()
        transcripts = _find_transcripts(self._task.roots)
        changed = [each for each in transcripts if self._stamps.get(each.file) != each.stamp]
        gone = tuple(self._stamps.keys() - {each.file for each in transcripts})
        seconds = time.monotonic() - started
        self.has_found = bool(changed or gone)
        self._tell_processes()
        if changed or gone or self._is_first:
            self._list(changed, gone)
            self._retitle(transcripts, changed, gone)
            self._count(transcripts)
        if changed or gone or not self._is_searchable or self._has_lost_texts():
            self._index(transcripts)
        elif self._unread:
            self._find_figures()
        self._is_first = False
        has_more = not self._is_searchable or bool(self._list_settled())
        return 0.0 if has_more else max(MIN_PAUSE, SHARE * seconds)

    def _tell_processes(self) -> None:
        live: dict[str, LiveProcess] = {}
        for root in self._task.roots:
            live |= find_live_processes(root)
        if live != self._live:
            self._live = live
            self._publish(Update(live=live))

    def _list(self, changed: Sequence[Transcript], gone: tuple[str, ...]) -> None:
        stamps = {each.file: make_stamp(each.stamp) for each in changed}
        newest = sorted(changed, key=lambda each: -each.mtime_ns)
        for batch in _split(newest):
            self._describe(batch)
        for path in gone:
            del self._stamps[path]
            self._unread.pop(path, None)
        self._stamps.update(stamps)
        retentions = read_retentions(self._task.roots)
        self._publish(Update(gone=gone, retentions=retentions, is_listed=True))

    def _describe(self, transcripts: Sequence[Transcript]) -> None:
        """Tell what lists show of these transcripts, and note what they cannot show yet."""
        found = {each.path: each for each in list_current(self._task.data_directory, transcripts)}
        listings = tuple((each.file, found.get(each.file)) for each in transcripts)
        for each, (path, listing) in zip(transcripts, listings, strict=True):
            if listing is not None and listing.turn_count is None:
                self._unread[path] = each
        self._publish(Update(transcripts=tuple(transcripts), listings=listings))

    def _retitle(
        self, transcripts: Sequence[Transcript], changed: Sequence[Transcript], gone: Sequence[str]
    ) -> None:
        """Tell of sessions whose title is written in another file and has changed there."""
        if self._is_first and len(changed) <= FIRST_BATCH:
            # They were described together.
            return
        # The whole session model: a first list may do without it.
        from recollect.library.listings import SessionContext

        surroundings = SessionContext()
        directories = {each.project_dir for each in changed} | _find_projects(transcripts, gone)
        titles = {each: surroundings.hash_project_titles(each) for each in directories}
        renamed = {each for each in directories if self._titles.get(each) != titles[each]}
        self._titles |= titles
        beside = [each for each in transcripts if each.project_dir in renamed]
        if found := list_retitled(self._task.data_directory, beside, surroundings):
            self._publish(Update(listings=tuple((each.path, each) for each in found)))

    def _find_figures(self) -> None:
        """Read some transcripts whole; those that cannot be read are not tried again."""
        batch = self._list_settled()
        for each in batch:
            del self._unread[each.file]
        if batch:
            found = list_current(self._task.data_directory, batch, is_complete=True)
            self._publish(Update(listings=tuple((each.path, each) for each in found)))

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

        try:
            usage, failure = count_usage(self._task.data_directory, transcripts, self._task.roots)
        except IndexFailure as error:
            self._publish(Update(failure=str(error)))
            return
        fresh = {key: each for key, each in usage.items() if self._usage.get(key) != each}
        self._usage = usage
        self._publish(Update(usage=fresh, failure=failure))

    def _index(self, transcripts: Sequence[Transcript]) -> None:

        try:
            is_level = index_some(self._task.data_directory, transcripts)
        except IndexFailure as error:
            # Nothing more can be done about it here; search says why it finds nothing.
            self._is_searchable = True
            self._publish(Update(is_searchable=False, failure=str(error)))
            return
        self._text_identity = find_text_identity(self._task.data_directory)
        if is_level != self._is_searchable:
            self._is_searchable = is_level
            self._publish(Update(is_searchable=is_level))

    def _has_lost_texts(self) -> bool:
        """Whether somebody has deleted the full-text index, as it is done with a damaged one."""
        if find_text_identity(self._task.data_directory) == self._text_identity:
            return False
        self.check_texts()
        return True


def _find_transcripts(roots: Sequence[Path]) -> list[Transcript]:
    try:
        return find_transcripts(roots)
    except (NothingFound, UnreadableInput):
        # A root that was there at the start may be on a disk that was taken out.
        return []


def _find_projects(transcripts: Iterable[Transcript], files: Iterable[str]) -> set[Path]:
    """The projects in whose directories these files were, as far as anything is left in them."""
    directories = {Path(file).parent for file in files}
    return {each.project_dir for each in transcripts if each.path.parent in directories}


def _split(transcripts: Sequence[Transcript]) -> Iterator[Sequence[Transcript]]:
    if transcripts:
        yield transcripts[:FIRST_BATCH]
    for start in range(FIRST_BATCH, len(transcripts), BATCH):
        yield transcripts[start : start + BATCH]
