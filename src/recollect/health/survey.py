"""Survey files: list what to read, read each file once and count what is in it.

Files are read by the same reader as everywhere else, so that a report shows what Recollect sees.
The bytes of each record are read again by its span, from a second handle: they are in the page
cache, and the reader need not support it. Names in a report are relative to what was surveyed, with
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
from recollect.health.tally import Tally
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
from recollect.redact import mask_path
from recollect.render.terminal import safe_text
from recollect.sources.safe_files import open_file
from recollect.sources.source import SourceFile


class SurveyedFile(Struct, frozen=True):
    """A file to read, its name in the report, and its kind."""

    path: Path
    name: str
    kind: str


class Inventory(Struct, frozen=True):
    """The files to read, and those that are not read."""

    sources: tuple[SurveyedFile, ...]
    refused: tuple[RefusedFile, ...]


class Naming(Struct, frozen=True):
    """Names files in a report relative to `base`, after `prefix` if several were surveyed."""

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


def take_inventory(paths: Sequence[Path], environment: Mapping[str, str] = os.environ) -> Inventory:
    """List the files to read below `paths`: roots, other directories or single files.

    Raises `NothingFound` or `UnreadableInput` for a path that does not exist or cannot be read.
    """
    home = find_home(environment)
    sources: dict[Path, SurveyedFile] = {}
    refused: list[RefusedFile] = []
    for path in paths:
        naming = make_naming(path, home, is_one_of_many=len(paths) > 1)
        discovery = discover(path)
        for source in _iter_sources(discovery, naming):
            sources.setdefault(source.path, source)
        refused += _describe_refused(discovery, naming)
    return Inventory(tuple(sources.values()), tuple(refused))


def make_naming(path: Path, home: Path | None, *, is_one_of_many: bool) -> Naming:
    """Return the naming of files below `path`."""
    base = path.absolute()
    return Naming(base, shorten_home(base, home) if is_one_of_many else "", home)


def _hide_home(part: str, home: Path | None) -> str:
    encoded = "" if home is None else encode_project_path(str(home))
    # A home of "/" encodes to one dash, with which every project name starts.
    if len(encoded) > 1 and (part == encoded or part.startswith(f"{encoded}-")):
        return HOME_SYMBOL + part.removeprefix(encoded)
    return part


def _iter_sources(discovery: Discovery, naming: Naming) -> Iterator[SurveyedFile]:
    for transcript in discovery.transcripts:
        yield SurveyedFile(transcript.path, naming.name(transcript.path), transcript.kind.value)
    for journal in _iter_journals(discovery.transcripts):
        yield SurveyedFile(journal, naming.name(journal), SidecarKind.WORKFLOW_JOURNAL.value)


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


def _describe_refused(discovery: Discovery, naming: Naming) -> Iterator[RefusedFile]:
    for refused in discovery.refused:
        yield RefusedFile(
            file=naming.name(refused.path),
            reason=refused.reason.value,
            failed=refused.reason is Refusal.UNREADABLE,
        )


_OPENING_LINE = re.compile(rb"\s*[\[{]\s*\n")
_HEAD = 64


def survey(sources: Iterable[SurveyedFile], refused: Iterable[RefusedFile] = ()) -> HealthReport:
    """Read and count the files of `sources`; unreadable ones are reported with `refused`."""
    tally = Tally()
    failed = [found for found in (_read(source, tally) for source in sources) if found]
    return tally.report((*refused, *failed))


def _read(source: SurveyedFile, tally: Tally) -> RefusedFile | None:
    try:
        with open_file(source.path) as file, open_file(source.path) as again:
            file_survey = _FileSurvey(source, tally, again)
            if not file_survey.add_pretty_printed():
                _read_lines(file, file_survey, tally)
            file_survey.close()
    except (UnreadableInput, OSError) as error:
        return RefusedFile(file=source.name, reason=_explain(error), failed=True)
    return None


def _read_lines(file: SourceFile, file_survey: "_FileSurvey", tally: Tally) -> None:
    decoder = TranscriptDecoder(file_survey.name)
    for chunk in iter_pieces(file):
        tally.byte_count += len(chunk)
        for record in decoder.feed(chunk):
            file_survey.add(record)
    for record in decoder.finish():
        file_survey.add(record)


class _FileSurvey:
    """Counts one file, and detects what kind of file it is."""

    def __init__(self, source: SurveyedFile, tally: Tally, file: SourceFile) -> None:
        self.name = source.name
        self._kind = source.kind
        self._tally = tally
        self._file = file
        self._is_empty = True
        self._is_stream: bool | None = None

    def add(self, record: envelope.Record) -> None:
        """Count one record."""
        # The decoder sets the span of every record.
        span = cast(envelope.Span, record.span)
        self._is_empty = self._is_empty and isinstance(record, envelope.Blank | state.Summary)
        if self._tally.add_irregular(record, span):
            return
        self._tally.add_span(span)
        text = self._read_text(span)
        if self._is_stream is None:
            self._is_stream = looks_like_stream(text)
        if not (self._is_stream and self._add_messages(text)):
            self._tally.add_record(record, text)

    def add_pretty_printed(self) -> bool:
        """Count a file that is one pretty-printed JSON value; return False if it is not."""
        if not _OPENING_LINE.match(self._file.read(_HEAD)):
            return False
        self._file.seek(0)
        data = self._file.read(MAX_LINE + 1)
        if len(data) > MAX_LINE or not looks_like_stream(data) or not self._add_messages(data):
            return False
        self._is_stream, self._is_empty = True, False
        self._tally.byte_count += len(data)
        self._tally.add_span(envelope.Span(self.name, 0, len(data)))
        return True

    def close(self) -> None:
        """Count the file itself."""
        self._tally.add_file(self._kind, is_stream=bool(self._is_stream), is_empty=self._is_empty)

    def _add_messages(self, text: bytes) -> bool:
        """Count the message or the array of messages in `text`; return whether there were any."""
        pieces = _split_array(text) or (text,)
        messages = [(message, piece) for piece in pieces if (message := decode_message(piece))]
        for message, piece in messages:
            self._tally.add_message(message, piece)
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
