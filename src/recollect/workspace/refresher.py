"""Check all files repeatedly, and update what has changed.

What users notice first comes first: the newest transcripts are indexed and listed, then all others;
then usage is counted and texts are indexed, a little at a time; figures that need whole files come
last. If the index cannot be written, everything that does not need it still works.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from recollect.archive import find_archive_directory
from recollect.archive.deleted_sessions import add_partial_sessions
from recollect.documents.session_listing import LiveProcess, SessionUsage
from recollect.errors import IndexFailure, NothingFound, UnreadableInput
from recollect.health.retention import read_retentions
from recollect.locations import Transcript
from recollect.redact.own_rules import LoadPolicy, refresh_own_rules
from recollect.search.engine import ANALYZER
from recollect.sources.safe_files import FileParts, use_parts
from recollect.sources.source import Stamp, make_stamp
from recollect.store import find_identity
from recollect.sync import (
    FIGURES,
    find_transcripts,
    index_texts,
    list_current,
    list_retitled,
    sync_with_parts,
)
from recollect.usage.ledger_access import query_ledger_of
from recollect.workspace import session_catalog, session_queries, usage_requests

if TYPE_CHECKING:
    from recollect.library.listings import SessionContext

TEXT_SECONDS: Final = 2.0
"""How long texts are indexed before files are checked again."""


def count_usage(
    data_directory: Path, transcripts: Sequence[Transcript], roots: Sequence[Path]
) -> tuple[dict[str, SessionUsage], str | None]:
    """Return the usage of each session, and the error if the index cannot be used."""
    return query_ledger_of(roots, data_directory, transcripts, usage_requests.sum_by_session)


def update_text_index(data_directory: Path, transcripts: Sequence[Transcript]) -> bool:
    """Index texts for `TEXT_SECONDS`; return whether all are indexed."""
    return index_texts(
        data_directory, ANALYZER, transcripts, seconds=TEXT_SECONDS, consumers=(FIGURES,)
    )


def find_text_identity(data_directory: Path) -> str | None:
    """Return the identity of the full-text index; None if there is no valid one."""
    return find_identity(data_directory, ANALYZER.version)


FIRST_BATCH: Final = 100
"""Number of files that are listed before all others, because the first page waits for them."""

BATCH: Final = 400
"""Number of files whose heads and tails are in memory at a time: up to 50 MB."""

FIGURE_BYTES: Final = 32 << 20
"""Bytes of transcripts that are read completely per round."""

SETTLED_SECONDS: Final = 20.0
"""A large file that is being written is read completely once it has been quiet for this long."""

LARGE: Final = 1 << 20

MIN_PAUSE: Final = 0.5
SHARE: Final = 8
"""Checking all files may take at most 1/SHARE of the time."""


class RefreshTask(Struct, frozen=True):
    """The files to check, and the location of the index."""

    roots: tuple[Path, ...]
    data_directory: Path
    shows_errors: bool = False
    """Whether internal errors are reported on stderr."""
    load_rules: LoadPolicy | None = None
    """Loads the user's own rules for secrets."""


