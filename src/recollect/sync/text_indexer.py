"""Update the full-text index: files are read on all cores and written in bounded batches.

The position in a file is written in the same transaction as its texts, and the lock is released
between batches, so a kill loses one batch at most, and others can write in between. When a large
history is first indexed, the conversations of all files come first, newest file first, then the
tool calls. This module also reads the texts of the last minute for a search that does not wait for
the index. `text_plan` plans the reading.
"""

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from recollect.locations import Transcript
from recollect.redact.own_rules import find_own_rules
from recollect.sources.growth import UNFINISHED
from recollect.sources.source import list_mounts
from recollect.store import text_rows
from recollect.store.schema import DamagedIndex, ReplacedIndex
from recollect.store.text_database import TextIndexWriter
from recollect.sync import text_plan, text_reading
from recollect.sync.text_plan import FileRange, Stage, TextPlan, find_ranges, plan_texts, with_lists
from recollect.worker_processes import count_cores, is_forking, uninterrupted

if TYPE_CHECKING:
    from concurrent.futures import Future

WRITE_BYTES: Final = 12 << 20
"""Amount of text to write in one transaction, which is the most that a kill can lose.

With twice as much, indexing takes 22 MB more memory, and searches take 2 % less time: there are
fewer segments.
"""

_GROUP_BYTES: Final = {Stage.CONVERSATION: 16 << 20, Stage.TOOLS: 4 << 20}
"""Bytes per task of a worker, by stage: most text is in tools, so tasks are about equally large."""

_AHEAD: Final = 24
"""Number of groups to read ahead while a batch is written; with fewer, readers would be idle."""

STRICT_BYTES: Final = 2 << 20
"""Bytes per task, and text per transaction, with a strict limit: neither can be interrupted."""


class Analyzer(Struct, frozen=True):
    """Turns texts into terms; an index built with another version is rebuilt."""

    version: str
    tokenizer: str
    prepare: text_reading.Prepare


class TextProgress(Struct, frozen=True):
    """Progress of indexing, in bytes of transcripts."""

    bytes_done: int
    bytes: int


OnTextProgress = Callable[[TextProgress], None]
Batches = Iterator[list[text_rows.TextBatch]]


def index_texts(
    directory: Path,
    analyzer: Analyzer,
    transcripts: Sequence[Transcript],
    *,
    seconds: float | None = None,
    on_progress: OnTextProgress | None = None,
    consumers: Sequence[text_reading.TextPassConsumer] = (),
) -> bool:
    """Update the full-text index for about `seconds`; return whether it is up to date.

    `consumers` get the records of files that are read from start to end. They run in the
    background, where throughput matters more than the time limit: submitted tasks are finished
    first. An index that is damaged, or deleted by another process meanwhile, is rebuilt.
    """
    deadline = None if seconds is None else time.monotonic() + seconds
    limit = _Limit(deadline, is_strict=deadline is not None and not consumers)
    files = with_lists(transcripts)
    try:
        return _index_once(directory, analyzer, files, limit, on_progress, consumers)
    except (DamagedIndex, ReplacedIndex):
        return _index_once(directory, analyzer, files, limit, on_progress, consumers)


class _Limit(NamedTuple):
    """The time limit, and whether it is strict."""

    deadline: float | None
    is_strict: bool

    @property
    def is_over(self) -> bool:
        """Return whether no further task may be started."""
        return self.deadline is not None and time.monotonic() >= self.deadline


def _index_once(
    directory: Path,
    analyzer: Analyzer,
    transcripts: Sequence[Transcript],
    limit: _Limit,
    on_progress: OnTextProgress | None,
    consumers: Sequence[text_reading.TextPassConsumer],
) -> bool:
    plan = plan_texts(directory, analyzer.version, transcripts)
    if plan.is_empty:
        return True
    indexing = _Indexing(directory, analyzer, transcripts, plan, consumers)
    indexing.remove_files(plan.gone)
    return indexing.run(plan.ranges, limit, on_progress)


