"""One sync: find what changed, read it on all cores, write it in one process.

The offset of a file is written in the same transaction as its rows, so that a killed sync loses
nothing and repeats nothing. It commits in bounded steps, so memory does not grow with the history.
Reading never changes a transcript.

Before the ledger exists, some sessions can be counted by reading only the files that affect them.
Which copy of a message counts, and with which figures, depends on all files that contain the
message, and searching files for message ids takes a tenth of the time of reading them. If the index
has already counted files, it is updated instead, because it may include deleted copies.
"""

import re
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

from msgspec import Struct, structs

from recollect.errors import UnreadableInput
from recollect.locations import Transcript
from recollect.locations.claude_directories import PROJECTS_DIRECTORY, encode_id
from recollect.reader.marked_lines import ALIKE_BYTES, contains_any
from recollect.records.token_usage import is_unique
from recollect.sources.safe_files import FileParts, open_file
from recollect.sources.source import is_present
from recollect.store import catalog, data_directory, database, ledger_writer, usage_queries
from recollect.sync.index_access import (
    ReadTask,
    SyncPlan,
    find_changed,
    find_price_fingerprint,
    has_counted_files,
    make_plan,
)
from recollect.sync.usage_counting import CostRule, Extract, extract, load_costs
from recollect.sync.workers import Limits, count_bytes, iter_extracts, make_jobs


class SyncProgress(Struct, frozen=True):
    """Progress of a sync."""

    files_done: int
    files: int
    bytes_done: int
    bytes: int


class SyncReport(Struct, frozen=True):
    """The result of a sync."""

    files_read: int = 0
    bytes_read: int = 0
    files_gone: int = 0
    problems: tuple[tuple[str, str], ...] = ()
    """Why files could not be read, in this sync or before, by path."""


OnProgress = Callable[[SyncProgress], None]


class SyncRequest(Struct, frozen=True):
    """Options of a sync."""

    transcripts: Sequence[Transcript]
    prices: Path | None
    fingerprint: str
    rebuild: bool
    on_progress: OnProgress | None
    limits: Limits
    parts: dict[str, FileParts] | None = None
    """Receives the parts of files that lists need, if set."""


def sync(
    directory: Path,
    transcripts: Sequence[Transcript],
    *,
    prices: Path | None = None,
    on_progress: OnProgress | None = None,
    rebuild: bool = False,
    limits: Limits = Limits(),
) -> SyncReport:
    """Update the index in `directory` from `transcripts`; `rebuild` reads all of them again.

    Raises `IndexFailure` if the index cannot be written; its earlier content stays.
    """
    fingerprint = find_price_fingerprint(prices)
    request = SyncRequest(transcripts, prices, fingerprint, rebuild, on_progress, limits)
    return _run(directory, request)


def sync_with_parts(
    directory: Path, transcripts: Sequence[Transcript], limits: Limits = Limits()
) -> dict[str, FileParts]:
    """Update the index; return the parts of changed files that lists need, by path."""
    parts: dict[str, FileParts] = {}
    fingerprint = find_price_fingerprint()
    _run(directory, SyncRequest(transcripts, None, fingerprint, False, None, limits, parts))
    return parts


def _run(directory: Path, request: SyncRequest) -> SyncReport:
    data_directory.refuse_claude_directory(directory, _find_roots(request.transcripts))
    # An invalid price file is reported before anything is done.
    rule = load_rule(request.prices, request.fingerprint)
    return ledger_writer.update_ledger(
        directory,
        rule,
        lambda writer: _Sync(writer, request).run(),
        replaces_newer=request.rebuild,
    )


def load_rule(prices: Path | None, fingerprint: str) -> CostRule:
    """Return the counting rule with these prices."""
    return CostRule(load_costs(str(prices) if prices else None, fingerprint))


def sync_in_memory(
    transcripts: Sequence[Transcript],
    *,
    prices: Path | None = None,
    on_progress: OnProgress | None = None,
) -> database.Connection:
    """Return an in-memory index of `transcripts`, for use when none can be written."""
    connection, fingerprint = usage_queries.open_in_memory(), find_price_fingerprint(prices)
    tasks = make_plan(transcripts, {}).tasks
    total = sum(transcript.size for transcript in transcripts)

    def read() -> Iterator[ledger_writer.FileReading]:
        done = 0
        pairs = zip(tasks, make_jobs(tasks, prices, fingerprint), strict=True)
        for number, (task, job) in enumerate(pairs, start=1):
            yield to_reading(task, extract(job))
            done += task.transcript.size
            if on_progress is not None:
                on_progress(SyncProgress(number, len(tasks), done, total))

    ledger_writer.LedgerWriter(connection, load_rule(prices, fingerprint)).write(read(), total + 1)
    return connection


