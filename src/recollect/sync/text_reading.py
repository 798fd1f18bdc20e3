"""Read a range of a transcript and list the texts in it, prepared for the full-text index.

The text pass decodes every appended record, so other features that need all records of a file plug
in here, as a `TextPassConsumer`. Runs in worker processes.

A line with a tool call or its result belongs to one stage, every other line to the other; the bytes
of a line show which. When a large history is first indexed, the files are read once per stage, so
that the conversation, an eighth of the text, can be searched long before the rest; later, both
stages are read together.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from recollect.documents.kinds import TextKind
from recollect.errors import UnreadableInput
from recollect.reader.line_blocks import MAX_LINE, BlockSplitter, LineBlock, iter_pieces, masked_by
from recollect.reader.transcript_reader import TranscriptDecoder
from recollect.records.conversation_records import Assistant
from recollect.records.decoding import decode_record
from recollect.records.envelope import Chain, Oversized, Record, Span
from recollect.session import searchable_texts
from recollect.session.times import parse_time
from recollect.sources import growth
from recollect.sources.safe_files import open_file
from recollect.sources.source import SourceFile
from recollect.store.text_rows import SecretRow, TextBatch, TextRow, TextState
from recollect.sync.text_plan import BOTH, MAX_BYTES, FileRange, Stage, is_list_file

if TYPE_CHECKING:
    from recollect.sync.secret_scanning import ScannedLine

RANGE_BYTES: Final = 4 << 20
"""Bytes of a file to read at a time, which bounds the memory of a worker."""

WHOLE_BYTES: Final = 32 << 20
"""Maximum size of a file to read in one go for a consumer that needs all of it."""

TAIL: Final = 128 << 10
"""Bytes to read at the end of a file if there is no time for more."""

_CALL: Final = b'"type":"tool_use"'
_RESULT: Final = b'"tool_result"'
_SECOND_NS: Final = 1_000_000_000
# A racy file is not read again: that would apply to every large file that is being written. If a
# line far from the end is replaced by one of the same length within the same clock tick, that is
# missed until the file changes again.
_CONTINUABLE: Final = (growth.Growth.UNCHANGED, growth.Growth.APPENDED, growth.Growth.RACY)
_NO_LINK: Final = Chain()
_OF_CALLS: Final = frozenset({TextKind.TOOL_INPUT, TextKind.TOOL_RESULT})

Prepare = Callable[[str], bytes]
"""Prepares a text for the tokenizer, as UTF-8; a module-level function, so that workers can import
it."""


class RecordSink(Protocol):
    """Receives the records of one file."""

    def add(self, record: Record) -> None:
        """Add the next record."""

    def finish(self, state: growth.FileState) -> bytes | None:
        """Return the encoded result for the file, which has this state; None if there is none."""


class TextPassConsumer(Protocol):
    """A further receiver of the records of the text pass. It is sent to worker processes."""

    name: str
    """The key of its results; unique."""

    def start(self, path: str) -> RecordSink | None:
        """Return a sink for a file that is read from start to end; None to skip the file.

        Called in a worker process.
        """

    def save(self, directory: Path, found: Mapping[str, bytes]) -> None:
        """Store the results of the sinks, by path, in the data directory.

        Called in the process that indexes.
        """


class RangeResult(Struct, frozen=True, array_like=True):
    """The content of a range: a batch of texts per stage, and results of consumers by name."""

    batches: list[TextBatch] = []
    found: dict[str, bytes] = {}


def read_ranges(
    ranges: Sequence[FileRange], prepare: Prepare, consumers: Sequence[TextPassConsumer] = ()
) -> bytes:
    """Return the content of the ranges, encoded: cheaper to transfer than objects."""
    # Paths are left out: they may not be UTF-8, and the caller knows them.
    return msgspec.msgpack.encode([read_range(each, prepare, consumers) for each in ranges])


def decode_results(data: bytes, ranges: Sequence[FileRange]) -> list[RangeResult]:
    """Decode the result of `read_ranges` for the same ranges."""
    results = msgspec.msgpack.decode(data, type=list[RangeResult])
    return [
        replace(result, batches=[replace(batch, path=each.path) for batch in result.batches])
        for each, result in zip(ranges, results, strict=True)
    ]


def read_range(
    wanted: FileRange, prepare: Prepare, consumers: Sequence[TextPassConsumer] = ()
) -> RangeResult:
    """Return the texts of one range; empty if the file cannot be read."""
    try:
        with open_file(wanted.path) as file:
            return _read(file, wanted, prepare, consumers)
    except (UnreadableInput, OSError):
        return RangeResult()


def read_tail(wanted: FileRange, prepare: Prepare) -> list[TextBatch]:
    """Return the texts of the last lines of a range; empty if the file cannot be read.

    The result does not record how far the file has been read, so it cannot be indexed.
    """
    try:
        with open_file(wanted.path) as file:
            seen = growth.capture_state(file)
            size = seen.size
            known = _find_known(file, wanted, seen)
            start = _find_line(file, max(known[0].file.position, size - TAIL))
            moment = int(time.time())
            reading = _Reading(wanted, prepare, [moment for _ in wanted.stages], ())
            file.seek(start)
            reading.take(file, start, size, RANGE_BYTES)
            began = _find_beginning(file, size)
            return [
                TextBatch(wanted.path, stage, 0, TextState(), reading.rows[stage], began)
                for stage in wanted.stages
            ]
    except (UnreadableInput, OSError):
        return []


def _find_beginning(file: SourceFile, size: int) -> int | None:
    """Find the first time in a file, in milliseconds since 1970."""
    from recollect.sync.message_lines import find_first_time  # loads prices

    return find_first_time(file, size)


def _find_line(file: SourceFile, position: int) -> int:
    """Return the start of the first line at or after a position."""
    if position == 0:
        return 0
    file.seek(position - 1)
    before, end, _ = file.read(TAIL).partition(b"\n")
    return position - 1 + len(before + end)


def _read(
    file: SourceFile, wanted: FileRange, prepare: Prepare, consumers: Sequence[TextPassConsumer]
) -> RangeResult:
    seen = growth.capture_state(file)
    known = _find_known(file, wanted, seen)
    start = known[0].file.position
    sinks = _open_sinks(wanted, start, seen.size, consumers)
    began = None if start else _find_beginning(file, seen.size)
    # For lines before the first record with a time; the file itself may be a newer copy.
    first_moment = seen.mtime_ns // _SECOND_NS if began is None else began // 1000
    moments = [each.moment or first_moment for each in known]
    reading = _Reading(wanted, prepare, moments, tuple(sinks.values()))
    file.seek(start)
    # A consumer needs the whole file at once.
    position, is_whole = reading.take(file, start, seen.size, WHOLE_BYTES if sinks else RANGE_BYTES)
    state = growth.record_state(file, seen, position)
    results = {name: sink.finish(state) for name, sink in sinks.items()} if is_whole else {}
    if not is_whole:
        state = replace(state, size=growth.UNFINISHED)
    batches = [
        TextBatch(
            "",
            stage,
            start,
            TextState(state, reading.moments[stage]),
            reading.rows[stage],
            began,
            reading.secrets[stage],
        )
        for stage in wanted.stages
    ]
    return RangeResult(batches, {name: data for name, data in results.items() if data})


def _open_sinks(
    wanted: FileRange, start: int, size: int, consumers: Sequence[TextPassConsumer]
) -> dict[str, RecordSink]:
    if start or size > WHOLE_BYTES or wanted.stages != BOTH or is_list_file(wanted.path):
        return {}
    opened = {each.name: each.start(wanted.path) for each in consumers}
    return {name: sink for name, sink in opened.items() if sink is not None}


def _find_known(
    file: SourceFile, wanted: FileRange, seen: growth.FileState
) -> tuple[TextState, ...]:
    """Return the known state of a file if it is still valid, or an empty one."""
    if growth.find_growth(file, wanted.known[0].file, seen) in _CONTINUABLE:
        return wanted.known
    return tuple(TextState() for _ in wanted.known)


class _Reading:
    """The rows of a range while it is being read, by stage."""

    def __init__(
        self,
        wanted: FileRange,
        prepare: Prepare,
        moments: Sequence[int],
        sinks: Sequence[RecordSink],
    ) -> None:
        from recollect.sync.secret_scanning import SecretScanner  # the rules

        self._path = wanted.path
        self._is_subagent = wanted.is_subagent
        self._stages = frozenset(wanted.stages)
        self._prepare = prepare
        self._sinks = sinks
        self._scanner = SecretScanner()
        self.secrets: dict[Stage, list[SecretRow]] = {stage: [] for stage in wanted.stages}
        self.moments = dict(zip(wanted.stages, moments, strict=True))
        self.rows: dict[Stage, list[TextRow]] = {stage: [] for stage in wanted.stages}

    def take(self, file: SourceFile, start: int, stop: int, max_bytes: int) -> tuple[int, bool]:
        """Read complete lines; return where to continue, and whether that is the end.

        Stops after about `max_bytes`. A last line without a line end is read too if it is valid,
        and again the next time.
        """
        if is_list_file(self._path):
            self._take_list(file, stop)
            return 0, True
        splitter = BlockSplitter(start)
        for chunk in iter_pieces(file, stop):
            for piece in splitter.feed(chunk):
                if isinstance(piece, LineBlock):
                    self._take_block(piece)
                else:
                    self._pass_on(Oversized(span=Span(self._path, piece.offset, piece.length)))
            if splitter.offset >= start + max_bytes:
                return splitter.offset, False
        position = splitter.offset
        rest = splitter.finish()
        if isinstance(rest, LineBlock):
            self._take_rest(rest)
        return position, True

    def _take_rest(self, rest: LineBlock) -> None:
        """Read a last line without a line end."""
        line, stage = rest.data, _find_stage(rest.data, 0, len(rest.data))
        if stage in self._stages:
            scanned = self._scanner.scan_lines([line]).get(0)
            masked = self._record_secrets(
                scanned, line, Span(self._path, rest.offset, len(line)), stage
            )
            with masked_by(lambda *_: {0: masked}):
                decoder = TranscriptDecoder(self._path, rest.offset)
            self._add_all([*decoder.feed(line), *decoder.finish()], stage)

    def _take_list(self, file: SourceFile, size: int) -> None:
        """Read a whole list: it is rewritten with every change, so its time is that of the file."""
        if Stage.CONVERSATION in self._stages and size <= MAX_BYTES:
            self.moments[Stage.CONVERSATION] = growth.capture_state(file).mtime_ns // _SECOND_NS
            file.seek(0)
            span, data = Span(self._path, 0, size), file.read(size)
            # A list is a single value on several lines.
            scanned = self._scanner.scan_lines([data.replace(b"\n", b" ")]).get(0)
            masked = self._record_secrets(scanned, data, span, Stage.CONVERSATION)
            self._add(
                searchable_texts.ListFile(span=span, raw=Raw(masked)), span, Stage.CONVERSATION
            )

    def _take_block(self, block: LineBlock) -> None:
        data, stages = block.data, self._stages
        lines: list[tuple[bytes, int, Stage]] = []
        start = 0
        while end := data.find(b"\n", start) + 1:
            stage = _find_stage(data, start, end)
            if stage in stages:
                lines.append((data[start : end - 1], block.offset + start, stage))
            start = end
        scanned = self._scanner.scan_lines([line for line, _, _ in lines])
        for number, (line, offset, stage) in enumerate(lines):
            self._take_line(line, offset, stage, scanned.get(number))

    def _take_line(
        self, line: bytes, offset: int, stage: Stage, scanned: "ScannedLine | None"
    ) -> None:
        span = Span(self._path, offset, len(line) + 1)
        masked = self._record_secrets(scanned, line, span, stage)
        record = decode_record(masked, span) if len(line) < MAX_LINE else None
        if record is not None:
            self._add(record, span, stage)
        else:
            with masked_by(lambda *_: {0: masked}):
                decoder = TranscriptDecoder(self._path, offset)
            self._add_all(decoder.feed(line + b"\n"), stage)

    def _record_secrets(
        self, scanned: "ScannedLine | None", line: bytes, span: Span, stage: Stage
    ) -> bytes:
        """Record the secrets of a line, and return it with the definite ones masked."""
        if scanned is None:
            return line
        from recollect.sync.secret_scanning import make_rows  # the rules

        self.secrets[stage] += make_rows(scanned, line, span.offset, span.length)
        return scanned.masked

    def _add_all(self, records: Iterable[Record], stage: Stage) -> None:
        for record in records:
            if record.span is not None:
                self._add(record, record.span, stage)

    def _pass_on(self, record: Record) -> None:
        for sink in self._sinks:
            sink.add(record)

    def _add(self, record: Record, span: Span, stage: Stage) -> None:
        if self._sinks:
            self._pass_on(record)
        timestamp: str | None = getattr(record, "timestamp", None)
        if moment := parse_time(timestamp):
            self.moments[stage] = int(moment.timestamp())
        link = record if isinstance(record, Chain) else _NO_LINK
        is_subagent = self._is_subagent or link.is_sidechain
        model = record.message.model if isinstance(record, Assistant) and record.message else None
        for number, document in enumerate(
            searchable_texts.list_searchable_texts(record, is_subagent=is_subagent)
        ):
            if not document.text:
                continue
            self.rows[stage].append(
                TextRow(
                    second=self.moments[stage],
                    position=span.offset,
                    length=span.length,
                    number=number,
                    part=document.part,
                    tool=document.tool,
                    model=model,
                    branch=link.git_branch,
                    cwd=link.cwd,
                    is_error=document.is_error,
                    is_subagent=is_subagent,
                    is_copy=link.forked_from is not None,
                    key=searchable_texts.make_key(document, timestamp),
                    call=_hash_call(document),
                    text=self._prepare(document.text),
                )
            )


def _find_stage(data: bytes, start: int, end: int) -> Stage:
    """Return the stage of the line between two offsets, according to its bytes."""
    has_tool = data.find(_RESULT, start, end) >= 0 or data.find(_CALL, start, end) >= 0
    return Stage.TOOLS if has_tool else Stage.CONVERSATION


def _hash_call(document: searchable_texts.SearchableText) -> int | None:
    if document.part in _OF_CALLS:
        return searchable_texts.hash_name(document.owner)
    return searchable_texts.hash_name(document.text.strip()) if document.is_input else None
