"""The outline of a session: its records about files, without contents, small enough for the index.

An outline refers to the lines of transcripts that have the contents; expanding it for one file
reads only those lines. It is valid as long as the transcripts are unchanged, which the caller
checks.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import ExitStack
from functools import cache
from operator import itemgetter
from typing import Final

import msgspec

from recollect.errors import UnreadableInput
from recollect.reader.line_blocks import masked_by
from recollect.reader.transcript_reader import decode_bytes
from recollect.records.decoding import decode_record
from recollect.records.envelope import Chain, Span
from recollect.session.times import merge_by_time
from recollect.session.tool_calls import ToolCall, build_tool_calls
from recollect.sources.safe_files import open_file
from recollect.sources.source import SourceFile
from recollect.versions import evidence, recorded_evidence

_LEVEL: Final = 6
FindStream = Callable[[str], str | None]
"""Returns the file for a recorded path; None if it was not requested."""


class OutdatedOutline(Exception):
    """Raised if a line does not have the content that the outline expects."""


class OutlinedOrigin(msgspec.Struct, frozen=True, array_like=True):
    """An origin, with its texts as positions in a list."""

    time: str | None
    uuid: str | None
    turn: int | None
    prompt: int
    agent: int
    call_id: str | None = None
    tool: int = 0
    model: int = 0


class CallEntry(msgspec.Struct, frozen=True, array_like=True, tag=0):
    """A call about a file, and the position of its lines."""

    path: int
    origin: OutlinedOrigin
    file: int
    spans: tuple[int, ...]
    """Offset and length of each line, in turn."""


class BackupEntry(msgspec.Struct, frozen=True, array_like=True, tag=1):
    """A backup of a file; without a name, the file did not exist."""

    path: int
    origin: OutlinedOrigin
    kind: evidence.SightingKind
    name: str | None
    time: str | None = None


class CauseEntry(msgspec.Struct, frozen=True, array_like=True, tag=2):
    """A possible change of the file at `path`, or of any file."""

    kind: evidence.CauseKind
    time: str | None
    uuid: str | None
    turn: int | None
    path: int = 0


class RenameEntry(msgspec.Struct, frozen=True, array_like=True, tag=3):
    """A command that moved a file."""

    path: int
    old_path: int
    origin: OutlinedOrigin


Entry = CallEntry | BackupEntry | CauseEntry | RenameEntry


class OutlinePart(msgspec.Struct, frozen=True, array_like=True):
    """The entries about one path, or about any file if it is empty; decoded on demand."""

    path: int
    entries: msgspec.Raw
    """Entries in their order, each with its number in the session."""


class Outline(msgspec.Struct, frozen=True, array_like=True):
    """The records of a session about files, in chronological order."""

    session_id: str
    cwds: tuple[str, ...]
    """All working directories of the session, normalized."""
    worktrees: tuple[tuple[str, str], ...]
    """The worktrees that the session created, each with its main directory."""
    files: tuple[bytes, ...]
    """The transcripts."""
    texts: tuple[str, ...]
    """Paths, prompts and names without repetitions; the first is empty."""
    parts: tuple[OutlinePart, ...]
    commits: tuple[evidence.CommitMention, ...] = ()

    def list_paths(self) -> set[str]:
        """Return the paths of its files."""
        return {self.texts[each.path] for each in self.parts if each.path}

    def list_names(self) -> set[str]:
        """Return the names by which to find its files: see `name_file`.

        A file at the top of a project is also found by its name alone, because the project may
        move.
        """
        paths = self.list_paths()
        tops = {path for path in paths if path.rpartition("/")[0] in self.cwds}
        return {name_file(path) for path in paths} | {path.rpartition("/")[2] for path in tops}


def name_file(path: str) -> str:
    """Return the name of a file with its parent directory, from a normalized path."""
    return "/".join(path.rsplit("/", 2)[-2:])


_DECODER: Final = msgspec.msgpack.Decoder(Outline)
_ENTRIES: Final = msgspec.msgpack.Decoder(list[tuple[int, Entry]])


def encode_outline(outline: Outline) -> bytes:
    """Encode an outline for the index."""
    return zlib.compress(msgspec.msgpack.encode(outline), _LEVEL)


def decode_outline(data: bytes) -> Outline | None:
    """Decode an outline; None if this version cannot read it."""
    try:
        return _DECODER.decode(zlib.decompress(data))
    except (msgspec.MsgspecError, zlib.error):
        return None


def expand_outline(
    outline: Outline, find_stream: FindStream, backups: recorded_evidence.Backups
) -> list[evidence.Evidence]:
    """Return the evidence about the requested files, reading only the lines about them.

    Raises `OutdatedOutline` if a line has changed or cannot be read.
    """
    with ExitStack() as stack:
        expansion = _Expansion(outline, find_stream, backups, stack)
        try:
            numbered = [each for part in outline.parts for each in expansion.decode(part)]
        except msgspec.MsgspecError as error:
            raise OutdatedOutline from error
        numbered.sort(key=itemgetter(0))
        found = [each for _, entry in numbered for each in expansion.expand(entry)]
        return _add_unrecorded(outline, found, expansion.named, backups)


def _add_unrecorded(
    outline: Outline,
    found: list[evidence.Evidence],
    named: dict[str, str],
    backups: recorded_evidence.Backups,
) -> list[evidence.Evidence]:
    """Add unrecorded backups, which were made when the session ended, after its last prompt."""
    unrecorded = (
        list(recorded_evidence.read_unrecorded(outline.session_id, named, backups)) if named else []
    )
    if not unrecorded:
        return found
    last = (found[-1].origin.time if found else None) or ""
    times = {id(each): max(each.origin.time or "", last) for each in unrecorded}
    return merge_by_time((found, unrecorded), lambda each: times.get(id(each), each.origin.time))


class _Expansion:
    """Expands an outline for some files."""

    def __init__(
        self,
        outline: Outline,
        find_stream: FindStream,
        backups: recorded_evidence.Backups,
        stack: ExitStack,
    ) -> None:
        self._outline = outline
        self._find_stream = cache(find_stream)
        self._backups = backups
        self._stack = stack
        self._open: dict[int, SourceFile] = {}
        self.named: dict[str, str] = {}
        """The recorded backups, with their files."""

    def decode(self, part: OutlinePart) -> list[tuple[int, Entry]]:
        """Return the numbered entries of a part; none if its file was not requested."""
        path = self._outline.texts[part.path]
        is_wanted = not path or self._find_stream(path) is not None
        return _ENTRIES.decode(part.entries) if is_wanted else []

    def expand(self, entry: Entry) -> Iterator[evidence.Evidence]:
        path = self._find_stream(self._outline.texts[entry.path]) if entry.path else None
        if isinstance(entry, CauseEntry):
            if path is not None or not entry.path:
                yield self._make_cause(entry, path)
        elif path is None:
            return
        elif isinstance(entry, RenameEntry):
            old = self._outline.texts[entry.old_path]
            yield evidence.Rename(path=path, old_path=old, origin=self._make_origin(entry.origin))
        elif isinstance(entry, CallEntry):
            found = recorded_evidence.read_file_call(
                self._find_call(entry), path, self._make_origin(entry.origin)
            )
            yield from [found] if found else []
        else:
            yield from self._expand_backup(entry, path)

    def _make_cause(self, entry: CauseEntry, path: str | None) -> evidence.Cause:
        origin = evidence.Origin(
            session_id=self._outline.session_id, turn=entry.turn, uuid=entry.uuid, time=entry.time
        )
        return evidence.Cause(kind=entry.kind, origin=origin, path=path)

    def _make_origin(self, entry: OutlinedOrigin) -> evidence.Origin:
        texts = self._outline.texts
        return evidence.Origin(
            session_id=self._outline.session_id,
            agent_id=texts[entry.agent] or None,
            turn=entry.turn,
            prompt=texts[entry.prompt],
            uuid=entry.uuid,
            call_id=entry.call_id,
            tool=texts[entry.tool] or None,
            model=texts[entry.model] or None,
            time=entry.time,
        )

    def _expand_backup(self, entry: BackupEntry, path: str) -> Iterator[evidence.Sighting]:
        origin = self._make_origin(entry.origin)
        if entry.name is None:
            yield evidence.Sighting(path=path, origin=origin, kind=entry.kind, text=None)
            return
        self.named[entry.name] = path
        reference = evidence.BackupReference(
            path=path, origin=origin, kind=entry.kind, name=entry.name, time=entry.time
        )
        found = recorded_evidence.read_backup(reference, self._backups)
        yield from [found] if found else []

    def _find_call(self, entry: CallEntry) -> ToolCall:
        """Return the call of an entry, built from its own lines."""
        pairs = zip(entry.spans[::2], entry.spans[1::2], strict=True)
        links = [link for offset, length in pairs for link in self._read(entry, offset, length)]
        calls, _ = build_tool_calls(links)
        for call in calls:
            if call.id == entry.origin.call_id and call.call_uuid == entry.origin.uuid:
                return call
        raise OutdatedOutline

    def _read(self, entry: CallEntry, offset: int, length: int) -> Iterable[Chain]:
        file = self._open.get(entry.file)
        name = os.fsdecode(self._outline.files[entry.file])
        try:
            if file is None:
                file = self._open[entry.file] = self._stack.enter_context(open_file(name))
            file.seek(offset)
            data = file.read(length)
        except (OSError, UnreadableInput) as error:
            raise OutdatedOutline from error
        record = decode_record(data.removesuffix(b"\n"), Span(name, offset, length))
        if record is not None:
            return [record] if isinstance(record, Chain) else []
        # Contents are compared and restored unmasked.
        with masked_by(None):
            records = decode_bytes(name, offset, data)
        return [record for record in records if isinstance(record, Chain)]


def iter_changes(outline: Outline, tools: Container[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield each path that calls of `tools` are about, with the times of the calls."""
    for part in outline.parts:
        entries = _ENTRIES.decode(part.entries) if part.path else []
        times = [
            entry.origin.time or ""
            for _, entry in entries
            if isinstance(entry, CallEntry) and outline.texts[entry.origin.tool] in tools
        ]
        if times:
            yield outline.texts[part.path], times