def count_separately(
    connection: database.Connection, files: Mapping[int, catalog.FileRow], prices: Path | None
) -> database.Connection:
    """Return an in-memory copy of an index that counts these files as if there were no others.

    All files with a copy of a message affect which copy counts, and its figures.
    """
    alone = usage_queries.open_in_memory()
    rule = load_rule(prices, find_price_fingerprint(prices))
    ledger_writer.LedgerWriter(alone, rule).copy_files(connection, files)
    return alone


def _find_roots(transcripts: Sequence[Transcript]) -> set[Path]:
    """Return the Claude directories of these transcripts, or else the parents of their projects."""
    # As strings, because comparing paths is slow, and many transcripts are in few directories.
    places = {Path(place).parent for place in {str(found.project_dir) for found in transcripts}}
    return {place.parent if place.name == PROJECTS_DIRECTORY else place for place in places}


class _Sync:
    """One sync, while the index is locked."""

    def __init__(self, writer: ledger_writer.LedgerWriter, request: SyncRequest) -> None:
        self._writer = writer
        self._request = request
        self._files_read = self._bytes_read = 0

    def run(self) -> SyncReport:
        """Run the sync."""
        rebuild = self._request.rebuild or self._writer.is_outdated
        plan = self._make_plan(rebuild=rebuild)
        if rebuild or not plan.is_empty:
            self._writer.check_daily(now=self._request.rebuild)
        moved = [move for task in plan.moved if (move := to_moved_row(task)) is not None]
        changes = ledger_writer.FileChanges(
            moved, plan.gone, plan.returned, self._find_solved(plan)
        )
        self._writer.apply_changes(changes, self._request.fingerprint)
        with closing(self._iter_read(plan.tasks)) as readings:
            self._writer.write(readings, self._request.limits.commit_bytes)
        return SyncReport(
            files_read=self._files_read,
            bytes_read=self._bytes_read,
            files_gone=len(plan.gone),
            problems=tuple(sorted(self._writer.problems.items())),
        )

    def _make_plan(self, *, rebuild: bool) -> SyncPlan:
        """Plan the sync; only the few changed files are examined closely."""
        transcripts, stamps = self._request.transcripts, self._writer.stamps
        if rebuild or stamps is None:
            return make_plan(transcripts, self._writer.load_files(None), rebuild=rebuild)
        changed, left = find_changed(transcripts, stamps)
        paths = [*(found.file for found in changed), *left]
        return make_plan(changed, self._writer.load_files(paths))

    def _find_solved(self, plan: SyncPlan) -> list[str]:
        """Return unreadable files that no longer need to be read: deleted, or unchanged."""
        problems = self._writer.problems
        if not problems:
            return []
        unchanged = {found.file for found in self._request.transcripts}
        unchanged.difference_update(task.transcript.file for task in plan.tasks)
        return [path for path in problems if path in unchanged or not is_present(path)]

    def _iter_read(
        self, tasks: Sequence[ReadTask]
    ) -> Generator[ledger_writer.FileReading, None, None]:
        """Read the changed files, reporting progress."""
        request, lock = self._request, self._writer.lock
        sizes = [count_bytes(task) for task in tasks]
        expected = {
            task.transcript.file: (task, size) for task, size in zip(tasks, sizes, strict=True)
        }
        jobs = make_jobs(tasks, request.prices, request.fingerprint)
        if request.parts is not None:
            jobs = [structs.replace(job, keeps_parts=True) for job in jobs]
        inherited = [lock.descriptor] if lock else []
        done_files = done_bytes = 0
        with closing(iter_extracts(jobs, sizes, request.limits, inherited)) as extracts:
            for read in extracts:
                task, size = expected[read.path]
                self._files_read += read.problem is None and not read.is_gone
                self._bytes_read += read.state.size - read.start
                done_files, done_bytes = done_files + 1, done_bytes + size
                if request.parts is not None and read.parts is not None:
                    request.parts[read.path] = read.parts
                yield to_reading(task, read)
                if request.on_progress is not None:
                    request.on_progress(
                        SyncProgress(done_files, len(tasks), done_bytes, sum(sizes))
                    )


