"""Check files: list the inputs, read each file once and count its records, in constant memory.

Files are read by the same reader as everywhere else, so that a report shows what Recollect sees.
The bytes of each record are read again by its span, from a second handle: they are in the page
cache, and the reader need not support it. Names in a report are relative to the checked path, with
the home directory shortened even inside encoded project names, because reports are shared.

The number of distinct names and of listed damaged regions is limited, because a broken or hostile
file may have a new one on every line. Everything beyond the limit is still counted.
"""

import codecs
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import cast

from msgspec import Raw, Struct

from recollect.documents import health_report
from recollect.documents.health_report import HealthReport, RefusedFile
from recollect.errors import UnreadableInput
from recollect.health import drift
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
from recollect.reader.transcript_reader import CUT_SHORT, TranscriptDecoder
from recollect.records import decoding, envelope, state
from recollect.records.stream import message_decoding, stream_messages, system_messages
from recollect.records.stream.message_decoding import decode_message, looks_like_stream
from recollect.records.system_records import SYSTEM_SUBTYPES, System
from recollect.redact.quick_masks import mask_path
from recollect.render.terminal import safe_line
from recollect.sources.safe_files import open_file
from recollect.sources.source import SourceFile

MAX_NAMES = 1000
"""Maximum number of distinct names in a table; others are counted together."""

MAX_DAMAGED = 10_000
"""Maximum number of damaged regions that are listed."""

OTHER_NAMES = "(other names)"
STREAM = "stream"

_POSITION = re.compile(r"\[[0-9]+\]")


