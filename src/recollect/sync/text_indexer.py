"""Brings the full-text index level with the files: reads on all cores, writes in bounded batches.

The position of a file moves in the transaction that holds its texts, and the lock is let go between
two batches, so that a kill loses a batch at most and others can write meanwhile. The conversation
of all files comes first, the newest file first, then the tool results.

What the full-text index is: how large, and how far behind the files; changes nothing.

Texts of the last minute that are not in the full-text index yet.

While one process makes the index, which takes a while, others still find what has just been said:
they read the ends of the files that are growing, each for itself, and write nothing.
"""

import multiprocessing
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from pathlib import Path
from typing import Final, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from recollect.locations import Transcript, TranscriptKind
from recollect.sources.growth import UNFINISHED
from recollect.sources.source import list_mounts
from recollect.sources.stamps import is_present
from recollect.store.database import Connection
from recollect.store.integrity import DamagedIndex, ReplacedIndex
from recollect.store.text_database import DIRECTORY, read_identity, read_texts, update_texts
from recollect.store.text_rows import (
    IndexedFile,
    States,
    TextBatch,
    TextState,
    TextWriter,
    load_text_files,
    load_text_states,
)
from recollect.store.vocabulary import gather_terms, is_gathering_due
from recollect.sync.list_files import with_lists
from recollect.sync.text_reading import (
    FileRange,
    Prepare,
    Stage,
    decode_batches,
    read_ranges,
    read_tail,
)
from recollect.sync.workers import begin_reading, count_cores, is_forking, uninterrupted

POOL_BYTES: Final = 16 << 20
"""Below this, starting other processes costs more than they save."""

WRITE_BYTES: Final = 24 << 20
"""Text that is written in one transaction: what a kill can cost at most."""

_GROUP_BYTES: Final = {Stage.CONVERSATION: 16 << 20, Stage.TOOLS: 4 << 20}
"""What a worker is given at once: about as much text in both, of which the tools have the most."""

_AHEAD: Final = 24
"""Groups that are read while a batch is written: with fewer the readers would run out of work."""

_NOTHING: Final = TextState()


class Analyzer(Struct, frozen=True):
    """How texts become terms; an index made by another version is rebuilt."""

    version: str
    tokenizer: str
    prepare: Prepare


class TextProgress(Struct, frozen=True):
    """How far indexing is, in bytes of transcripts, each counted once a stage."""

    bytes_done: int
    bytes: int


T = TypeVar("T")
TextWatch = Callable[[TextProgress], None]
Batches = Iterator[list[TextBatch]]


class TextPlan(Struct, frozen=True):
    """What is to be read, in this order, and which files are no longer there."""

    stretches: tuple[FileRange, ...]
    gone: tuple[str, ...]
    is_gathering_due: bool
    """Whether all was read once, and the list of terms was not copied any more."""
    identity: str | None
    """Of the index that this was planned for; None if there is none yet."""

    @property
    def is_empty(self) -> bool:
        """Whether the index is level with the files."""
        return not (self.stretches or self.gone or self.is_gathering_due)


class _Known(Struct, frozen=True):
    """What the full-text index knows of files."""

    states: States = {}
    files: Mapping[str, int] = {}
    is_gathering_due: bool = False
    identity: str | None = None


def plan_texts(
    directory: Path, version: str, transcripts: Sequence[Transcript], *, is_look: bool = False
) -> TextPlan:
    """What has to be done to bring the full-text index level with the transcripts.

    A damaged index is deleted and `DamagedIndex` is raised; for a look it is as good as none.
    """
    known = _look(directory, version) if is_look else _load(directory, version)
    newest = sorted(transcripts, key=lambda transcript: -transcript.mtime_ns)
    present = {transcript.file for transcript in transcripts}
    return TextPlan(
        tuple(_iter_ranges(newest, known.states)),
        tuple(path for path in known.files if path not in present and not is_present(path)),
        known.is_gathering_due,
        known.identity,
    )


def find_ranges(
    directory: Path, version: str, transcripts: Sequence[Transcript]
) -> list[FileRange]:
    """What there is to read of these transcripts."""
    return list(_iter_ranges(transcripts, _load(directory, version).states))


def _load(directory: Path, version: str, *, deletes_damaged: bool = True) -> _Known:
    with read_texts(directory, version, deletes_damaged=deletes_damaged) as connection:
        if connection is None:
            return _Known()
        states, files = load_text_states(connection), load_text_files(connection)
        return _Known(states, files, is_gathering_due(connection), read_identity(connection))