def to_moved_row(task: ReadTask) -> tuple[int, catalog.FileRow] | None:
    """Return the number and the new row of a moved file."""
    transcript, known = task.transcript, task.known
    if known is None or task.number is None:
        return None
    row = structs.replace(
        known,
        path=transcript.file,
        project=transcript.project,
        kind=transcript.kind.value,
        session_id=transcript.session_id or known.session_id,
        agent_id=transcript.agent_id,
        is_gone=False,
    )
    return task.number, row


def to_reading(task: ReadTask, read: Extract) -> ledger_writer.FileReading:
    """Return the row and the messages of a file for the index."""
    is_read = read.problem is None and not read.is_gone
    return ledger_writer.FileReading(
        task.transcript.file,
        read.problem,
        _to_file_row(task, read) if is_read else None,
        task.number,
        task.known,
        read.start,
        read.state.size - read.start,
        read.rows,
        read.naming,
    )


def _to_file_row(task: ReadTask, read: Extract) -> catalog.FileRow:
    transcript = task.transcript
    return catalog.FileRow(
        path=transcript.file,
        project=transcript.project,
        kind=transcript.kind.value,
        session_id=transcript.session_id or encode_id(read.session_id or ""),
        agent_id=transcript.agent_id,
        # The small file with the type may be deleted before the transcript is.
        agent_type=read.agent_type or (task.known.agent_type if task.known else None),
        began=read.began,
        device=read.state.device,
        # Compared with the next directory listing, which has no inode on some systems.
        inode=read.state.inode if transcript.inode else 0,
        size=read.state.size,
        mtime_ns=read.state.mtime_ns,
        position=read.state.position,
        head_hash=read.state.head_hash,
        tail_hash=read.state.tail_hash,
        is_racy=read.state.is_racy,
    )


_PLAIN_ID: Final = re.compile(r"[A-Za-z0-9_\-]{1,100}")
"""Spelled the same in every file: nothing in it is escaped in JSON."""

_MAX_PREFIXES: Final = 4
"""Maximum number of distinct prefixes of ids; each is searched for separately."""


def count_related(
    directory: Path,
    transcripts: Sequence[Transcript],
    paths: Collection[str],
    *,
    prices: Path | None = None,
    limits: Limits = Limits(),
) -> database.Connection | None:
    """Return an in-memory index with the same counts for the sessions of `paths` as a full one.

    None if the index in `directory` should be updated instead: it has counted files, there is
    little to read, or the ids are ambiguous.
    """
    if sum(each.size for each in transcripts) < limits.pool_bytes or has_counted_files(directory):
        return None
    sessions = {(each.project, each.session_id) for each in transcripts if each.file in paths}
    projects = {project for project, _ in sessions}
    # The session of some files is only known from their records.
    sessions |= {(project, None) for project in projects}
    members = [each for each in transcripts if (each.project, each.session_id) in sessions]
    connection = usage_queries.open_in_memory()
    fingerprint = find_price_fingerprint(prices)
    writer = ledger_writer.LedgerWriter(connection, load_rule(prices, fingerprint))
    writer.write(_iter_readings(members, prices, fingerprint), limits.commit_bytes)
    ids = usage_queries.UsageQueries(connection).list_message_ids()
    if not ids:
        return connection
    if not _are_distinctive(ids):
        return None
    words = frozenset(each.encode() for each in ids)
    known = {each.file for each in members}
    others = [each for each in transcripts if each.file not in known and _contains_any(each, words)]
    writer.write(_iter_readings(others, prices, fingerprint), limits.commit_bytes)
    return connection


def _iter_readings(
    transcripts: Iterable[Transcript], prices: Path | None, fingerprint: str
) -> Iterator[ledger_writer.FileReading]:
    tasks = make_plan(transcripts, {}).tasks
    for task, job in zip(tasks, make_jobs(tasks, prices, fingerprint), strict=True):
        yield to_reading(task, extract(job))


def _are_distinctive(ids: Collection[str]) -> bool:
    """Return whether a search for these ids is quick and finds all files with their messages."""
    return (
        all(is_unique(each) and _PLAIN_ID.fullmatch(each) for each in ids)
        and len({each[:ALIKE_BYTES] for each in ids}) <= _MAX_PREFIXES
    )


def _contains_any(transcript: Transcript, words: Collection[bytes]) -> bool:
    try:
        with open_file(transcript.file) as file:
            return contains_any(file, words, file.find_status().st_size)
    except (UnreadableInput, OSError):
        # Nothing in it is counted.
        return False
