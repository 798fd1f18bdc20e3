"""Read the head and tail of a transcript: its working directory, its listing, titles of other
sessions in it, and whether it is a session at all.

Decides how much to read; `recollect.session` interprets the records. The first read is 64 KB, as in
the client's own lister, and half of that at the end. Unlike there, more is read if a line is
longer, and the rest of the file is searched for the few lines that name the session, so a listing
has the same title as the opened session although the file is not decoded.

Clients 1.0.x wrote `summary` records for other sessions, by the uuid of a record, at the start of
the file that they had just opened. Leftovers of a resume, which are empty or have only such
summaries, are not sessions.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple

from recollect.documents.kinds import InputKind
from recollect.errors import UnreadableInput
from recollect.library.processes import read_head
from recollect.locations import Transcript, TranscriptKind
from recollect.locations.discovery import list_project
from recollect.reader import marked_lines
from recollect.reader.line_blocks import NOWHERE, mask_line
from recollect.reader.transcript_reader import decode_bytes
from recollect.records import attachments, conversation_records, decoding, envelope, state
from recollect.session import metadata, prompts, session_records
from recollect.session.messages import Message, build_messages
from recollect.sources import safe_files, source

_STEP: Final = 16 * 1024
_MAX_COUNT: Final = 4 * 1024 * 1024


def find_cwd(path: Path | str) -> str | None:
    """Return the first working directory in the transcript at `path`."""
    return _find(path, lambda link: link.cwd)


def find_slug(path: Path | str) -> str | None:
    """Return the first slug in the transcript at `path`, which names the session's plan."""
    return _find(path, lambda link: link.slug)


def find_session_id(path: Path | str) -> str | None:
    """Return the first session id in the transcript at `path`; a subagent has its parent's."""
    return _find(path, lambda link: link.session_id)


def find_first_uuid(path: Path | str) -> str | None:
    """Return the uuid of the first record of the conversation in the transcript at `path`."""
    return _find(path, lambda link: link.uuid)


def list_marked(path: str, mark: bytes) -> list[envelope.Record]:
    """Return the records on the lines with a mark; none if the file cannot be read."""
    try:
        with safe_files.open_file(path) as file:
            whole = _Middle(file, path, 0, file.find_status().st_size)
            return list(whole.iter_records([mark]))
    except UnreadableInput:
        # Reading the whole file reports the error.
        return []


def _find(path: Path | str, pick: Callable[[envelope.Chain], str | None]) -> str | None:
    try:
        links = (record for record in _iter_head(path) if isinstance(record, envelope.Chain))
        return next(filter(None, map(pick, links)), None)
    except UnreadableInput:
        # Reading the whole file reports the error.
        return None


def _iter_head(path: Path | str) -> Iterator[envelope.Record]:
    name, position, rest, wanted = str(path), 0, b"", _STEP
    with safe_files.open_file(name) as file:
        while wanted < _MAX_COUNT:
            chunk = file.read(wanted)
            rest += chunk
            # At the end of the file, a line without a line end is complete.
            whole = rest[: rest.rfind(b"\n") + 1] if chunk else rest
            yield from decode_bytes(name, position, whole)
            if not chunk:
                return
            position, rest, wanted = position + len(whole), rest[len(whole) :], wanted * 2


FIRST_READ: Final = safe_files.END_BYTES
"""Number of bytes of the head to read at first."""

TAIL_READ: Final = 32 * 1024
"""Number of bytes of the tail to read at first: enough for the last record with a directory."""

MAX_READ_BYTES: Final = 4 * 1024 * 1024
"""Maximum number of bytes of the head or tail to decode."""

_PROMPT_MARKS: Final = (b'"user"', b'"queued_command"')
"""Marks in the lines of prompts; inside a string, these quotes would be escaped."""


class NamingLines(NamedTuple):
    """Offset and length of all lines with a mark in a file of this size, as the quick pass found.

    With them, the file does not have to be searched.
    """

    size: int
    spans: Sequence[tuple[int, int]]


class HeadAndTail(NamedTuple):
    """Records of both ends in one log, those between that name the session, and the first prompt.

    `is_whole` is set if there is nothing between the ends, so that everything was read.
    """

    log: session_records.Log
    first_prompt: Message | None
    is_whole: bool

    @property
    def is_subagent(self) -> bool:
        """Whether this is a subagent's own transcript."""
        return bool(self.log.starts_in_sidechain)

    @property
    def is_foreign(self) -> bool:
        """Whether nothing in the file was written by a client, as far as it was read."""
        log = self.log
        if log.chain or log.sidechain or log.states:
            return False
        # Between the ends of a large file that is damaged there may be records all the same.
        kinds = (
            (envelope.Damaged, envelope.Torn, envelope.Unknown)
            if self.is_whole
            else (envelope.Unknown,)
        )
        return all(isinstance(each, kinds) and _is_typeless(each) for each in log.irregular)

    @property
    def is_warmup(self) -> bool:
        """Whether the client only warmed up its caches, without a prompt."""
        opening = next(
            (link for link in self.log.chain if isinstance(link, conversation_records.User)), None
        )
        return (
            opening is not None
            and self.is_subagent
            and prompts.read_prompt(opening, is_subagent=True).kind is InputKind.WARMUP
        )