class _Indexing:
    """One run: reads ranges and writes batches."""

    def __init__(
        self,
        directory: Path,
        analyzer: Analyzer,
        transcripts: Sequence[Transcript],
        plan: TextPlan,
        consumers: Sequence[text_reading.TextPassConsumer],
    ) -> None:
        self._is_rebuild_due = plan.is_rebuild_due
        self._writer = TextIndexWriter(
            directory, analyzer.version, analyzer.tokenizer, plan.identity
        )
        self._directory = directory
        self._analyzer = analyzer
        self._consumers = consumers
        self._found: dict[str, dict[str, bytes]] = {each.name: {} for each in consumers}
        """Results of consumers that are not saved yet, by consumer name and path."""
        self._files = {transcript.file: describe(transcript) for transcript in transcripts}
        self._sizes = {transcript.file: transcript.size for transcript in transcripts}

    def remove_files(self, paths: Sequence[str]) -> None:
        """Remove deleted files."""
        if paths:
            self._writer.remove_files(paths)

    def run(
        self, ranges: Sequence[FileRange], limit: _Limit, on_progress: OnTextProgress | None
    ) -> bool:
        """Read and write; return whether everything was done."""
        waiting = deque(ranges)
        total = sum(map(self._length_of, ranges))
        share = self._count_once(ranges) / max(total, 1)
        batches: list[text_rows.TextBatch] = []
        done = size = 0
        for found in self._read(waiting, limit):
            is_stage_over = total >= text_plan.POOL_BYTES and _begins_stage(batches, found)
            if size >= (STRICT_BYTES if limit.is_strict else WRITE_BYTES) or is_stage_over:
                self._write(batches)
                batches, size = [], 0
            batches += found
            size += sum(len(row.text) for batch in found for row in batch.rows)
            done += sum(batch.state.file.position - batch.start for batch in found)
            if on_progress is not None:
                on_progress(TextProgress(round(done * share), round(total * share)))
        if batches or self._writer.identity is None:
            # Even without texts: an empty index records that there is nothing to index.
            self._write(batches)
        if not waiting and self._is_rebuild_due:
            # Only a transaction that begins later sees the additions of the last one.
            self._writer.rebuild_vocabulary()
        return not waiting

    def _write(self, batches: Sequence[text_rows.TextBatch]) -> None:
        files = [self._files[path] for path in {batch.path for batch in batches}]
        self._is_rebuild_due = self._writer.write(batches, files)
        for consumer in self._consumers:
            if found := self._found[consumer.name]:
                consumer.save(self._directory, found)
                self._found[consumer.name] = {}

    def _read(self, waiting: deque[FileRange], limit: _Limit) -> Batches:
        """Read all ranges, and the ranges that follow them, until the deadline."""
        total = sum(map(self._length_of, waiting))
        read = self._read_here if total < text_plan.POOL_BYTES else self._read_on_all_cores
        for ranges, results in read(waiting, limit):
            for each, result in zip(ranges, results, strict=True):
                known = tuple(batch.state for batch in result.batches)
                if known and known[0].file.size == UNFINISHED:
                    waiting.appendleft(replace(each, known=known))
                for name, data in result.found.items():
                    self._found[name][each.path] = data
            yield [batch for result in results for batch in result.batches]

    def _read_here(
        self, waiting: deque[FileRange], limit: _Limit
    ) -> Iterator[tuple[list[FileRange], list[text_reading.RangeResult]]]:
        prepare, consumers = self._analyzer.prepare, self._consumers
        while waiting and not limit.is_over:
            group = [waiting.popleft()]
            # Encoded as by a worker, so that results have the same types.
            yield (
                group,
                text_reading.decode_results(
                    text_reading.read_ranges(group, prepare, consumers), group
                ),
            )

    def _read_on_all_cores(
        self, waiting: deque[FileRange], limit: _Limit
    ) -> Iterator[tuple[list[FileRange], list[text_reading.RangeResult]]]:
        # Takes longer to load than most searches take.
        import multiprocessing
        from concurrent.futures import ProcessPoolExecutor

        from recollect.sync.secret_scanning import load_rules
        from recollect.sync.workers import begin_reading

        prepare, consumers = self._analyzer.prepare, self._consumers
        context = multiprocessing.get_context("fork" if is_forking() else "spawn")
        running: deque[tuple[Future[bytes], list[FileRange]]] = deque()
        # Compiled once and inherited, where processes are forked.
        load_rules()
        pool = ProcessPoolExecutor(
            count_cores(),
            context,
            initializer=begin_reading,
            initargs=(list_mounts(), find_own_rules()),
        )
        try:
            while running or (waiting and not limit.is_over):
                while waiting and len(running) < _AHEAD and not limit.is_over:
                    group = self._take_group(waiting, is_small=limit.is_strict)
                    with uninterrupted():
                        reading = pool.submit(text_reading.read_ranges, group, prepare, consumers)
                    running.append((reading, group))
                reading, group = running.popleft()
                if limit.is_strict and limit.is_over and reading.cancel():
                    waiting.extend(group)
                else:
                    yield group, text_reading.decode_results(reading.result(), group)
        finally:
            # After an interrupt, wait for running tasks, but not for all submitted ones.
            pool.shutdown(cancel_futures=True)

    def _take_group(self, waiting: deque[FileRange], *, is_small: bool) -> list[FileRange]:
        """Return the next ranges of one stage that together are worth a task."""
        group = [waiting.popleft()]
        size = STRICT_BYTES if is_small else _GROUP_BYTES[group[0].stages[-1]]
        room = size - self._length_of(group[0])
        while waiting and waiting[0].stages == group[0].stages:
            room -= self._length_of(waiting[0])
            if room < 0:
                break
            group.append(waiting.popleft())
        return group

    def _count_once(self, ranges: Sequence[FileRange]) -> int:
        """Return the number of bytes to read; bytes for two stages count once."""
        lengths: dict[str, int] = {}
        for each in ranges:
            length = self._length_of(each) // len(each.stages)
            lengths[each.path] = max(length, lengths.get(each.path, 0))
        return sum(lengths.values())

    def _length_of(self, each: FileRange) -> int:
        return len(each.stages) * (self._sizes[each.path] - each.known[0].file.position)


def _begins_stage(
    batches: Sequence[text_rows.TextBatch], found: Sequence[text_rows.TextBatch]
) -> bool:
    """Whether the next stage begins: texts of the previous one should be searchable by then."""
    return bool(batches and found) and batches[-1].stage < found[-1].stage


def describe(transcript: Transcript) -> text_rows.IndexedFile:
    """Return the row of a transcript in the index."""
    return text_rows.IndexedFile(transcript.file, transcript.project, transcript.session_id or "")


_FRESH_NS: Final = 60 * 1_000_000_000
_MAX_FILES: Final = 8


def read_fresh(
    directory: Path, analyzer: Analyzer, transcripts: Sequence[Transcript]
) -> text_rows.FreshTexts:
    """Return the last texts of files that have grown within the last minute and are not indexed."""
    since = time.time_ns() - _FRESH_NS
    growing = sorted(
        (each for each in transcripts if each.mtime_ns >= since), key=lambda each: -each.mtime_ns
    )[:_MAX_FILES]
    if not growing:
        return text_rows.FreshTexts()
    ranges = find_ranges(directory, analyzer.version, growing)
    found = [batch for each in ranges for batch in text_reading.read_tail(each, analyzer.prepare)]
    return text_rows.FreshTexts(found, [*map(describe, growing)])
