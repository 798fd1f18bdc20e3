"""A session that stays open while its files grow.

Knows how to go on where reading stopped, for the session's own file and for those of its
subagents, and when that is not enough: a file that was cut, replaced or rewritten, or that ended
within a line, is read anew. Who asks, how often and for how many sessions is for others to say.
"""

import os
from collections.abc import Iterable, Sequence
from io import FileIO
from typing import Final

from recollect.errors import UnreadableInput
from recollect.library.family import make_child
from recollect.library.origins import modified_of
from recollect.locations import Transcript, TranscriptKind, open_regular
from recollect.locations.transcript_files import name_of
from recollect.reader import TranscriptDecoder
from recollect.reader.chunks import iter_chunks
from recollect.records.envelope import Record
from recollect.session.metadata import Origins
from recollect.session.session import Session, attach_subagents

TAIL: Final = 4096
"""Bytes before the known end that must still be there for a file to have grown only."""


class GrowingSession:
    """A session, as far as its files have been read."""

    def __init__(self) -> None:
        self._main = _Reading()
        self._others: dict[str, _Reading] = {}

    @property
    def bytes(self) -> int:
        """The size of what has been read."""
        return self._main.position + sum(each.position for each in self._others.values())

    def catch_up(self, transcript: Transcript, relatives: Sequence[Transcript]) -> Session:
        """The session in `transcript`, with what its files hold now.

        `relatives` are the transcripts of its subagents; for a subagent, of all others of its
        session. Raises UnreadableInput when the transcript itself cannot be read.
        """
        is_new = self._main.catch_up(transcript)
        if self._catch_up_others(relatives) or is_new:
            self._join(transcript, relatives)
        return self._main.session

    def _catch_up_others(self, relatives: Iterable[Transcript]) -> bool:
        known, self._others = self._others, {}
        is_new = False
        for each in relatives:
            reading = known.get(each.file) or _Reading()
            try:
                is_new |= reading.catch_up(each)
            except UnreadableInput:
                # A subagent whose file cannot be read is there, but says nothing.
                is_new |= reading.position > 0
                reading = _Reading()
            self._others[each.file] = reading
        return is_new or known.keys() != self._others.keys()

    def _join(self, transcript: Transcript, relatives: Iterable[Transcript]) -> None:
        session = self._main.session
        children = [make_child(each, self._others[each.file].session) for each in relatives]
        if transcript.kind is TranscriptKind.SESSION:
            attach_subagents(session, children)
            return
        # Subagents lie beside each other: those that this one did not start go to a stand-in.
        stand_in = Session((), Origins(id=transcript.session_id or ""))
        attach_subagents(stand_in, [make_child(transcript, session), *children])


class _Reading:
    """One transcript, as far as it has been read."""

    def __init__(self) -> None:
        self.session = Session()
        self.position = 0
        self._state: tuple[int, int, int] | None = None
        self._tail = b""
        self._ends_in_line = False

    def catch_up(self, transcript: Transcript) -> bool:
        """Read what is new; tell whether anything may be."""
        if transcript.state == self._state:
            return False
        with open_regular(transcript.path) as file:
            if not self._goes_on(file, transcript):
                self.session = Session((), _describe(transcript))
                self.position = 0
            self._read(file, transcript.file)
        self._state = transcript.state
        return True

    def _goes_on(self, file: FileIO, transcript: Transcript) -> bool:
        """Whether the file still begins with what was read of it."""
        if self._state is None or self._ends_in_line or self._state[0] != transcript.inode:
            return False
        if os.fstat(file.fileno()).st_size < self.position:
            return False
        file.seek(self.position - len(self._tail))
        return file.read(len(self._tail)) == self._tail

    def _read(self, file: FileIO, name: str) -> None:
        file.seek(self.position)
        decoder = TranscriptDecoder(name, self.position)
        records: list[Record] = []
        for chunk in iter_chunks(file):
            records += decoder.feed(chunk)
        records += decoder.finish()
        self.session.extend(records)
        self.position = decoder.offset
        start = max(self.position - TAIL, 0)
        file.seek(start)
        self._tail = file.read(self.position - start)
        self._ends_in_line = not self._tail.endswith(b"\n")


def _describe(transcript: Transcript) -> Origins:
    """The file alone: titles in other files are what a list has looked up already."""
    return Origins(
        id=name_of(transcript),
        project=transcript.project_dir.name,
        path=transcript.file,
        size=transcript.size,
        modified=modified_of(transcript),
        agent_id=transcript.agent_id,
    )