def _look(directory: Path, version: str) -> _Known:
    try:
        return _load(directory, version, deletes_damaged=False)
    except DamagedIndex:
        return _Known()


def _iter_ranges(transcripts: Sequence[Transcript], states: States) -> Iterator[FileRange]:
    for stage in Stage:
        for transcript in transcripts:
            path = transcript.file
            state = states.get((path, stage), _NOTHING)
            if not state.file.is_current(transcript.stamp):
                yield FileRange(path, stage, transcript.kind is not TranscriptKind.SESSION, state)


def index_texts(
    directory: Path,
    recipe: Analyzer,
    transcripts: Sequence[Transcript],
    *,
    seconds: float | None = None,
    watch: TextWatch | None = None,
) -> bool:
    """Bring the full-text index level, for about `seconds` at most; tell whether it is level.

    An index that proves to be damaged, or that another process deletes meanwhile, is built again.
    """
    deadline = None if seconds is None else time.monotonic() + seconds
    files = with_lists(transcripts)
    try:
        return _index_once(directory, recipe, files, deadline, watch)
    except (DamagedIndex, ReplacedIndex):
        return _index_once(directory, recipe, files, deadline, watch)


def _index_once(
    directory: Path,
    recipe: Analyzer,
    transcripts: Sequence[Transcript],
    deadline: float | None,
    watch: TextWatch | None,
) -> bool:
    plan = plan_texts(directory, recipe.version, transcripts)
    if plan.is_empty:
        return True
    indexing = _Indexing(directory, recipe, transcripts, plan)
    indexing.forget(plan.gone)
    return indexing.run(plan.stretches, deadline, watch)


class _Indexing:
    """One run: from stretches to batches that are written."""

    def __init__(
        self,
        directory: Path,
        recipe: Analyzer,
        transcripts: Sequence[Transcript],
        plan: TextPlan,
    ) -> None:
        self._is_gathering_due = plan.is_gathering_due
        self._identity = plan.identity
        self._directory = directory
        self._recipe = recipe
        self._files = {transcript.file: describe(transcript) for transcript in transcripts}
        self._sizes = {transcript.file: transcript.size for transcript in transcripts}

    def forget(self, paths: Sequence[str]) -> None:
        """Drop files that are no longer there."""
        if paths:
            self._update(lambda connection: TextWriter(connection).forget(paths))

    def run(
        self, stretches: Sequence[FileRange], deadline: float | None, watch: TextWatch | None
    ) -> bool:
        """Read and write, one stage after the other; tell whether all of it was done."""
        waiting = deque(stretches)
        total = sum(map(self._length_of, stretches))
        batches: list[TextBatch] = []
        done = size = 0
        for found in self._read(waiting, deadline):
            is_stage_over = total >= POOL_BYTES and _begins_stage(batches, found)
            if size >= WRITE_BYTES or is_stage_over:
                self._write(batches)
                batches, size = [], 0
            batches += found
            size += sum(len(row.text) for batch in found for row in batch.rows)
            done += sum(batch.state.file.position - batch.start for batch in found)
            if watch is not None:
                watch(TextProgress(done, total))
        if batches or self._identity is None:
            # Even without a text: that there is an index tells that nothing was found to index.
            self._write(batches)
        if not waiting and self._is_gathering_due:
            # What the last transaction added can be seen only by one that begins after it.
            self._update(gather_terms)
        return not waiting

    def _write(self, batches: Sequence[TextBatch]) -> None:
        files = [self._files[path] for path in {batch.path for batch in batches}]

        def write(connection: Connection) -> bool:
            TextWriter(connection).write(batches, files)
            return is_gathering_due(connection)

        self._is_gathering_due = self._update(write)

    def _update(self, work: Callable[[Connection], T]) -> T:
        version, tokenizer = self._recipe.version, self._recipe.tokenizer
        result, self._identity = update_texts(
            self._directory, version, tokenizer, work, identity=self._identity
        )
        return result

    def _read(self, waiting: deque[FileRange], deadline: float | None) -> Batches:
        """Everything in the stretches, and in those that follow on them, until the deadline."""
        total = sum(map(self._length_of, waiting))
        read = self._read_here if total < POOL_BYTES else self._read_on_all_cores
        for stretches, found in read(waiting, deadline):
            sources = {stretch.path: stretch for stretch in stretches}
            for batch in found:
                if batch.state.file.size == UNFINISHED:
                    waiting.appendleft(replace(sources[batch.path], known=batch.state))
            yield found

    def _read_here(
        self, waiting: deque[FileRange], deadline: float | None
    ) -> Iterator[tuple[list[FileRange], list[TextBatch]]]:
        while waiting and not _is_over(deadline):
            group = [waiting.popleft()]
            yield group, decode_batches(read_ranges(group, self._recipe.prepare), group)

    def _read_on_all_cores(
        self, waiting: deque[FileRange], deadline: float | None
    ) -> Iterator[tuple[list[FileRange], list[TextBatch]]]:
        context = multiprocessing.get_context("fork" if is_forking() else "spawn")
        running: deque[tuple[Future[bytes], list[FileRange]]] = deque()
        pool = ProcessPoolExecutor(
            count_cores(), context, initializer=begin_reading, initargs=(list_mounts(),)
        )
        try:
            while running or (waiting and not _is_over(deadline)):
                while waiting and len(running) < _AHEAD and not _is_over(deadline):
                    group = self._take_group(waiting)
                    with uninterrupted():
                        reading = pool.submit(read_ranges, group, self._recipe.prepare)
                    running.append((reading, group))
                reading, group = running.popleft()
                yield group, decode_batches(reading.result(), group)
        finally:
            # Who was interrupted waits for what is being read, not for all that was asked for.
            pool.shutdown(cancel_futures=True)

    def _take_group(self, waiting: deque[FileRange]) -> list[FileRange]:
        """The next stretches of one stage that together are worth the way to a worker."""
        group = [waiting.popleft()]
        room = _GROUP_BYTES[group[0].stage] - self._length_of(group[0])
        while waiting and waiting[0].stage is group[0].stage:
            room -= self._length_of(waiting[0])
            if room < 0:
                break
            group.append(waiting.popleft())
        return group

    def _length_of(self, stretch: FileRange) -> int:
        return self._sizes[stretch.path] - stretch.known.file.position