class _Tail(NamedTuple):
    """The records of the end of a file, and where the first of their lines begins."""

    start: int
    records: list[envelope.Record]


def read_head_and_tail(
    path: Path | str, named: Collection[str] = (), lines: NamingLines | None = None
) -> HeadAndTail:
    """Read both ends of the transcript at `path`; raises UnreadableInput if that fails.

    `named` are the uuids that titles in other files name: records between the ends with one of
    them are read too.
    """
    with safe_files.open_file(str(path)) as file:
        size = file.find_status().st_size
        log = session_records.Log()
        position, first_prompt = _read_head(file, str(path), size, log)
        tail = _read_tail(file, str(path), position, log)
        if tail is None:
            file.seek(position)
            log.extend(decode_bytes(str(path), position, file.read()))
            return HeadAndTail(log, first_prompt, is_whole=True)
        if not _is_worded(first_prompt):
            later = _Middle(file, str(path), position, size).find_prompt(log)
            first_prompt = later if _is_worded(later) else first_prompt or later
        middle = _Middle(file, str(path), position, tail.start)
        known = lines if lines is not None and lines.size == size else None
        log.extend(middle.read_names(named, log.states, tail.records, known))
        log.extend(tail.records)
        return HeadAndTail(log, first_prompt, is_whole=False)


def _read_head(
    file: source.SourceFile, name: str, size: int, log: session_records.Log
) -> tuple[int, Message | None]:
    """Read until the first prompt is found; return it, and the offset up to which was read."""
    read, decoded, rest, first = 0, 0, b"", None
    wanted = FIRST_READ if size > 2 * FIRST_READ else size
    while chunk := file.read(wanted):
        read += len(chunk)
        rest += chunk
        whole = rest[: rest.rfind(b"\n") + 1]
        log.extend(decode_bytes(name, decoded, whole))
        decoded, rest = decoded + len(whole), rest[len(whole) :]
        if read < size:
            links = session_records.read_conversation(log).chain
            first = _find_prompt(links, is_subagent=bool(log.starts_in_sidechain))
        if read >= min(size, MAX_READ_BYTES) or _is_worded(first):
            break
        wanted = read
    return decoded, first


def _find_prompt(links: Iterable[envelope.Chain], *, is_subagent: bool) -> Message | None:
    """Return the first prompt of `links`, by the rule for all messages, but read one by one."""
    aside = None
    for link in links:
        if not isinstance(link, conversation_records.Assistant):
            message = build_messages((link,), (), is_subagent=is_subagent)
            found = metadata.find_first_prompt(message, is_subagent=is_subagent)
            if _is_worded(found):
                return found
            aside = aside or found
    return aside


def _is_worded(message: Message | None) -> bool:
    """Return whether a message is a request, so that no later one can be the first prompt."""
    return (
        message is not None and message.prompt is not None and metadata.is_request(message.prompt)
    )


def _read_tail(
    file: source.SourceFile, name: str, start: int, log: session_records.Log
) -> _Tail | None:
    """Return the last records, back to one of the conversation; None if they reach `start`."""
    size = file.find_status().st_size
    wanted = TAIL_READ
    while size - wanted > start:
        tail = _decode_from(file, name, size - wanted)
        if wanted >= MAX_READ_BYTES or any(_is_own_link(record, log) for record in tail.records):
            return tail
        wanted *= 2
    return None


def _decode_from(file: source.SourceFile, name: str, position: int) -> _Tail:
    """Return the records whose lines start after `position`."""
    file.seek(position)
    data = file.read()
    skipped = data.find(b"\n") + 1 or len(data)
    return _Tail(position + skipped, decode_bytes(name, position + skipped, data[skipped:]))


def _is_own_link(record: envelope.Record, log: session_records.Log) -> bool:
    return isinstance(record, envelope.Chain) and record.is_sidechain == bool(
        log.starts_in_sidechain
    )


