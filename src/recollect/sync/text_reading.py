"""A stretch of a transcript → the texts in it, written for the index. Runs in worker processes.

Two stages read a file: first all lines without a tool call or its result, which are the
conversation and an eighth of the text, then the lines with one. Which stage a line belongs to is
seen from its bytes, so that each stage decodes only its own.
"""

import hashlib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from enum import IntEnum
from io import FileIO
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from recollect.errors import UnreadableInput
from recollect.locations import open_regular
from recollect.reader.blocks import MAX_LINE, Block, BlockSplitter
from recollect.reader.chunks import iter_chunks
from recollect.reader.transcript import TranscriptDecoder
from recollect.records.conversation import Assistant
from recollect.records.decoding import decode_record
from recollect.records.envelope import Chain, Record
from recollect.records.span import Span
from recollect.session.times import parse_time
from recollect.store.text import UNFINISHED, Part, TextBatch, TextRow, TextState
from recollect.sync.documents import hash_name, list_documents, make_key

STRETCH: Final = 4 << 20
"""Bytes of a file that are read in one go, which bounds what a worker holds."""

TAIL: Final = 128 << 10
"""Bytes at the end of a file that are looked at when there is no time for more."""

_CALL: Final = b'"type":"tool_use"'
_RESULT: Final = b'"tool_result"'
_EDGE: Final = 4096
_SECOND_NS: Final = 1_000_000_000
_RACY_NS: Final = 2 * _SECOND_NS
_NO_LINK: Final = Chain()
_OF_CALLS: Final = frozenset({Part.TOOL_INPUT, Part.TOOL_RESULT})

Prepare = Callable[[str], bytes]
"""Writes a text for the tokenizer, in UTF-8; of some module, so that a worker can find it."""


class Stage(IntEnum):
    """Which lines are read."""

    CONVERSATION = 0
    TOOLS = 1


class Stretch(Struct, frozen=True):
    """A stretch to read: behind what is `known` if the file only grew, else from its start."""

    path: str
    stage: Stage
    is_subagent: bool
    known: TextState


def read_stretches(stretches: Sequence[Stretch], prepare: Prepare) -> bytes:
    """What the stretches hold, encoded: cheaper to hand over than objects are."""
    # Paths are left out: they may be no UTF-8, and whoever made the stretches knows them.
    return msgspec.msgpack.encode([read_stretch(stretch, prepare) for stretch in stretches])


def decode_batches(data: bytes, stretches: Sequence[Stretch]) -> list[TextBatch]:
    """The result of `read_stretches` for the same stretches, without files that vanished."""
    found = msgspec.msgpack.decode(data, type=list[TextBatch | None])
    pairs = zip(stretches, found, strict=True)
    return [replace(batch, path=stretch.path) for stretch, batch in pairs if batch is not None]


def read_stretch(stretch: Stretch, prepare: Prepare) -> TextBatch | None:
    """The texts of one stretch; None when the file cannot be read."""
    try:
        with open_regular(stretch.path) as file:
            return _read(file, stretch, prepare)
    except (UnreadableInput, OSError):
        return None


def read_tail(stretch: Stretch, prepare: Prepare) -> TextBatch | None:
    """The texts of the last lines of a stretch; None when the file cannot be read.

    It says nothing about how far the file has been read, and is of no use to the index.
    """
    try:
        with open_regular(stretch.path) as file:
            size = os.fstat(file.fileno()).st_size
            known = stretch.known if _continues(file, stretch.known, size) else TextState()
            start = _find_line(file, max(known.position, size - TAIL))
            reading = _Reading(stretch, prepare, int(time.time()))
            file.seek(start)
            reading.take(file, start, size)
            return TextBatch(stretch.path, stretch.stage, 0, TextState(), reading.rows)
    except (UnreadableInput, OSError):
        return None


def _find_line(file: FileIO, position: int) -> int:
    """Where the first line that does not begin before a position begins."""
    if position == 0:
        return 0
    file.seek(position - 1)
    before, end, _ = file.read(TAIL).partition(b"\n")
    return position - 1 + len(before + end)


def _read(file: FileIO, stretch: Stretch, prepare: Prepare) -> TextBatch:
    status, now = os.fstat(file.fileno()), time.time_ns()
    known = stretch.known if _continues(file, stretch.known, status.st_size) else TextState()
    reading = _Reading(stretch, prepare, known.moment or status.st_mtime_ns // _SECOND_NS)
    file.seek(known.position)
    position, is_whole = reading.take(file, known.position, status.st_size)
    is_settled = is_whole and now - status.st_mtime_ns > _RACY_NS
    state = TextState(
        position=position,
        inode=status.st_ino,
        size=status.st_size if is_whole else UNFINISHED,
        mtime_ns=status.st_mtime_ns if is_settled else -1,
        edges=_hash_edges(file, position),
        moment=reading.moment,
    )
    return TextBatch("", stretch.stage, known.position, state, reading.rows)


def _continues(file: FileIO, known: TextState, size: int) -> bool:
    """Whether a file is what it was, or that with more behind it.

    Where only the time is in doubt the edges decide: they hold the last line.
    """
    has_grown = size > known.size or (size == known.size and known.mtime_ns < 0)
    return has_grown and size >= known.position and _hash_edges(file, known.position) == known.edges


def _hash_edges(file: FileIO, position: int) -> bytes:
    """A hash of the first bytes of a file and of those before a position."""
    file.seek(0)
    head = file.read(min(_EDGE, position))
    file.seek(max(position - _EDGE, 0))
    return hashlib.blake2b(head + file.read(min(_EDGE, position)), digest_size=12).digest()


class _Reading:
    """The rows of a stretch while they are being read."""

    def __init__(self, stretch: Stretch, prepare: Prepare, moment: int) -> None:
        self._stretch = stretch
        self._prepare = prepare
        self.moment = moment
        self.rows: list[TextRow] = []

    def take(self, file: FileIO, start: int, stop: int) -> tuple[int, bool]:
        """Read whole lines, and say where to go on and whether that is the end.

        A last line without its end is read too, if it is whole, and again the next time.
        """
        splitter = BlockSplitter(start)
        for chunk in iter_chunks(file, stop):
            for piece in splitter.feed(chunk):
                if isinstance(piece, Block):
                    self._take_block(piece)
            if splitter.offset >= start + STRETCH:
                return splitter.offset, False
        position = splitter.offset
        rest = splitter.finish()
        if isinstance(rest, Block) and self._is_wanted(rest.data, 0, len(rest.data)):
            decoder = TranscriptDecoder(self._stretch.path, rest.offset)
            self._add_all([*decoder.feed(rest.data), *decoder.finish()])
        return position, True

    def _take_block(self, block: Block) -> None:
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
        for number, document in enumerate(list_documents(record, is_subagent=is_subagent)):
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
                    key=make_key(document, timestamp),
                    call=hash_name(document.owner) if document.part in _OF_CALLS else None,
                    text=self._prepare(document.text),
                )
            )
