"""Check files: list the inputs, read each file once and count its records.

Files are read by the same reader as everywhere else, so that a report shows what Recollect sees.
The bytes of each record are read again by its span, from a second handle: they are in the page
cache, and the reader need not support it. Names in a report are relative to the checked path, with
the home directory shortened even inside encoded project names, because reports are shared.
"""

import codecs
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import cast

from msgspec import Raw, Struct

from recollect.documents.health_report import HealthReport, RefusedFile
from recollect.errors import UnreadableInput
from recollect.health.record_counter import RecordCounter
from recollect.locations import (
    Discovery,
    Refusal,
    Transcript,
    TranscriptKind,
    discover,
    encode_project_path,
)
from recollect.locations.claude_directories import HOME_SYMBOL, find_home, shorten_home
from recollect.locations.sidecars import SidecarKind, list_session_sidecars
from recollect.reader.line_blocks import MAX_LINE, iter_pieces
from recollect.reader.transcript_reader import TranscriptDecoder
from recollect.records import decoding, envelope, state
from recollect.records.stream.message_decoding import decode_message, looks_like_stream
from recollect.redact.quick_masks import mask_path
from recollect.render.terminal import safe_text
from recollect.sources.safe_files import open_file
from recollect.sources.source import SourceFile


class InputFile(Struct, frozen=True):
    """A file to read, its name in the report, and its kind."""

    path: Path
    name: str
    kind: str


class Inputs(Struct, frozen=True):
    """The files to read, and those that are not read."""

    sources: tuple[InputFile, ...]
    refused: tuple[RefusedFile, ...]


class ReportNames(Struct, frozen=True):
    """Names files in a report relative to `base`, after `prefix` if there are several."""

    base: Path
    prefix: str
    home: Path | None

    def name(self, path: Path) -> str:
        """Return the name of the file at `path`."""
        if path == self.base:
            relative = Path(path.name)
        elif path.is_relative_to(self.base):
            relative = Path(self.prefix, path.relative_to(self.base))
        else:
            relative = Path(shorten_home(path, self.home))
        parts = (_hide_home(part, self.home) for part in relative.parts)
        return safe_text(mask_path("/".join(parts).replace("//", "/")), single_line=True)


def list_inputs(paths: Sequence[Path], environment: Mapping[str, str] = os.environ) -> Inputs:
    """List the files to read below `paths`: roots, other directories or single files.

    Raises `NothingFound` or `UnreadableInput` for a path that does not exist or cannot be read.
    """
    home = find_home(environment)
    sources: dict[Path, InputFile] = {}
    refused: list[RefusedFile] = []
    for path in paths:
        report_names = make_report_names(path, home, is_one_of_many=len(paths) > 1)
        discovery = discover(path)
        for source in _iter_sources(discovery, report_names):
            sources.setdefault(source.path, source)
        refused += _describe_refused(discovery, report_names)
    return Inputs(tuple(sources.values()), tuple(refused))


def make_report_names(path: Path, home: Path | None, *, is_one_of_many: bool) -> ReportNames:
    """Return the names of files below `path`."""
    base = path.absolute()
    return ReportNames(base, shorten_home(base, home) if is_one_of_many else "", home)


def _hide_home(part: str, home: Path | None) -> str:
    encoded = "" if home is None else encode_project_path(str(home))
    # A home of "/" encodes to one dash, with which every project name starts.
    if len(encoded) > 1 and (part == encoded or part.startswith(f"{encoded}-")):
        return HOME_SYMBOL + part.removeprefix(encoded)
    return part


def _iter_sources(discovery: Discovery, report_names: ReportNames) -> Iterator[InputFile]:
    for transcript in discovery.transcripts:
        yield InputFile(transcript.path, report_names.name(transcript.path), transcript.kind.value)
    for journal in _iter_journals(discovery.transcripts):
        yield InputFile(journal, report_names.name(journal), SidecarKind.WORKFLOW_JOURNAL.value)


def _iter_journals(transcripts: Iterable[Transcript]) -> Iterator[Path]:
    """Iterate over workflow journals; only sessions with workflow subagents have one."""
    sessions = {
        (found.project_dir, found.session_id): found
        for found in transcripts
        if found.kind is TranscriptKind.WORKFLOW_AGENT
    }
    for transcript in sessions.values():
        for sidecar in list_session_sidecars(transcript).found:
            if sidecar.kind is SidecarKind.WORKFLOW_JOURNAL:
                yield sidecar.path


