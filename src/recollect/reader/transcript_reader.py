"""Decode the bytes of a transcript into records whose spans tile the file. From a line that is not
valid JSON, records are salvaged and the remaining bytes kept.

Known cases: two or more records on one line, NUL bytes before a record, a truncated line, a
truncated line followed directly by the next record, a value overwritten in the middle. The returned
parts tile the line.

`TranscriptDecoder` takes chunks from any source: a file, a pipe, a follower. `read_transcript`
reads one file with it, in constant memory. Bad data becomes a value and never raises.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from recollect.reader.line_blocks import (
    MAX_LINE,
    BlockSplitter,
    Hole,
    LineBlock,
    TooLong,
    find_mask,
    iter_pieces,
    mask_line,
    seek_line_start,
)
from recollect.records.decoding import decode_record
from recollect.records.envelope import Blank, Chain, Damaged, Oversized, Record, Span, Torn, Unknown
from recollect.sources.safe_files import open_file
from recollect.sources.source import SourceFile

NO_RECORD = "no record"
NUL_BYTES = "NUL bytes"
CUT_SHORT = "cut short"
SHARES_LINE = "shares its line"

# Compiled by `re` on first use: few files need these.
_TOKEN = rb'(?s)"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{}"]'
_HEAD = rb'\{\s*"(?:parentUuid|logicalParentUuid|isSidechain|type|messageId|uuid|sessionId)"\s*:'
_PARTIAL = rb"(?:[A-Za-z0-9.+-]+|,\s*|\\u?[0-9a-fA-F]{0,3})\Z"
_SPACE = rb"\s*+"
_MAX_SCANS = 8
"""Attempts to find where the next record starts in a line: each may scan to the end of the line."""
_TAIL = 64
"""Number of bytes at the end of a fragment that are searched for a broken token."""


class SalvagedPart(Struct, frozen=True):
    """The bytes of a line from `start` to `end`: a record, or None with the reason in `damage`."""

    start: int
    end: int
    record: Record | None
    damage: str


def salvage(line: bytes) -> list[SalvagedPart]:
    """Return the parts of `line`, in order and without gaps."""
    parts: list[SalvagedPart] = []
    position = 0
    while position < len(line):
        found = _next_parts(line, position)
        parts += found
        position = found[-1].end
    return _absorb_space(line, parts)


def _next_parts(line: bytes, position: int) -> list[SalvagedPart]:
    start = line.find(b"{", position)
    if start < 0:
        return [_noise(line, position, len(line))]
    before = [_noise(line, position, start)] if start > position else []
    end = _end_of_object(line, start)
    record = decode_record(line[start:end]) if end else None
    if record is not None:
        return [*before, SalvagedPart(start, end, record, SHARES_LINE)]
    next_record = _find_next_record(line, start + 1)
    return [*before, *_complete(line, start, next_record)]


def _noise(line: bytes, start: int, end: int) -> SalvagedPart:
    is_nul = not line[start:end].strip(b"\0 \t\r\n")
    return SalvagedPart(start, end, None, NUL_BYTES if is_nul else NO_RECORD)


def _end_of_object(line: bytes, start: int) -> int:
    """Return the end of the object that starts at `start`, or 0 if it is not closed."""
    depth = 0
    for match in re.compile(_TOKEN).finditer(line, start):
        token = match.group()
        if token in b"{[":
            depth += 1
        elif token in b"}]":
            depth -= 1
            if depth == 0:
                return match.end()
        elif token == b'"':
            return 0
    return 0


def _find_next_record(line: bytes, start: int) -> int:
    """Return the first offset from which complete, known records extend to the end of the line."""
    budget = _MAX_SCANS * len(line)
    failed: set[int] = set()
    for match in re.compile(_HEAD).finditer(line, start):
        place = match.start()
        while place not in failed and budget > 0:
            failed.add(place)
            end = _end_of_object(line, place)
            budget -= (end or len(line)) - place
            record = decode_record(line[place:end]) if end else None
            if record is None or not _stands_alone(record):
                break
            place = _skip_space(line, end)
            if place == len(line):
                return match.start()
        if budget <= 0:
            break
    return len(line)


def _skip_space(line: bytes, position: int) -> int:
    match = re.compile(_SPACE).match(line, position)
    return match.end() if match else position


def _stands_alone(record: Record) -> bool:
    """Return whether clients write `record` as a separate line, not nested in another.

    `agent_progress` records contain whole messages whose usage must not be counted again; those
    have no session id.
    """
    if isinstance(record, Unknown):
        return False
    return not isinstance(record, Chain) or record.session_id is not None


def _complete(line: bytes, start: int, end: int) -> list[SalvagedPart]:
    """Return the truncated record between `start` and `end`, closed where it ends."""
    for stop in (end, _first_error(line[start:end]) + start):
        record = _close(line[start:stop])
        if record is not None:
            rest = [_noise(line, stop, end)] if stop < end else []
            return [SalvagedPart(start, stop, record, CUT_SHORT), *rest]
    return [SalvagedPart(start, end, None, NO_RECORD)]


def _first_error(piece: bytes) -> int:
    import json  # for damaged lines

    try:
        # Latin-1 maps each byte to one character, so positions are byte positions.
        json.loads(piece.decode("latin-1"), strict=False)
    except json.JSONDecodeError as error:
        return error.pos
    except (RecursionError, ValueError):
        return 0
    return len(piece)


def _close(piece: bytes) -> Record | None:
    """Return the known record that results from closing open strings and brackets, or None."""
    opened, in_string = _open_brackets(piece)
    if not opened:
        return None
    closers = opened.translate(bytes.maketrans(b"{[", b"}]"))[::-1]
    shorter = piece[:-_TAIL] + re.sub(_PARTIAL, b"", piece[-_TAIL:])
    bodies = (
        (piece + b'"', piece + b'":null', shorter + b'"')
        if in_string
        else (piece, piece + b"null", shorter, shorter + b"null")
    )
    for body in bodies:
        for tail in (closers, closers[:-1] + _role_as_type(piece) + b"}"):
            record = decode_record(body + tail)
            if record is not None and not isinstance(record, Unknown):
                return record
    return None


def _open_brackets(piece: bytes) -> tuple[bytes, bool]:
    stack = bytearray()
    for match in re.finditer(_TOKEN, piece):
        token = match.group()
        if token in b"{[":
            stack += token
        elif token in b"}]":
            # A mismatched bracket: the nesting is unknown from here on.
            if not stack or stack.pop() != (b"{" if token == b"}" else b"[")[0]:
                return b"", False
        elif token == b'"':
            return bytes(stack), True
    return bytes(stack), False


def _role_as_type(piece: bytes) -> bytes:
    """Derive a `type` field from the message's role: older clients write the type last."""
    role = b"assistant" if b'"role":"assistant"' in piece else b"user"
    return b',"type":"' + role + b'"'