def _begins_stage(batches: Sequence[TextBatch], found: Sequence[TextBatch]) -> bool:
    """Whether the next stage begins: what the former found should be searchable by then."""
    return bool(batches and found) and batches[-1].stage < found[-1].stage


def describe(transcript: Transcript) -> IndexedFile:
    """What the index says about a transcript."""
    return IndexedFile(transcript.file, transcript.project, transcript.session_id or "")


def _is_over(deadline: float | None) -> bool:
    return deadline is not None and time.monotonic() >= deadline


class TextStatus(Struct, frozen=True, kw_only=True):
    """The full-text index as it was found."""

    bytes: int = 0
    """Its size on disk; 0 when there is none."""
    is_level: bool = False
    files_behind: int = 0
    """Transcripts with texts that it does not know, or that are gone and that it still knows."""


def find_text_status(
    directory: Path, version: str, transcripts: Sequence[Transcript]
) -> TextStatus:
    """What the full-text index in a data directory is, for texts made by this recipe's version."""
    plan = plan_texts(directory, version, with_lists(transcripts), is_look=True)
    behind = {stretch.path for stretch in plan.stretches} | set(plan.gone)
    files = (found for found in (directory / DIRECTORY).glob("*.db*") if found.is_file())
    return TextStatus(
        bytes=sum(found.stat().st_size for found in files),
        is_level=plan.is_empty,
        files_behind=len(behind),
    )


_FRESH_NS: Final = 60 * 1_000_000_000
_MAX_FILES: Final = 8


class FreshTexts(Struct, frozen=True):
    """What was found, and in which files."""

    batches: list[TextBatch]
    files: list[IndexedFile]


NO_FRESH_TEXTS: Final = FreshTexts([], [])


def read_fresh(directory: Path, recipe: Analyzer, transcripts: Sequence[Transcript]) -> FreshTexts:
    """The last texts of those files that grew within the last minute and are not level."""
    since = time.time_ns() - _FRESH_NS
    growing = sorted(
        (each for each in transcripts if each.mtime_ns >= since), key=lambda each: -each.mtime_ns
    )[:_MAX_FILES]
    if not growing:
        return NO_FRESH_TEXTS
    stretches = find_ranges(directory, recipe.version, growing)
    found = [read_tail(stretch, recipe.prepare) for stretch in stretches]
    return FreshTexts([batch for batch in found if batch is not None], [*map(describe, growing)])
