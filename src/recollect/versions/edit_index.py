"""Find the sessions that changed or read a file in the index, with their records about it.

A session is read if its outline is missing or one of its transcripts has changed; otherwise, only
the lines about the requested file are read. The text pass cannot make outlines, because it reads
one file at a time, and the changes of a subagent belong to a turn of its parent session.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
from msgspec import Struct

from recollect.digests import blake2b
from recollect.errors import UnreadableInput
from recollect.locations import Transcript, TranscriptKind
from recollect.locations.claude_directories import encode_id
from recollect.reader.line_blocks import masked_by
from recollect.reader.marked_lines import iter_marked_lines
from recollect.sources.safe_files import open_file
from recollect.sources.source import make_stamp
from recollect.store import StoredOutline
from recollect.sync import FreshOutlines, OnFileRead, find_outlines, read_outlines
from recollect.versions.file_paths import last_component
from recollect.versions.session_outline import Outline, decode_outline, encode_outline

_MAX_MARK: Final = 100
"""Maximum length of a name in bytes, because names are searched in overlapping windows."""


class SessionFiles(NamedTuple):
    """The transcripts of a session and its subagents, or one subagent's if the session is lost."""

    transcript: Transcript
    others: tuple[Transcript, ...] = ()

    @property
    def size(self) -> int:
        """Return the size of all transcripts in bytes."""
        return self.transcript.size + sum(each.size for each in self.others)

    def sign(self, *, is_read: bool = False) -> bytes:
        """Return a hash of the listed states of all transcripts.

        With `is_read`, for transcripts that are about to be read, it is unique as long as one of
        them may change without a visible difference.
        """
        files = sorted((self.transcript, *self.others), key=lambda each: each.file)
        states = [(each.file, make_stamp(each.stamp) if is_read else each.stamp) for each in files]
        return blake2b(repr(states).encode(), digest_size=12).digest()


class FoundOutline(NamedTuple):
    """A session and its outline."""

    transcript: Transcript
    outline: Outline


class EditIndex:
    """The sessions of some transcripts, by the files that they changed or read."""

    def __init__(
        self,
        transcripts: Iterable[Transcript],
        directory: Path | None = None,
        on_read: OnFileRead | None = None,
        budget: int | None = None,
    ) -> None:
        """Use the index in `directory`, and read at most `budget` bytes of other sessions."""
        self._transcripts = transcripts
        self._budget = budget
        self._directory = directory
        self._on_read = on_read
        self._unreadable: dict[str, str] = {}

    def find(self, names: Iterable[str] | None) -> list[FoundOutline]:
        """Return the sessions about files with these names, or all sessions.

        Names are those of `name_file`, or have no directory for files at the top of a project.
        """
        wanted = None if names is None else {name.casefold() for name in names}
        found = {
            each.path: each
            for each in self._fresh
            if wanted is None or any(name.casefold() in wanted for name in each.names)
        }
        if self._directory is not None:
            fresh = {each.path for each in self._fresh}
            known = [path for path in self._sessions if path not in fresh]
            stored = find_outlines(self._directory, known, sorted(wanted) if wanted else None)
            found |= {each.path: each for each in stored}
        outlines = [
            (self._sessions[path].transcript, decode_outline(found[path].outline))
            for path in self._sessions
            if path in found
        ]
        return [FoundOutline(each, outline) for each, outline in outlines if outline is not None]

    def list_unreadable(self, paths: Iterable[str]) -> list[str]:
        """Return the errors of unreadable sessions that contain the names of these paths."""
        marks = [last_component(path).encode("utf-8", "replace")[:_MAX_MARK] for path in paths]
        failed = [(self._sessions[path].transcript, why) for path, why in self._unreadable.items()]
        return [why for transcript, why in failed if _contains(transcript, marks)]

    @cached_property
    def _sessions(self) -> dict[str, SessionFiles]:
        return {each.transcript.file: each for each in group_sessions(self._transcripts)}

    def update(self) -> None:
        """Read sessions that are missing in the index."""
        _ = self._read_fresh

    @property
    def unread(self) -> int:
        """Return the number of sessions that are neither in the index nor within the budget."""
        return self._read_fresh.unread

    @property
    def _fresh(self) -> list[StoredOutline]:
        """Return the outlines that were not in the index."""
        return self._read_fresh.read

    @cached_property
    def _read_fresh(self) -> FreshOutlines:
        if self._directory is None:
            found = [self._read(path) for path in self._sessions]
            return FreshOutlines([each for each in found if each is not None], 0)
        newest = sorted(
            self._sessions.items(), key=lambda pair: pair[1].transcript.mtime_ns, reverse=True
        )
        return read_outlines(
            self._directory,
            {path: each.sign() for path, each in newest},
            {path: each.size for path, each in newest},
            self._read,
            self._on_read,
            self._budget,
        )

    def _read(self, path: str) -> StoredOutline | None:
        files = self._sessions[path]
        signature = files.sign(is_read=True)
        # The session model is not loaded when nothing has changed.
        from recollect.library.opening import IncrementalSession
        from recollect.versions.commit_links import make_outline

        try:
            # The files of the session are known, and finding them again takes longer than reading
            # them.
            with masked_by(None):
                session = IncrementalSession().catch_up(files.transcript, files.others)
        except UnreadableInput as error:
            self._unreadable[path] = str(error)
            return None
        outline = make_outline(session)
        names = tuple(sorted(outline.list_names()))
        return StoredOutline(path, signature, encode_outline(outline), names)