def _absorb_space(line: bytes, parts: list[SalvagedPart]) -> list[SalvagedPart]:
    """Merge white space between records into the part before it."""
    kept: list[SalvagedPart] = []
    for part in parts:
        if part.record is None and kept and not line[part.start : part.end].strip():
            last = kept[-1]
            kept[-1] = SalvagedPart(last.start, part.end, last.record, last.damage)
        else:
            kept.append(part)
    return kept


_BOM = b"\xef\xbb\xbf"
_NOTHING: Mapping[int, bytes] = MappingProxyType({})


class TranscriptDecoder:
    """Decodes records from chunks that may be split at any byte."""

    def __init__(self, file: str = "", offset: int = 0, *, max_line: int = MAX_LINE) -> None:
        self._file = file
        self._max_line = max_line
        self._splitter = BlockSplitter(offset, max_line)
        self._mask = find_mask()

    @property
    def offset(self) -> int:
        """Where the pending line begins; a later read can continue from here."""
        return self._splitter.offset

    def feed(self, chunk: bytes | Hole) -> Iterator[Record]:
        """Yield the records completed by `chunk`, decoding lazily."""
        for piece in self._splitter.feed(chunk):
            if isinstance(piece, TooLong):
                yield Oversized(span=Span(self._file, piece.offset, piece.length))
            else:
                yield from self._read_block(piece)

    def finish(self) -> Iterator[Record]:
        """Yield the records of a last line without a line end; one `Torn` if it is incomplete."""
        rest = self._splitter.finish()
        if isinstance(rest, TooLong):
            yield Oversized(span=Span(self._file, rest.offset, rest.length))
        elif rest is not None:
            line = self._find_masked(rest).get(0, rest.data)
            records = list(self._read_line(line, rest.offset, 0, len(rest.data)))
            if any(isinstance(record, Damaged) or _is_cut(record) for record in records):
                records = [Torn(span=Span(self._file, rest.offset, len(rest.data)))]
            yield from records

    def _read_block(self, block: LineBlock) -> Iterator[Record]:
        data, file, max_line = block.data, self._file, self._max_line
        masked = self._find_masked(block)
        start = 0
        # A loop of `find` is four times as fast as `split` on one byte.
        while end := data.find(b"\n", start) + 1:
            line = masked[start] if start in masked else data[start : end - 1]
            offset = block.offset + start
            record = None
            if end - start <= max_line:
                record = decode_record(line, Span(file, offset, end - start))
            if record is None:
                yield from self._read_line(line, offset, 1, end - start - 1)
            else:
                yield record
            start = end

    def _find_masked(self, block: LineBlock) -> Mapping[int, bytes]:
        return self._mask(self._file, block) if self._mask is not None else _NOTHING

    def _read_line(self, line: bytes, offset: int, line_end: int, length: int) -> Iterator[Record]:
        """Yield the records of a line, complete or not.

        In the file it has `length` bytes plus `line_end`.
        """
        span = Span(self._file, offset, length + line_end)
        if len(line) > self._max_line:
            yield Oversized(span=span)
            return
        text = line.removeprefix(_BOM)
        if not text.strip():
            yield Blank(span=span)
            return
        record = decode_record(text, span)
        if record is not None:
            yield record
            return
        yield from self._salvage(text, span, len(line) - len(text))

    def _salvage(self, text: bytes, span: Span, skipped: int) -> Iterator[Record]:
        parts = salvage(text)
        for number, part in enumerate(parts):
            start = part.start + skipped if number else 0
            end = part.end + skipped if number < len(parts) - 1 else span.length
            yield _part_record(part, Span(span.file, span.offset + start, end - start, part.damage))


