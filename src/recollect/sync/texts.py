"""Brings the full-text index level with the files: reads on all cores, writes in bounded batches.

The position of a file moves in the transaction that holds its texts, and the lock is let go between
two batches, so that a kill loses a batch at most and others can write meanwhile. The conversation
of all files comes first, the newest file first, then the tool results.
"""

import multiprocessing
import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from recollect.locations import Transcript, TranscriptKind
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
from recollect.store.vocabulary import gather_terms
from recollect.sync.changes import is_there
from recollect.sync.text_reading import (
    Prepare,
    Stage,
    Stretch,
    decode_batches,
    read_stretches,
)

POOL_BYTES: Final = 16 << 20
"""Below this, starting other processes costs more than they save."""

WRITE_CHARACTERS: Final = 24 << 20
"""Text that is written in one transaction: what a kill can cost at most."""

_GROUP_BYTES: Final = 4 << 20
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


TextWatch = Callable[[TextProgress], None]
Batches = Iterator[list[TextBatch]]


class TextPlan(Struct, frozen=True):
    """What is to be read, in this order, and which files are no longer there."""

    stretches: tuple[Stretch, ...]
    gone: tuple[str, ...]

    @property
    def is_empty(self) -> bool:
        """Whether the index is level with the files."""
        return not (self.stretches or self.gone)


def plan_texts(directory: Path, version: str, transcripts: Sequence[Transcript]) -> TextPlan:
    """What has to be done to bring the full-text index level with the transcripts."""
    states: States = {}
    known: Mapping[str, int] = {}
    connection = open_texts(directory, version)
    if connection is not None:
        try:
            states, known = load_text_states(connection), load_text_files(connection)
        finally:
            connection.close()
    newest = sorted(transcripts, key=lambda transcript: -transcript.mtime_ns)
    present = {str(transcript.path) for transcript in transcripts}
    return TextPlan(
        tuple(_iter_stretches(newest, states)),
        tuple(path for path in known if path not in present and not is_there(path)),
    )


def _iter_stretches(transcripts: Sequence[Transcript], states: States) -> Iterator[Stretch]:
    for stage in Stage:
        for transcript in transcripts:
            path = str(transcript.path)
            state = states.get((path, stage), _NOTHING)
            if not _is_level(state, transcript):
                yield Stretch(path, stage, transcript.kind is not TranscriptKind.SESSION, state)


def _is_level(state: TextState, transcript: Transcript) -> bool:
    known = (state.inode if transcript.inode else 0, state.size, state.mtime_ns)
    return known == (transcript.inode, transcript.size, transcript.mtime_ns)


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
    indexing = _Indexing(directory, recipe, transcripts)
    indexing.forget(plan.gone)
    deadline = None if seconds is None else time.monotonic() + seconds
    return indexing.run(plan.stretches, deadline, watch)


class _Indexing:
    """One run: from stretches to batches that are written."""

    def __init__(self, directory: Path, recipe: Recipe, transcripts: Sequence[Transcript]) -> None:
        self._directory = directory
        self._recipe = recipe
        self._files = {str(transcript.path): _describe(transcript) for transcript in transcripts}
        self._sizes = {str(transcript.path): transcript.size for transcript in transcripts}

    def forget(self, paths: Sequence[str]) -> None:
        """Drop files that are no longer there."""
        if paths:
            self._update(lambda writer: writer.forget(paths))

    def run(
        self, stretches: Sequence[Stretch], deadline: float | None, watch: TextWatch | None
    ) -> bool:
        """Read and write; tell whether all of it was done."""
        waiting = deque(stretches)
        total = sum(map(self._length_of, stretches))
        batches: list[TextBatch] = []
        size = done = 0
        for found in self._read(waiting, total, deadline):
            batches += found
            size += sum(len(row.text) for batch in found for row in batch.rows)
            done += sum(batch.state.position - batch.start for batch in found)
            if size >= WRITE_CHARACTERS:
                self._write(batches)
                batches, size = [], 0
            if watch is not None:
                watch(TextProgress(done, total))
        self._write(batches)
        if not waiting:
            update_texts(
                self._directory, self._recipe.version, self._recipe.tokenizer, gather_terms
            )
        return not waiting

    def _write(self, batches: Sequence[TextBatch]) -> None:
        if batches:
            files = [self._files[path] for path in {batch.path for batch in batches}]
            self._update(lambda writer: writer.write(batches, files))

    def _update(self, work: Callable[[TextWriter], object]) -> None:
        recipe = self._recipe
        update_texts(
            self._directory,
            recipe.version,
            recipe.tokenizer,
            lambda connection: work(TextWriter(connection)),
        )

    def _read(self, waiting: deque[Stretch], total: int, deadline: float | None) -> Batches:
        """Everything in the stretches, and in those that follow on them, until the deadline."""
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
        workers = os.cpu_count() or 1
        methods = multiprocessing.get_all_start_methods()
        context = multiprocessing.get_context("fork" if "fork" in methods else "spawn")
        running: dict[Future[bytes], list[Stretch]] = {}
        with ProcessPoolExecutor(workers, mp_context=context) as pool:
            while running or (waiting and not _is_over(deadline)):
                while waiting and len(running) <= workers and not _is_over(deadline):
                    group = self._take_group(waiting)
                    running[pool.submit(read_stretches, group, self._recipe.prepare)] = group
                ready, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in ready:
                    group = running.pop(future)
                    yield group, decode_batches(future.result(), group)

    def _take_group(self, waiting: deque[Stretch]) -> list[Stretch]:
        """The next stretches that together are worth the way to a worker, each file once."""
        group = [waiting.popleft()]
        room = _GROUP_BYTES - self._length_of(group[0])
        while waiting and waiting[0].stage is group[0].stage:
            room -= self._length_of(waiting[0])
            if room < 0:
                break
            group.append(waiting.popleft())
        return group

    def _length_of(self, stretch: Stretch) -> int:
        return self._sizes[stretch.path] - stretch.known.position


def _describe(transcript: Transcript) -> TextFile:
    return TextFile(str(transcript.path), transcript.project_dir.name, transcript.session_id or "")


def _is_over(deadline: float | None) -> bool:
    return deadline is not None and time.monotonic() >= deadline
