"""Brings the full-text index level with the files: reads on all cores, writes in bounded batches.

The position of a file moves in the transaction that holds its texts, and the lock is let go between
two batches, so that a kill loses a batch at most and others can write meanwhile. The conversation
of all files comes first, the newest file first, then the tool results.
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
from recollect.store.database import Connection
from recollect.store.text import (
    UNFINISHED,
    States,
    TextBatch,
    TextFile,
    TextState,
    TextWriter,
    load_text_files,
    load_text_states,
)
from recollect.store.text_database import open_texts, update_texts
from recollect.store.vocabulary import gather_terms, is_gathering_due
from recollect.sync.changes import is_there
from recollect.sync.text_reading import (
    Prepare,
    Stage,
    Stretch,
    decode_batches,
    read_stretches,
)
from recollect.sync.workers import begin_reading, count_cores, is_forking

POOL_BYTES: Final = 16 << 20
"""Below this, starting other processes costs more than they save."""

WRITE_BYTES: Final = 24 << 20
"""Text that is written in one transaction: what a kill can cost at most."""

_GROUP_BYTES: Final = {Stage.CONVERSATION: 16 << 20, Stage.TOOLS: 4 << 20}
"""What a worker is given at once: about as much text in both, of which the tools have the most."""

_AHEAD: Final = 24
"""Groups that are read while a batch is written: with fewer the readers would run out of work."""

_NOTHING: Final = TextState()


class Recipe(Struct, frozen=True):
    """How texts become terms; an index made by another version is made anew."""

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

    stretches: tuple[Stretch, ...]
    gone: tuple[str, ...]
    is_gathering_due: bool
    """Whether all was read once, and the list of terms was not copied any more."""

    @property
    def is_empty(self) -> bool:
        """Whether the index is level with the files."""
        return not (self.stretches or self.gone or self.is_gathering_due)


def plan_texts(directory: Path, version: str, transcripts: Sequence[Transcript]) -> TextPlan:
    """What has to be done to bring the full-text index level with the transcripts."""
    states, known, is_due = _load(directory, version)
    newest = sorted(transcripts, key=lambda transcript: -transcript.mtime_ns)
    present = {transcript.file for transcript in transcripts}
    return TextPlan(
        tuple(_iter_stretches(newest, states)),
        tuple(path for path in known if path not in present and not is_there(path)),
        is_due,
    )


def find_stretches(
    directory: Path, version: str, transcripts: Sequence[Transcript]
) -> list[Stretch]:
    """What there is to read of these transcripts."""
    return list(_iter_stretches(transcripts, _load(directory, version)[0]))


def _load(directory: Path, version: str) -> tuple[States, Mapping[str, int], bool]:
    connection = open_texts(directory, version)
    if connection is None:
        return {}, {}, False
    try:
        states, files = load_text_states(connection), load_text_files(connection)
        return states, files, is_gathering_due(connection)
    finally:
        connection.close()


def _iter_stretches(transcripts: Sequence[Transcript], states: States) -> Iterator[Stretch]:
    for stage in Stage:
        for transcript in transcripts:
            path = transcript.file
            state = states.get((path, stage), _NOTHING)
            if not _is_level(state, transcript):
                yield Stretch(path, stage, transcript.kind is not TranscriptKind.SESSION, state)


def _is_level(state: TextState, transcript: Transcript) -> bool:
    known = (state.inode if transcript.inode else 0, state.size, state.mtime_ns)
    return known == transcript.state


def index_texts(
    directory: Path,
    recipe: Recipe,
    transcripts: Sequence[Transcript],
    *,
    seconds: float | None = None,
    watch: TextWatch | None = None,
) -> bool:
    """Bring the full-text index level, for about `seconds` at most; tell whether it is level."""
    plan = plan_texts(directory, recipe.version, transcripts)
    if plan.is_empty:
        return True
    indexing = _Indexing(directory, recipe, transcripts, is_gathering_due=plan.is_gathering_due)
    indexing.forget(plan.gone)
    deadline = None if seconds is None else time.monotonic() + seconds
    return indexing.run(plan.stretches, deadline, watch)


class _Indexing:
    """One run: from stretches to batches that are written."""

    def __init__(
        self,
        directory: Path,
        recipe: Recipe,
        transcripts: Sequence[Transcript],
        *,
        is_gathering_due: bool,
    ) -> None:
        self._is_gathering_due = is_gathering_due
        self._directory = directory
        self._recipe = recipe
        self._files = {transcript.file: describe(transcript) for transcript in transcripts}
        self._sizes = {transcript.file: transcript.size for transcript in transcripts}

    def forget(self, paths: Sequence[str]) -> None:
        """Drop files that are no longer there."""
        if paths:
            self._update(lambda connection: TextWriter(connection).forget(paths))

    def run(
        self, stretches: Sequence[Stretch], deadline: float | None, watch: TextWatch | None
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
            done += sum(batch.state.position - batch.start for batch in found)
            if watch is not None:
                watch(TextProgress(done, total))
        if batches:
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
        return update_texts(self._directory, self._recipe.version, self._recipe.tokenizer, work)

    def _read(self, waiting: deque[Stretch], deadline: float | None) -> Batches:
        """Everything in the stretches, and in those that follow on them, until the deadline."""
        total = sum(map(self._length_of, waiting))
        read = self._read_here if total < POOL_BYTES else self._read_on_all_cores
        for stretches, found in read(waiting, deadline):
            sources = {stretch.path: stretch for stretch in stretches}
            for batch in found:
                if batch.state.size == UNFINISHED:
                    waiting.appendleft(replace(sources[batch.path], known=batch.state))
            yield found

    def _read_here(
        self, waiting: deque[Stretch], deadline: float | None
    ) -> Iterator[tuple[list[Stretch], list[TextBatch]]]:
        while waiting and not _is_over(deadline):
            group = [waiting.popleft()]
            yield group, decode_batches(read_stretches(group, self._recipe.prepare), group)

    def _read_on_all_cores(
        self, waiting: deque[Stretch], deadline: float | None
    ) -> Iterator[tuple[list[Stretch], list[TextBatch]]]:
        context = multiprocessing.get_context("fork" if is_forking() else "spawn")
        running: deque[tuple[Future[bytes], list[Stretch]]] = deque()
        with ProcessPoolExecutor(count_cores(), context, initializer=begin_reading) as pool:
            while running or (waiting and not _is_over(deadline)):
                while waiting and len(running) < _AHEAD and not _is_over(deadline):
                    group = self._take_group(waiting)
                    reading = pool.submit(read_stretches, group, self._recipe.prepare)
                    running.append((reading, group))
                reading, group = running.popleft()
                yield group, decode_batches(reading.result(), group)

    def _take_group(self, waiting: deque[Stretch]) -> list[Stretch]:
        """The next stretches of one stage that together are worth the way to a worker."""
        group = [waiting.popleft()]
        room = _GROUP_BYTES[group[0].stage] - self._length_of(group[0])
        while waiting and waiting[0].stage is group[0].stage:
            room -= self._length_of(waiting[0])
            if room < 0:
                break
            group.append(waiting.popleft())
        return group

    def _length_of(self, stretch: Stretch) -> int:
        return self._sizes[stretch.path] - stretch.known.position


def _begins_stage(batches: Sequence[TextBatch], found: Sequence[TextBatch]) -> bool:
    """Whether the next stage begins: what the former found should be searchable by then."""
    return bool(batches and found) and batches[-1].stage < found[-1].stage


def describe(transcript: Transcript) -> TextFile:
    """What the index says about a transcript."""
    return TextFile(transcript.file, transcript.project_dir.name, transcript.session_id or "")


def _is_over(deadline: float | None) -> bool:
    return deadline is not None and time.monotonic() >= deadline
