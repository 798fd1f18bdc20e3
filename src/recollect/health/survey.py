"""Reads files once and counts what is in them.

A file is read the way the reader reads it, so that the report tells what every other part of
Recollect sees. The text of each record is read again by its span, from a second handle: the
system has it in memory, and the reader stays free of a question that only a survey asks.
"""

import codecs
import re
from collections.abc import Iterable
from io import FileIO
from typing import cast

from msgspec import Raw

from recollect.errors import UnreadableInput
from recollect.health.report import RefusedFile, Report
from recollect.health.sources import Source
from recollect.health.tally import Tally
from recollect.locations import Refusal, open_regular
from recollect.reader import MAX_LINE, TranscriptDecoder
from recollect.reader.chunks import CHUNK
from recollect.records.decoding import decode_value
from recollect.records.envelope import Record
from recollect.records.irregular import Blank
from recollect.records.span import Span
from recollect.records.state import Summary
from recollect.records.stream.decoding import decode_message
from recollect.records.stream.detection import looks_like_stream

_BRACKET_LINE = re.compile(rb"\s*[\[{]\s*\n")
_HEAD = 64


def survey(sources: Iterable[Source], refused: Iterable[RefusedFile] = ()) -> Report:
    """What is in the files of `sources`; those that cannot be read join the `refused` ones."""
    tally = Tally()
    failed = [found for found in (_read(source, tally) for source in sources) if found]
    return tally.report((*refused, *failed))


def _read(source: Source, tally: Tally) -> RefusedFile | None:
    try:
        with open_regular(source.path) as file, open_regular(source.path) as again:
            page = _Page(source, tally, again)
            if not page.add_printed_json():
                _read_lines(file, page, tally)
            page.close()
    except (UnreadableInput, OSError) as error:
        return RefusedFile(file=source.name, reason=_explain(error), failed=True)
    return None


def _read_lines(file: FileIO, page: "_Page", tally: Tally) -> None:
    decoder = TranscriptDecoder(page.name)
    while chunk := file.read(CHUNK):
        tally.byte_count += len(chunk)
        for record in decoder.feed(chunk):
            page.add(record)
    for record in decoder.finish():
        page.add(record)


class _Page:
    """One file under survey, and what it has turned out to be so far."""

    def __init__(self, source: Source, tally: Tally, file: FileIO) -> None:
        self.name = source.name
        self._kind = source.kind
        self._tally = tally
        self._file = file
        self._is_bare = True
        self._is_stream: bool | None = None

    def add(self, record: Record) -> None:
        """Count one record."""
        # The decoder gives every record its span.
        span = cast(Span, record.span)
        self._is_bare = self._is_bare and isinstance(record, Blank | Summary)
        if self._tally.add_irregular(record, span):
            return
        self._tally.account(span)
        text = self._read_text(span)
        if self._is_stream is None:
            self._is_stream = looks_like_stream(text)
        if not (self._is_stream and self._add_messages(text)):
            self._tally.add_record(record, text)

    def add_printed_json(self) -> bool:
        """Count the messages of a file that is one JSON value over many lines, if it is that."""
        if not _BRACKET_LINE.match(self._file.read(_HEAD)):
            return False
        self._file.seek(0)
        data = self._file.read(MAX_LINE + 1)
        if len(data) > MAX_LINE or not looks_like_stream(data) or not self._add_messages(data):
            return False
        self._is_stream, self._is_bare = True, False
        self._tally.byte_count += len(data)
        self._tally.account(Span(self.name, 0, len(data)))
        return True

    def close(self) -> None:
        """Count the file itself."""
        self._tally.add_file(self._kind, is_stream=bool(self._is_stream), is_empty=self._is_bare)

    def _add_messages(self, text: bytes) -> bool:
        """Count the messages in `text`, one or an array of them; tell whether there were any."""
        pieces = _split_array(text) or (text,)
        messages = [(message, piece) for piece in pieces if (message := decode_message(piece))]
        for message, piece in messages:
            self._tally.add_message(message, piece)
        return bool(messages)

    def _read_text(self, span: Span) -> bytes:
        self._file.seek(span.offset)
        return self._file.read(span.length).removeprefix(codecs.BOM_UTF8)


def _split_array(text: bytes) -> tuple[bytes, ...]:
    if not text.lstrip().startswith(b"["):
        return ()
    return tuple(map(bytes, decode_value(text, tuple[Raw, ...]) or ()))


def _explain(error: Exception) -> str:
    """The system's own words, without the path, which may say more than a report should."""
    cause = error.__cause__ if isinstance(error, UnreadableInput) else error
    detail = cause.strerror if isinstance(cause, OSError) else None
    return f"{Refusal.UNREADABLE.value} ({detail})" if detail else Refusal.UNREADABLE.value