class Refresher:
    """Sends only what is new, by remembering what it has sent."""

    def __init__(
        self, task: RefreshTask, publish: Callable[[session_catalog.Update], None]
    ) -> None:
        self._task = task
        self._publish = publish
        self._stamps: dict[str, Stamp] = {}
        self._usage: dict[str, SessionUsage] = {}
        self._live: Mapping[str, LiveProcess] | None = None
        self._is_searchable: bool | None = None
        self._text_identity: str | None = None
        self._unread: dict[str, Transcript] = {}
        self._titles: dict[Path, str] = {}
        """A hash of the titles in the files of a project, once one of them has changed."""
        self._is_first = True
        self.has_found = False
        """Whether the last round found a change."""

    def check_texts(self) -> None:
        """Index texts in the next round, whatever the state of the index."""
        self._is_searchable = None

    def run(self) -> float:
        """Run one round; return the seconds until the next."""
        started = time.monotonic()
        is_outdated = refresh_own_rules()
        if is_outdated:
            # Everything sent so far was masked by other rules.
            self._is_first, self._is_searchable = True, None
        transcripts = _find_transcripts(self._task)
        changed = [
            each for each in transcripts if is_outdated or self._stamps.get(each.file) != each.stamp
        ]
        gone = tuple(self._stamps.keys() - {each.file for each in transcripts})
        seconds = time.monotonic() - started
        self.has_found = bool(changed or gone)
        self._publish_processes()
        if changed or gone or self._is_first:
            find_context = cache(_make_context)
            self._list(changed, gone, find_context)
            if not self._is_first or len(changed) > FIRST_BATCH:
                self._retitle(transcripts, changed, gone, find_context())
            self._count(transcripts)
        if changed or gone or not self._is_searchable or self._has_lost_texts():
            self._index(transcripts)
        elif self._unread:
            self._find_figures()
        self._is_first = False
        has_more = not self._is_searchable or bool(self._list_ready())
        return 0.0 if has_more else max(MIN_PAUSE, SHARE * seconds)

    def _publish_processes(self) -> None:
        live = session_queries.find_running(self._task.roots)
        if live != self._live:
            self._live = live
            self._publish(session_catalog.Update(live=live))

    def _list(
        self,
        changed: Sequence[Transcript],
        gone: tuple[str, ...],
        find_context: "Callable[[], SessionContext]",
    ) -> None:
        stamps = {each.file: make_stamp(each.stamp) for each in changed}
        newest = sorted(changed, key=lambda each: -each.mtime_ns)
        for batch in _split(newest):
            # A list needs parts of every file, which the index has just read.
            with use_parts(self._sync(batch)):
                self._describe(batch, find_context)
        for path in gone:
            del self._stamps[path]
            self._unread.pop(path, None)
        self._stamps.update(stamps)
        retentions = read_retentions(self._task.roots)
        self._publish(session_catalog.Update(gone=gone, retentions=retentions, is_listed=True))

    def _sync(self, transcripts: Sequence[Transcript]) -> dict[str, FileParts]:
        """Update the index from these transcripts; return their parts that lists need."""
        try:
            return sync_with_parts(self._task.data_directory, transcripts)
        except IndexFailure:
            # Counting usage reports the error.
            return {}

    def _describe(
        self, transcripts: Sequence[Transcript], find_context: "Callable[[], SessionContext]"
    ) -> None:
        """Send the listings of these transcripts, and queue those without figures."""
        listed = list_current(self._task.data_directory, transcripts, find_context=find_context)
        found = {each.path: each for each in listed}
        listings = tuple((each.file, found.get(each.file)) for each in transcripts)
        for each, (path, listing) in zip(transcripts, listings, strict=True):
            if listing is not None and listing.turn_count is None:
                self._unread[path] = each
        self._publish(session_catalog.Update(transcripts=tuple(transcripts), listings=listings))

    def _retitle(
        self,
        transcripts: Sequence[Transcript],
        changed: Sequence[Transcript],
        gone: Sequence[str],
        context: "SessionContext",
    ) -> None:
        """Send the sessions whose title was changed by another file."""
        directories = {each.project_dir for each in changed} | _find_projects(transcripts, gone)
        titles = {each: context.hash_project_titles(each) for each in directories}
        renamed = {each for each in directories if self._titles.get(each) != titles[each]}
        self._titles |= titles
        beside = [each for each in transcripts if each.project_dir in renamed]
        if found := list_retitled(self._task.data_directory, beside, context):
            self._publish(
                session_catalog.Update(listings=tuple((each.path, each) for each in found))
            )

    def _find_figures(self) -> None:
        """Read some transcripts completely; unreadable ones are not tried again."""
        batch = self._list_ready()
        for each in batch:
            del self._unread[each.file]
        if batch:
            found = list_current(self._task.data_directory, batch, is_complete=True)
            self._publish(
                session_catalog.Update(listings=tuple((each.path, each) for each in found))
            )

    def _list_ready(self) -> list[Transcript]:
        """Return the next transcripts to read completely."""
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
        try:
            usage, failure = count_usage(self._task.data_directory, transcripts, self._task.roots)
        except IndexFailure as error:
            self._publish(session_catalog.Update(failure=str(error)))
            return
        fresh = {key: each for key, each in usage.items() if self._usage.get(key) != each}
        self._usage = usage
        self._publish(session_catalog.Update(usage=fresh, failure=failure))

    def _index(self, transcripts: Sequence[Transcript]) -> None:
        try:
            is_current = update_text_index(self._task.data_directory, transcripts)
        except IndexFailure as error:
            # Nothing more can be done here; a search reports the error.
            self._is_searchable = True
            self._publish(session_catalog.Update(is_searchable=False, failure=str(error)))
            return
        self._text_identity = find_text_identity(self._task.data_directory)
        if is_current != self._is_searchable:
            self._is_searchable = is_current
            self._publish(session_catalog.Update(is_searchable=is_current))

    def _has_lost_texts(self) -> bool:
        """Return whether the full-text index was deleted, as a damaged one may be."""
        if find_text_identity(self._task.data_directory) == self._text_identity:
            return False
        self.check_texts()
        return True


def _make_context() -> "SessionContext":
    # Loads the whole session model, which is not needed when nothing has changed.
    from recollect.library.listings import SessionContext

    return SessionContext()


def _find_transcripts(task: RefreshTask) -> list[Transcript]:
    try:
        return find_transcripts(
            add_partial_sessions(task.roots, task.data_directory, find_archive_directory())
        )
    except (NothingFound, UnreadableInput):
        # A root that existed at start may be on a disk that was removed.
        return []


def _find_projects(transcripts: Iterable[Transcript], files: Iterable[str]) -> set[Path]:
    """Return the projects of these files that still have transcripts."""
    directories = {Path(file).parent for file in files}
    return {each.project_dir for each in transcripts if each.path.parent in directories}


def _split(transcripts: Sequence[Transcript]) -> Iterator[Sequence[Transcript]]:
    if transcripts:
        yield transcripts[:FIRST_BATCH]
    for start in range(FIRST_BATCH, len(transcripts), BATCH):
        yield transcripts[start : start + BATCH]