def decode_bytes(file: str, offset: int, data: bytes) -> list[Record]:
    """Return the records in `data`, bytes of a file that begin with the line at `offset`."""
    decoder = TranscriptDecoder(file, offset)
    return [*decoder.feed(data), *decoder.finish()]


class DecodedRest(NamedTuple):
    """The records of the rest of a file, and where they end."""

    records: list[Record]
    end: int


def decode_rest(
    file: SourceFile, name: str, stop: int, on_chunk: Callable[[bytes], None]
) -> DecodedRest:
    """Decode `file` from its current position, the start of a line, up to byte `stop`.

    `on_chunk` is called with all bytes except holes.
    """
    decoder = TranscriptDecoder(name, file.tell())
    records: list[Record] = []
    for chunk in iter_pieces(file, stop):
        if isinstance(chunk, bytes):
            on_chunk(chunk)
        records += decoder.feed(chunk)
    records += decoder.finish()
    return DecodedRest(records, decoder.offset)


def _part_record(part: SalvagedPart, span: Span) -> Record:
    if part.record is None:
        return Damaged(reason=part.damage, span=span)
    return replace(part.record, span=span)


def _is_cut(record: Record) -> bool:
    return record.span is not None and record.span.damage == CUT_SHORT


def read_transcript(path: Path | str, start: int = 0, stop: int | None = None) -> Iterator[Record]:
    """Yield the records of the file at `path`, beginning with the record at byte `start`.

    Bytes after `stop` are ignored. The last record is `Torn` if the bytes end within a line. Raises
    `UnreadableInput` if the file does not exist or is not a regular file.
    """
    with open_file(str(path)) as file:
        line_start = seek_line_start(file, start)
        decoder = TranscriptDecoder(str(path), line_start)
        for records in _decode_file(file, decoder, stop):
            if line_start == start:
                yield from records
                continue
            for record in records:
                if record.span is None or record.span.offset >= start:
                    yield record


def _decode_file(
    file: SourceFile, decoder: TranscriptDecoder, stop: int | None
) -> Iterator[Iterator[Record]]:
    for chunk in iter_pieces(file, stop):
        yield decoder.feed(chunk)
    yield decoder.finish()


def read_shown(span: Span) -> bytes:
    """Return the bytes of `span`, masked for display."""
    return mask_line(span.file, span.offset, read_span(span))


def read_span(span: Span) -> bytes:
    """Read the bytes of `span` from its file."""
    with open_file(span.file) as file:
        file.seek(span.offset)
        return file.read(span.length)
