"""One sync: find what changed, read it on all cores, write it in one process.

The offset of a file moves in the transaction with its rows, so that a killed sync loses nothing and
repeats nothing. It commits in bounded steps: what was written stays written, and memory does not
grow with the history. Reading never changes a transcript.
"""

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from recollect.locations import Transcript
from recollect.locations.claude_directories import PROJECTS_DIRECTORY
from recollect.sources.kept_parts import FileParts
from recollect.sources.source import is_present
from recollect.store import database
from recollect.store.catalog import Names, has_files, load_files, load_problems, load_states
from recollect.store.data_directory import DATA_VERSION, refuse_claude_directory
from recollect.store.schema import DamagedIndex, load_checksums, read_meta, write_meta
from recollect.store.usage_queries import open_in_memory
from recollect.sync.index_access import (
    PRICES_KEY,
    ReadTask,
    SyncPlan,
    find_changed,
    find_price_fingerprint,
    find_transcripts,
    is_current,
    make_plan,
)
from recollect.sync.ledger_writer import LedgerWriter, from_stored
from recollect.sync.usage_counting import Extract, extract, load_costs
from recollect.sync.workers import Limits, count_bytes, iter_extracts, make_jobs

__all__ = [
    "Limits",
    "OnProgress",
    "SyncProgress",
    "SyncReport",
    "find_transcripts",
    "is_current",
    "sync",
]


class SyncProgress(Struct, frozen=True):
    """How far a sync is."""

    files_done: int
    files: int
    bytes_done: int
    bytes: int


class SyncReport(Struct, frozen=True):
    """What a sync did."""

    files_read: int = 0
    bytes_read: int = 0
    files_gone: int = 0
    problems: tuple[tuple[str, str], ...] = ()
    """Paths that could not be read, now or before, and why."""


OnProgress = Callable[[SyncProgress], None]


class SyncRequest(Struct, frozen=True):
    """What a sync should do."""

    transcripts: Sequence[Transcript]
    prices: Path | None
    fingerprint: str
    rebuild: bool
    watch: OnProgress | None
    limits: Limits
    parts: dict[str, FileParts] | None = None
    """Where to keep what lists read of the files, if anywhere."""


def sync(
    directory: Path,
    transcripts: Sequence[Transcript],
    *,
    prices: Path | None = None,
    watch: OnProgress | None = None,
    rebuild: bool = False,
    limits: Limits = Limits(),
) -> SyncReport:
    """Update the index in `directory` from `transcripts`; `rebuild` reads all of them again.

    Raises `IndexFailure` when the index cannot be written; what it held before is still there.
    """
    fingerprint = find_price_fingerprint(prices)
    request = SyncRequest(transcripts, prices, fingerprint, rebuild, watch, limits)
    return _run(directory, request)


def sync_and_keep(
    directory: Path, transcripts: Sequence[Transcript], limits: Limits = Limits()
) -> dict[str, FileParts]:
    """Do the same, and return what a list reads of the files that have changed, by path."""
    parts: dict[str, FileParts] = {}
    fingerprint = find_price_fingerprint()
    _run(directory, SyncRequest(transcripts, None, fingerprint, False, None, limits, parts))
    return parts


def _run(directory: Path, request: SyncRequest) -> SyncReport:
    refuse_claude_directory(directory, _find_roots(request.transcripts))
    # An invalid price file is reported before anything is done.
    load_costs(str(request.prices) if request.prices else None, request.fingerprint)
    return database.update(
        directory, lambda access: _Sync(access, request).run(), replaces_newer=request.rebuild
    )


def sync_in_memory(
    transcripts: Sequence[Transcript],
    *,
    prices: Path | None = None,
    watch: OnProgress | None = None,
) -> database.Connection:
    """Return an index of `transcripts` that is in memory, for when none can be written."""
    connection, fingerprint = open_in_memory(), find_price_fingerprint(prices)
    names = Names(connection)
    writer = LedgerWriter(connection, names, prices, fingerprint=fingerprint, is_first=True)
    tasks = make_plan(transcripts, {}).tasks
    total = sum(transcript.size for transcript in transcripts)
    done = 0
    pairs = zip(tasks, make_jobs(tasks, prices, fingerprint), strict=True)
    for number, (task, job) in enumerate(pairs, start=1):
        writer.add(task, extract(job))
        done += task.transcript.size
        if watch is not None:
            watch(SyncProgress(number, len(tasks), done, total))
    writer.update_totals()
    return connection


def _find_roots(transcripts: Sequence[Transcript]) -> set[Path]:
    """Return the Claude directories of these transcripts, or else the parents of their projects."""
    # As texts, because paths are slow to compare and there are many transcripts in few places.
    places = {Path(place).parent for place in {str(found.project_dir) for found in transcripts}}
    return {place.parent if place.name == PROJECTS_DIRECTORY else place for place in places}