class RecordCounter:
    """Counts records as they are added; `report` may be called at any time."""

    def __init__(self) -> None:
        self.byte_count = 0
        """Bytes read from the files; `add_span` counts them independently, by span."""
        self._files = self._streams = self._empty_files = 0
        self._kinds: health_report.Counts = {}
        self._accounted = self._records = self._salvaged = self._blank = 0
        self._times: tuple[str, str] | None = None
        self._types: health_report.Counts = {}
        self._versions: health_report.Counts = {}
        self._unknown_types: health_report.Counts = {}
        self._unknown_fields: dict[str, health_report.Counts] = {}
        self._misfits: dict[str, health_report.Counts] = {}
        self._damaged: list[health_report.DamagedRange] = []
        self._damaged_omitted = 0
        self._torn: list[health_report.FileLocation] = []
        self._oversized: list[health_report.FileLocation] = []

    def add_file(self, kind: str, *, is_stream: bool, is_empty: bool) -> None:
        """Count a file; an empty one has no bytes, or only titles of other sessions."""
        self._files += 1
        self._streams += is_stream
        self._empty_files += is_empty
        count(self._kinds, STREAM if is_stream else kind)

    def add_span(self, span: envelope.Span) -> None:
        """Count the bytes of `span`, and its damage if it has any."""
        self._accounted += span.length
        if span.damage:
            self._salvaged += 1
        if span.damage == CUT_SHORT:
            self._add_damaged(span, CUT_SHORT)

    def add_irregular(self, record: envelope.Record, span: envelope.Span) -> bool:
        """Count `record` and return True if it is not JSON: blank, damaged, torn or oversized."""
        match record:
            case envelope.Blank():
                self._blank += 1
            case envelope.Damaged():
                self._add_damaged(span, record.reason)
            case envelope.Torn():
                self._torn.append(_locate(span))
            case envelope.Oversized():
                self._oversized.append(_locate(span))
            case _:
                return False
        self._accounted += span.length
        return True

    def add_record(self, record: envelope.Record, line: bytes) -> None:
        """Count a transcript record that was decoded from `line`."""
        name = drift.name_record(record)
        self._add(name, record, line)
        if isinstance(record, envelope.Chain):
            self._add_time(record.timestamp)
            self._add_version(record.version)
        if _is_unknown(record):
            count(self._unknown_types, name)
        for field in drift.find_misfit_fields(line, type(record)):
            count(self._table(self._misfits, name), _POSITION.sub("[]", field))

    def add_message(self, message: message_decoding.StreamMessage, line: bytes) -> None:
        """Count a stream message that was decoded from `line`."""
        name = drift.name_message(message)
        self._add(name, message, line)
        self._add_time(getattr(message, "timestamp", None))
        if isinstance(message, system_messages.Init):
            self._add_version(message.claude_code_version)
        if isinstance(message, stream_messages.UnknownMessage):
            count(self._unknown_types, name)

    def report(
        self, refused: Iterable[health_report.RefusedFile] = ()
    ) -> health_report.HealthReport:
        """Return everything counted so far, the most frequent first."""
        return health_report.HealthReport(
            files=self._files,
            kinds=_by_count(self._kinds),
            streams=self._streams,
            empty_files=self._empty_files,
            byte_count=self.byte_count,
            accounted_bytes=self._accounted,
            records=self._records,
            salvaged=self._salvaged,
            blank=self._blank,
            oldest=self._times[0] if self._times else None,
            newest=self._times[1] if self._times else None,
            types=_by_count(self._types),
            versions=_by_count(self._versions),
            unknown_types=_by_count(self._unknown_types),
            unknown_fields=_by_total(self._unknown_fields),
            misfits=_by_total(self._misfits),
            damaged=tuple(self._damaged),
            damaged_omitted=self._damaged_omitted,
            torn=tuple(self._torn),
            oversized=tuple(self._oversized),
            refused=tuple(refused),
        )

    def _add(self, name: str, value: Struct, line: bytes) -> None:
        self._records += 1
        count(self._types, name)
        if isinstance(value, envelope.Unknown | stream_messages.UnknownMessage):
            return
        found = drift.find_drift(line, type(value))
        for kind in found.kinds:
            count(self._unknown_types, kind)
        for field in found.fields:
            count(self._table(self._unknown_fields, name), field)

    def _table(self, tables: dict[str, health_report.Counts], name: str) -> health_report.Counts:
        return tables.setdefault(_limit_name(tables, name), {})

    def _add_time(self, time: str | None) -> None:
        if time is not None and drift.is_time(time):
            oldest, newest = self._times or (time, time)
            self._times = min(oldest, time), max(newest, time)

    def _add_version(self, version: str | None) -> None:
        if version is not None:
            count(self._versions, drift.safe_version(version))

    def _add_damaged(self, span: envelope.Span, reason: str) -> None:
        if len(self._damaged) < MAX_DAMAGED:
            self._damaged.append(
                health_report.DamagedRange(
                    file=span.file, offset=span.offset, length=span.length, reason=reason
                )
            )
        else:
            self._damaged_omitted += 1


def count(table: health_report.Counts, name: str) -> None:
    """Count `name` in `table`, or `OTHER_NAMES` if the table is full."""
    name = _limit_name(table, name)
    table[name] = table.get(name, 0) + 1


def _limit_name(table: Mapping[str, object], name: str) -> str:
    return name if name in table or len(table) < MAX_NAMES else OTHER_NAMES


def _is_unknown(record: envelope.Record) -> bool:
    if isinstance(record, System):
        return record.subtype is not None and record.subtype not in SYSTEM_SUBTYPES
    return isinstance(record, envelope.Unknown) and not isinstance(record, envelope.StreamLine)


def _locate(span: envelope.Span) -> health_report.FileLocation:
    return health_report.FileLocation(file=span.file, offset=span.offset, length=span.length)


def _by_count(table: health_report.Counts) -> health_report.Counts:
    return dict(sorted(table.items(), key=lambda item: (-item[1], item[0])))


def _by_total(tables: Mapping[str, health_report.Counts]) -> dict[str, health_report.Counts]:
    totals = sorted(tables.items(), key=lambda item: (-sum(item[1].values()), item[0]))
    return {name: _by_count(table) for name, table in totals}


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
        return safe_line(mask_path("/".join(parts).replace("//", "/")))


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
