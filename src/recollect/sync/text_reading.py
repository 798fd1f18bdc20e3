"""A stretch of a transcript → the texts in it, written for the index. Runs in worker processes.

Two stages read a file: first all lines without a tool call or its result, which are the
conversation and an eighth of the text, then the lines with one. Which stage a line belongs to is
seen from its bytes, so that each stage decodes only its own.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from enum import IntEnum
from typing import Final

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from recollect.errors import UnreadableInput
from recollect.reader.line_blocks import MAX_LINE, BlockSplitter, LineBlock, iter_pieces
from recollect.reader.transcript_reader import TranscriptDecoder
from recollect.records.conversation import Assistant
from recollect.records.decoding import decode_record
from recollect.records.envelope import Chain, Record, Span
from recollect.session.times import parse_time
from recollect.sources.growth import (
    UNFINISHED,
    FileState,
    Growth,
    find_growth,
    look_at,
    record_state,
)
from recollect.sources.safe_files import open_file
from recollect.sources.source import SourceFile
from recollect.store.text_rows import TextBatch, TextKind, TextRow, TextState
from recollect.sync.list_files import MAX_BYTES, ListFile, is_list_file
from recollect.sync.message_lines import find_first_time
from recollect.sync.searchable_texts import (
    SearchableText,
    hash_name,
    list_searchable_texts,
    make_key,
)

RANGE_BYTES: Final = 4 << 20
"""Bytes of a file that are read in one go, which bounds what a worker holds."""

TAIL: Final = 128 << 10
"""Bytes at the end of a file that are looked at when there is no time for more."""

_CALL: Final = b'"type":"tool_use"'
_RESULT: Final = b'"tool_result"'
_SECOND_NS: Final = 1_000_000_000
# A racy file is not read again: that would be any large file that is being written. A line that was
# exchanged for one of the same length, far from the end and within the same tick of the clock, is
# missed until the file changes again.
_CONTINUABLE: Final = (Growth.UNCHANGED, Growth.APPENDED, Growth.RACY)
_NO_LINK: Final = Chain()
_OF_CALLS: Final = frozenset({TextKind.TOOL_INPUT, TextKind.TOOL_RESULT})

Prepare = Callable[[str], bytes]
"""Writes a text for the tokenizer, in UTF-8; of some module, so that a worker can find it."""


class Stage(IntEnum):
    """Which lines are read."""

    CONVERSATION = 0
    TOOLS = 1


class FileRange(Struct, frozen=True):
    """A stretch to read: behind what is `known` if the file only grew, else from its start."""

    path: str
    stage: Stage
    is_subagent: bool
    known: TextState


def read_ranges(stretches: Sequence[FileRange], prepare: Prepare) -> bytes:
    """What the stretches hold, encoded: cheaper to hand over than objects are."""
    # Paths are left out: they may be no UTF-8, and whoever made the stretches knows them.
    return msgspec.msgpack.encode([read_range(stretch, prepare) for stretch in stretches])


def decode_batches(data: bytes, stretches: Sequence[FileRange]) -> list[TextBatch]:
    """The result of `read_ranges` for the same stretches, without files that vanished."""
    found = msgspec.msgpack.decode(data, type=list[TextBatch | None])
    pairs = zip(stretches, found, strict=True)
    return [replace(batch, path=stretch.path) for stretch, batch in pairs if batch is not None]


def read_range(stretch: FileRange, prepare: Prepare) -> TextBatch | None:
    """The texts of one stretch; None when the file cannot be read."""
    try:
        with open_file(stretch.path) as file:
            return _read(file, stretch, prepare)
    except (UnreadableInput, OSError):
        return None


def read_tail(stretch: FileRange, prepare: Prepare) -> TextBatch | None:
    """The texts of the last lines of a stretch; None when the file cannot be read.

    It says nothing about how far the file has been read, and is of no use to the index.
    """
    try:
        with open_file(stretch.path) as file:
            seen = look_at(file)
            size = seen.size
            known = _find_known(file, stretch, seen)
            start = _find_line(file, max(known.file.position, size - TAIL))
            reading = _Reading(stretch, prepare, int(time.time()))
            file.seek(start)
            reading.take(file, start, size)
            began = find_first_time(file, size)
            return TextBatch(stretch.path, stretch.stage, 0, TextState(), reading.rows, began)
    except (UnreadableInput, OSError):
        return None


def _find_line(file: SourceFile, position: int) -> int:
    """Where the first line that does not begin before a position begins."""
    if position == 0:
        return 0
    file.seek(position - 1)
    before, end, _ = file.read(TAIL).partition(b"\n")
    return position - 1 + len(before + end)


def _read(file: SourceFile, stretch: FileRange, prepare: Prepare) -> TextBatch:
    seen = look_at(file)
    known = _find_known(file, stretch, seen)
    start = known.file.position
    reading = _Reading(stretch, prepare, known.moment or seen.mtime_ns // _SECOND_NS)
    file.seek(start)
    position, is_whole = reading.take(file, start, seen.size)
    state = record_state(file, seen, position)
    if not is_whole:
        state = replace(state, size=UNFINISHED)
    began = None if start else find_first_time(file, seen.size)
    return TextBatch(
        "", stretch.stage, start, TextState(state, reading.moment), reading.rows, began
    )


def _find_known(file: SourceFile, stretch: FileRange, seen: FileState) -> TextState:
    """What is known of a file and still holds: all of it, or nothing."""
    known = stretch.known
    return known if find_growth(file, known.file, seen) in _CONTINUABLE else TextState()


class _Reading:
    """The rows of a stretch while they are being read."""

    def __init__(self, stretch: FileRange, prepare: Prepare, moment: int) -> None:
        self._stretch = stretch
        self._prepare = prepare
        self.moment = moment
        self.rows: list[TextRow] = []

    def take(self, file: SourceFile, start: int, stop: int) -> tuple[int, bool]:
        """Read whole lines, and say where to go on and whether that is the end.

        A last line without its end is read too, if it is whole, and again the next time.
        """
        if is_list_file(self._stretch.path):
            self._take_list(file, stop)
            return 0, True
        splitter = BlockSplitter(start)
        for chunk in iter_pieces(file, stop):
            for piece in splitter.feed(chunk):
                if isinstance(piece, LineBlock):
                    self._take_block(piece)
            if splitter.offset >= start + RANGE_BYTES:
                return splitter.offset, False
        position = splitter.offset
        rest = splitter.finish()
        if isinstance(rest, LineBlock) and self._is_wanted(rest.data, 0, len(rest.data)):
            decoder = TranscriptDecoder(self._stretch.path, rest.offset)
            self._add_all([*decoder.feed(rest.data), *decoder.finish()])
        return position, True

    def _take_list(self, file: SourceFile, size: int) -> None:
        """Read a whole list: it is rewritten with every change, and is as old as its file."""
        if self._stretch.stage is Stage.CONVERSATION and size <= MAX_BYTES:
            self.moment = look_at(file).mtime_ns // _SECOND_NS
            file.seek(0)
            span = Span(self._stretch.path, 0, size)
            self._add(ListFile(span=span, raw=Raw(file.read(size))), span)

    def _take_block(self, block: LineBlock) -> None:
        data = block.data
        start = 0
        while end := data.find(b"\n", start) + 1:
            if self._is_wanted(data, start, end):
                self._take_line(data[start : end - 1], block.offset + start)
            start = end

    def _is_wanted(self, data: bytes, start: int, end: int) -> bool:
        has_tool = data.find(_RESULT, start, end) >= 0 or data.find(_CALL, start, end) >= 0
        return has_tool == (self._stretch.stage is Stage.TOOLS)

    def _take_line(self, line: bytes, offset: int) -> None:
        span = Span(self._stretch.path, offset, len(line) + 1)
        record = decode_record(line, span) if len(line) < MAX_LINE else None
        if record is not None:
            self._add(record, span)
        else:
            self._add_all(TranscriptDecoder(self._stretch.path, offset).feed(line + b"\n"))

    def _add_all(self, records: Iterator[Record] | list[Record]) -> None:
        for record in records:
            if record.span is not None:
                self._add(record, record.span)

    def _add(self, record: Record, span: Span) -> None:
        timestamp: str | None = getattr(record, "timestamp", None)
        if moment := parse_time(timestamp):
            self.moment = int(moment.timestamp())
        link = record if isinstance(record, Chain) else _NO_LINK
        is_subagent = self._stretch.is_subagent or link.is_sidechain
        model = record.message.model if isinstance(record, Assistant) and record.message else None
        for number, document in enumerate(list_searchable_texts(record, is_subagent=is_subagent)):
            if not document.text:
                continue
            self.rows.append(
                TextRow(
                    second=self.moment,
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
                    key=make_key(document, timestamp),
                    call=_hash_call(document),
                    text=self._prepare(document.text),
                )
            )


def _hash_call(document: SearchableText) -> int | None:
    if document.part in _OF_CALLS:
        return hash_name(document.owner)
    return hash_name(document.text.strip()) if document.is_input else None