class _Sync:
    """One sync, while the index is locked."""

    def __init__(self, access: database.Access, request: SyncRequest) -> None:
        self._access = access
        self._request = request
        self._connection = access.connection
        self._has_files = has_files(access.connection)
        self._writer = LedgerWriter(
            access.connection,
            Names(access.connection),
            request.prices,
            fingerprint=request.fingerprint,
            is_first=not self._has_files,
        )
        self._files_read = self._bytes_read = 0

    def run(self) -> SyncReport:
        """Do everything."""
        is_outdated = read_meta(self._connection, "data") != str(DATA_VERSION)
        rebuild = self._request.rebuild or is_outdated
        plan = self._make_plan(rebuild=rebuild)
        if rebuild or not plan.is_empty:
            self._check_now_and_then()
        self._arrange(plan)
        self._read(plan.tasks)
        if is_outdated:
            write_meta(self._connection, "data", str(DATA_VERSION))
        return SyncReport(
            files_read=self._files_read,
            bytes_read=self._bytes_read,
            files_gone=len(plan.gone),
            problems=tuple(sorted(load_problems(self._connection).items())),
        )

    def _make_plan(self, *, rebuild: bool) -> SyncPlan:
        """Return what to do, looking closely at the few files that changed only."""
        transcripts = self._request.transcripts
        if rebuild or not load_checksums():
            return make_plan(transcripts, load_files(self._connection), rebuild=rebuild)
        changed, left = find_changed(transcripts, load_states(self._connection))
        paths = [*(found.file for found in changed), *left]
        return make_plan(changed, load_files(self._connection, paths, is_trusted=True))

    def _check_now_and_then(self) -> None:
        """Check the whole index once a day, since questions read only parts of it."""
        today = time.strftime("%Y-%m-%d", time.gmtime())
        if self._request.rebuild or self._meta("checked") != today:
            if self._has_files:
                database.check_everything(self._connection)
            write_meta(self._connection, "checked", today)

    def _arrange(self, plan: SyncPlan) -> None:
        """Write everything that needs no reading."""
        solved = self._find_solved(plan)
        is_repriced = self._meta(PRICES_KEY) != self._request.fingerprint
        is_fresh = not self._meta(database.CARRIED_KEY)
        if not (plan.moved or plan.gone or plan.returned or solved or is_repriced or is_fresh):
            return
        with database.transaction(self._connection):
            if is_fresh:
                self._carry_over()
            for path in solved:
                self._writer.note_problem(path, None)
            for task in plan.moved:
                self._writer.move(task)
            self._writer.mark(plan.gone, is_gone=True)
            self._writer.mark(plan.returned, is_gone=False)
            if is_repriced:
                self._writer.reprice()
                write_meta(self._connection, PRICES_KEY, self._request.fingerprint)
            self._writer.update_totals()
        if is_fresh:
            database.delete_copies(self._access.directory)

    def _find_solved(self, plan: SyncPlan) -> list[str]:
        """Return files that could not be read and need not be any more: deleted, or unchanged."""
        problems = load_problems(self._connection)
        if not problems:
            return []
        unchanged = {found.file for found in self._request.transcripts}
        unchanged.difference_update(task.transcript.file for task in plan.tasks)
        return [path for path in problems if path in unchanged or not is_present(path)]

    def _carry_over(self) -> None:
        """Take over what replaced indexes know of deleted transcripts."""
        if database.find_predecessors(self._access.directory):
            self._carry_remains()
        write_meta(self._connection, database.CARRIED_KEY, "yes")

    def _carry_remains(self) -> None:
        # Rarely needed.
        from recollect.store.remains import find_session_remains, iter_remains
        from recollect.store.session_table import load_listings, save_figures, save_listings

        for remains in iter_remains(self._access.directory, is_present):
            try:
                rows = [from_stored(each, remains.names) for each in remains.messages]
            except DamagedIndex:
                continue
            self._writer.add_known(replace(remains.file, is_gone=True), rows)
        self._writer.update_totals()
        sessions = find_session_remains(self._access.directory, is_present)
        known = load_listings(self._connection)
        save_listings(
            self._connection,
            [stored for stored in sessions.listings if stored.path not in known],
        )
        save_figures(self._connection, sessions.figures)

    def _read(self, tasks: Sequence[ReadTask]) -> None:
        """Read what changed and write it, step by step."""
        if tasks:
            with closing(self._iter_read(tasks)) as stream:
                more = True
                while more:
                    more = self._write_step(stream)

    def _write_step(self, stream: Iterator[tuple[ReadTask, Extract]]) -> bool:
        """Write as much as fits into one transaction; return whether there may be more."""
        room = self._request.limits.commit_bytes
        with database.transaction(self._connection):
            for task, read in stream:
                self._writer.add(task, read)
                room -= read.state.size - read.start
                if room <= 0:
                    break
            self._writer.update_totals()
        return room <= 0

    def _iter_read(
        self, tasks: Sequence[ReadTask]
    ) -> Generator[tuple[ReadTask, Extract], None, None]:
        request = self._request
        sizes = [count_bytes(task) for task in tasks]
        expected = {
            task.transcript.file: (task, size) for task, size in zip(tasks, sizes, strict=True)
        }
        jobs = make_jobs(tasks, request.prices, request.fingerprint)
        if request.parts is not None:
            jobs = [replace(job, keeps_parts=True) for job in jobs]
        inherited = [self._access.lock.descriptor]
        done_files = done_bytes = 0
        with closing(iter_extracts(jobs, sizes, request.limits, inherited)) as extracts:
            for read in extracts:
                task, size = expected[read.path]
                self._files_read += read.problem is None and not read.is_gone
                self._bytes_read += read.state.size - read.start
                done_files, done_bytes = done_files + 1, done_bytes + size
                self._access.lock.show_life()
                if request.parts is not None and read.parts is not None:
                    request.parts[read.path] = read.parts
                yield task, read
                if request.watch is not None:
                    request.watch(SyncProgress(done_files, len(tasks), done_bytes, sum(sizes)))

    def _meta(self, key: str) -> str:
        return read_meta(self._connection, key) or ""