def _contains(transcript: Transcript, marks: Sequence[bytes]) -> bool:
    try:
        with open_file(transcript.file) as file:
            return any(True for _ in iter_marked_lines(file, marks, 0, transcript.size))
    except (UnreadableInput, OSError):
        return False


def group_sessions(transcripts: Iterable[Transcript]) -> Iterator[SessionFiles]:
    """Yield the sessions among the transcripts, each with the files that it is made from.

    They are sorted by file, so that results do not depend on the order of listing.
    """
    listed = (each for each in transcripts if not each.is_empty)
    every = sorted(listed, key=lambda each: each.file)
    sessions = {
        (each.project_dir, each.session_id): each
        for each in every
        if each.kind is TranscriptKind.SESSION and each.session_id
    }
    others: dict[str, list[Transcript]] = {}
    for each in every:
        owner = each
        if each.kind is not TranscriptKind.SESSION:
            # The session of an early client's subagent is named only inside its file.
            session_id = each.session_id or _find_session_id(each)
            owner = sessions.get((each.project_dir, session_id), each)
        others.setdefault(owner.file, []).extend([each] if owner is not each else [])
    by_file = {each.file: each for each in every}
    for file, found in others.items():
        yield SessionFiles(by_file[file], tuple(found))


class _FirstLine(Struct, frozen=True, rename="camel"):
    type: str = ""
    session_id: str | None = None


_FIRST_LINE: Final = msgspec.json.Decoder(_FirstLine)
_HEAD_BYTES: Final = 16 * 1024


def _find_session_id(transcript: Transcript) -> str:
    return encode_id(_read_first_id(transcript) or _search_id(transcript) or "")


def _read_first_id(transcript: Transcript) -> str | None:
    """Return the session id in the first line, which is nearly always a prompt."""
    try:
        with open_file(transcript.file) as file:
            line, end, _ = file.read(_HEAD_BYTES).partition(b"\n")
        first = _FIRST_LINE.decode(line) if end else _FirstLine()
    except (OSError, UnreadableInput, msgspec.MsgspecError):
        return None
    return first.session_id if first.type in ("user", "assistant") else None


def _search_id(transcript: Transcript) -> str | None:
    from recollect.library.transcript_ends import find_session_id  # hardly ever needed

    # Nothing of it is shown, and scanning for secrets takes longer than reading the line.
    with masked_by(None):
        return find_session_id(transcript.path)