class _Middle(NamedTuple):
    """A part of a file that is searched for a few lines and otherwise not decoded."""

    file: source.SourceFile
    name: str
    start: int
    stop: int

    def read_names(
        self,
        named: Collection[str],
        head: Iterable[envelope.Record],
        tail: Sequence[envelope.Record],
        lines: NamingLines | None,
    ) -> list[envelope.Record]:
        """Return the records that name the session, and those whose uuid any title names."""
        marks = _choose_marks(tail)
        found = self.iter_records(marks) if lines is None else self._read_known(lines, marks)
        states: list[envelope.Record] = [each for each in found if isinstance(each, state.State)]
        summaries = (each for each in chain(head, states, tail) if isinstance(each, state.Summary))
        uuids = {*named, *(each.leaf_uuid for each in summaries if each.leaf_uuid)}
        if not uuids or marked_lines.LEAF not in marks or _has_title(chain(head, states)):
            return states
        links = self.iter_records([uuid.encode(errors="replace") for uuid in uuids])
        return [*states, *(each for each in links if getattr(each, "uuid", None) in uuids)]

    def find_prompt(self, log: session_records.Log) -> Message | None:
        """Return the first prompt in this part, in a session that begins with `log`."""
        is_subagent = log.starts_in_sidechain
        aside = None
        for link in self.iter_records(_PROMPT_MARKS):
            if not isinstance(link, conversation_records.User | attachments.Attachment):
                continue
            if is_subagent is None:
                is_subagent = link.is_sidechain
            if link.is_sidechain == is_subagent:
                found = _find_prompt((link,), is_subagent=is_subagent)
                if _is_worded(found):
                    return found
                aside = aside or found
        return aside

    def iter_records(self, marks: Sequence[bytes]) -> Iterator[envelope.Record]:
        """Yield the records on the lines that contain one of these marks."""
        return self._decode(marked_lines.iter_marked_lines(self.file, marks, self.start, self.stop))

    def _read_known(self, lines: NamingLines, marks: Sequence[bytes]) -> Iterator[envelope.Record]:
        """Yield the same if the lines with any mark are already known."""
        spans = [span for span in lines.spans if self.start <= span[0] < self.stop]
        return self._decode(marked_lines.read_marked_lines(self.file, spans, marks))

    def _decode(self, lines: Iterable[marked_lines.MarkedLine]) -> Iterator[envelope.Record]:
        for line in lines:
            yield from decode_bytes(self.name, line.offset, line.data)


def _choose_marks(tail: Iterable[envelope.Record]) -> list[bytes]:
    """Return the marks of lines to search for, unless a record in the tail takes precedence.

    A title by the user takes precedence over all others, and one by a model over the rest.
    """
    known = {type(record): _read_name(record) for record in tail}
    marks = [] if known.get(state.Tag) else [marked_lines.TAG]
    if known.get(state.CustomTitle):
        return marks
    marks.append(marked_lines.TITLE)
    if known.get(state.AiTitle):
        return marks
    marks.append(marked_lines.LEAF)
    return marks if known.get(state.LastPrompt) else [*marks, marked_lines.LAST_PROMPT]


def _has_title(records: Iterable[envelope.Record]) -> bool:
    """Return whether records have a title that takes precedence over a summary."""
    known = {type(record): _read_name(record) for record in records}
    return bool(known.get(state.CustomTitle) or known.get(state.AiTitle))


def _read_name(record: envelope.Record) -> str | None:
    match record:
        case state.CustomTitle():
            return record.custom_title
        case state.AiTitle():
            return record.ai_title
        case state.LastPrompt():
            return record.last_prompt
        case state.Tag():
            return record.tag
    return None


def _is_typeless(record: envelope.Record) -> bool:
    """Return whether a line has no type, which every record of any client has."""
    return not isinstance(record, envelope.Unknown) or record.record_type is None


HEAD: Final = 64 * 1024
"""Number of bytes of each file to search: room for some two hundred titles."""


def collect_summaries(directory: Path) -> dict[str, dict[str, str]]:
    """Return the titles in a project's files by the uuid that they name, the newest file last."""
    listed = list_project(directory)
    sessions = [each for each in listed if each.kind is TranscriptKind.SESSION]
    found = {
        transcript.file: _read_summaries(transcript)
        for transcript in sorted(sessions, key=lambda session: session.mtime_ns)
    }
    return {file: titles for file, titles in found.items() if titles}


def _read_summaries(transcript: Transcript) -> dict[str, str]:
    head = read_head(transcript.file, HEAD) or b""
    if not marked_lines.contains_mark(head, b'"leafUuid"') or not marked_lines.contains_mark(
        head, b'"summary"'
    ):
        return {}
    lines = [line for line in head.split(b"\n") if b'"leafUuid"' in line]
    records = [decoding.decode_record(mask_line(transcript.file, NOWHERE, line)) for line in lines]
    return {
        record.leaf_uuid: record.summary
        for record in records
        if isinstance(record, state.Summary) and record.leaf_uuid and record.summary
    }


STRAY_LIMIT: Final = 64 * 1024
"""Leftovers of a resume have some hundred bytes, and every transcript of a list is checked."""


def is_stray(transcript: Transcript) -> bool:
    """Return whether a transcript is not a session: 0 bytes, or nothing but `summary` records.

    Raises UnreadableInput if the file has to be read and cannot be.
    """
    if not transcript.size or transcript.size > STRAY_LIMIT:
        return not transcript.size
    with safe_files.open_file(transcript.file) as file:
        head = file.read(STRAY_LIMIT + 1)
    lines = [line for line in head.split(b"\n") if line.strip()]
    return len(head) <= STRAY_LIMIT and all(map(_is_summary, lines))


def _is_summary(line: bytes) -> bool:
    if b'"summary"' not in line:
        return False
    import json  # for few files

    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        # Damaged: there is something in the file that the reader has to account for.
        return False
    return isinstance(record, dict) and record.get("type") == "summary"