def _describe_refused(discovery: Discovery, report_names: ReportNames) -> Iterator[RefusedFile]:
    for refused in discovery.refused:
        yield RefusedFile(
            file=report_names.name(refused.path),
            reason=refused.reason.value,
            failed=refused.reason is Refusal.UNREADABLE,
        )


_OPENING_LINE = re.compile(rb"\s*[\[{]\s*\n")
_HEAD = 64


def check_files(sources: Iterable[InputFile], refused: Iterable[RefusedFile] = ()) -> HealthReport:
    """Read and count the files of `sources`; unreadable ones are reported with `refused`."""
    counter = RecordCounter()
    failed = [found for found in (_read(source, counter) for source in sources) if found]
    return counter.report((*refused, *failed))


def _read(source: InputFile, counter: RecordCounter) -> RefusedFile | None:
    try:
        with open_file(source.path) as file, open_file(source.path) as again:
            file_check = _FileCheck(source, counter, again)
            if not file_check.add_pretty_printed():
                _read_lines(file, file_check, counter)
            file_check.close()
    except (UnreadableInput, OSError) as error:
        return RefusedFile(file=source.name, reason=_explain(error), failed=True)
    return None


def _read_lines(file: SourceFile, file_check: "_FileCheck", counter: RecordCounter) -> None:
    decoder = TranscriptDecoder(file_check.name)
    for chunk in iter_pieces(file):
        counter.byte_count += len(chunk)
        for record in decoder.feed(chunk):
            file_check.add(record)
    for record in decoder.finish():
        file_check.add(record)


class _FileCheck:
    """Counts one file, and detects what kind of file it is."""

    def __init__(self, source: InputFile, counter: RecordCounter, file: SourceFile) -> None:
        self.name = source.name
        self._kind = source.kind
        self._counter = counter
        self._file = file
        self._is_empty = True
        self._is_stream: bool | None = None

    def add(self, record: envelope.Record) -> None:
        """Count one record."""
        # The decoder sets the span of every record.
        span = cast(envelope.Span, record.span)
        self._is_empty = self._is_empty and isinstance(record, envelope.Blank | state.Summary)
        if self._counter.add_irregular(record, span):
            return
        self._counter.add_span(span)
        text = self._read_text(span)
        if self._is_stream is None:
            self._is_stream = looks_like_stream(text)
        if not (self._is_stream and self._add_messages(text)):
            self._counter.add_record(record, text)

    def add_pretty_printed(self) -> bool:
        """Count a file that is one pretty-printed JSON value; return False if it is not."""
        if not _OPENING_LINE.match(self._file.read(_HEAD)):
            return False
        self._file.seek(0)
        data = self._file.read(MAX_LINE + 1)
        if len(data) > MAX_LINE or not looks_like_stream(data) or not self._add_messages(data):
            return False
        self._is_stream, self._is_empty = True, False
        self._counter.byte_count += len(data)
        self._counter.add_span(envelope.Span(self.name, 0, len(data)))
        return True

    def close(self) -> None:
        """Count the file itself."""
        self._counter.add_file(self._kind, is_stream=bool(self._is_stream), is_empty=self._is_empty)

    def _add_messages(self, text: bytes) -> bool:
        """Count the message or the array of messages in `text`; return whether there were any."""
        pieces = _split_array(text) or (text,)
        messages = [(message, piece) for piece in pieces if (message := decode_message(piece))]
        for message, piece in messages:
            self._counter.add_message(message, piece)
        return bool(messages)

    def _read_text(self, span: envelope.Span) -> bytes:
        self._file.seek(span.offset)
        return self._file.read(span.length).removeprefix(codecs.BOM_UTF8)


def _split_array(text: bytes) -> tuple[bytes, ...]:
    if not text.lstrip().startswith(b"["):
        return ()
    return tuple(map(bytes, decoding.decode_value(text, tuple[Raw, ...]) or ()))


def _explain(error: Exception) -> str:
    """Return the system's error message without the path, which may be private."""
    cause = error.__cause__ if isinstance(error, UnreadableInput) else error
    detail = cause.strerror if isinstance(cause, OSError) else None
    return f"{Refusal.UNREADABLE.value} ({detail})" if detail else Refusal.UNREADABLE.value
