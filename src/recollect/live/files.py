"""The files that a follower has in sight: where each was when it began, and how far it is read.

Knows tails and the marks that they leave; refuses to know when to look. A file that nobody has
written to since costs a line in a table and is never opened.
"""

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

from msgspec import Struct

from recollect.library.heads import find_session_id
from recollect.live.events import Source
from recollect.live.positions import Checkpoint, Cursor, Mark, advance, key_of
from recollect.live.tail import End, Nowhere, Start, Step, Tail
from recollect.locations import Transcript, TranscriptKind
from recollect.locations.transcript_files import name_of


class Edge(StrEnum):
    """An end of a file."""

    START = "start"
    END = "end"


Beginning = Edge | Cursor
"""Where to begin with the files that are there: at an end of each, or at a position."""

Key = tuple[TranscriptKind, str | None, str]


class Followed(Struct):
    """One file."""

    transcript: Transcript
    start: Start
    is_new: bool
    tail: Tail | None = None
    is_announced: bool = False
    is_gone: bool = False
    session_id: str | None = None


class Files:
    """All files in sight, by path, and the cursor behind the last thing that was read of them."""

    def __init__(self, beginning: Beginning) -> None:
        self._beginning = beginning
        self._by_path: dict[str, Followed] = {}
        self.cursor = beginning if isinstance(beginning, Cursor) else Cursor()

    def __getitem__(self, path: str) -> Followed:
        return self._by_path[path]

    def __contains__(self, path: str) -> bool:
        return path in self._by_path

    def __iter__(self) -> Iterator[Followed]:
        return iter(self._by_path.values())

    def begin(self, transcripts: tuple[Transcript, ...]) -> list[str]:
        """Take in what is there at the beginning, and tell what has to be read of it."""
        if self._beginning is Edge.END:
            newest = max((each.mtime_ns for each in transcripts), default=0)
            self.cursor = Cursor(newest)
        for each in transcripts:
            self._add(each, self._find_start(each), is_new=False)
        return [path for path, file in self._by_path.items() if self._needs_look(file)]

    def update(self, transcripts: tuple[Transcript, ...]) -> list[str]:
        """Take in what is there now, and tell what is new or is not as it was last seen."""
        changed = []
        for each in transcripts:
            path = each.file
            known = self._by_path.get(path)
            if known is None:
                self._add(each, self._find_moved(each), is_new=True)
                changed.append(path)
            elif known.is_gone or _state_of(known) != each.state:
                known.transcript = each
                changed.append(path)
        return changed

    def read(self, path: str) -> Step:
        """One look at a file; blocks."""
        file = self._by_path[path]
        file.tail = file.tail or Tail(file.transcript.path, file.start)
        step = file.tail.read()
        file.is_gone = step.is_gone
        return step

    def stand_behind(self, path: str, mark: Mark) -> Checkpoint:
        """A place in a file, at which the cursor stands from here on."""
        self.cursor = advance(self.cursor, {key_of(path): mark})
        return Checkpoint(self.cursor)

    def settle(self, path: str) -> None:
        """Note in the cursor how far a file is read of which nothing was told yet."""
        tail = self._by_path[path].tail
        if tail and self.cursor.find_mark(path) is None:
            self.stand_behind(path, tail.mark)

    def describe(self, path: str) -> Source:
        """Whose file it is."""
        file = self._by_path[path]
        transcript = file.transcript
        if file.session_id is None:
            file.session_id = transcript.session_id or find_session_id(transcript.path)
        return Source(
            path=path,
            session_id=file.session_id or "",
            agent_id=transcript.agent_id,
            kind=transcript.kind,
            project=transcript.project_dir.name,
        )

    def find_session(self, session_id: str) -> Path | None:
        """The file of a session that is there."""
        for file in self._by_path.values():
            is_session = file.transcript.kind is TranscriptKind.SESSION
            if is_session and file.transcript.session_id == session_id and not file.is_gone:
                return file.transcript.path
        return None

    def _needs_look(self, file: Followed) -> bool:
        # Of the newest file the time alone will not tell whether it has been written since.
        is_settled = self.cursor.is_settled(file.transcript.mtime_ns)
        return not (isinstance(file.start, End) and is_settled)

    def _add(self, transcript: Transcript, start: Start, *, is_new: bool) -> None:
        self._by_path[transcript.file] = Followed(transcript, start, is_new)

    def _find_start(self, transcript: Transcript) -> Start:
        end = End((transcript.device, transcript.inode), transcript.size)
        if not isinstance(self._beginning, Cursor):
            return end if self._beginning is Edge.END else None
        mark = self._beginning.find_mark(transcript.file)
        if mark is not None:
            return mark
        return end if self._beginning.is_settled(transcript.mtime_ns) else Nowhere()

    def _find_moved(self, transcript: Transcript) -> Start:
        """Where the same session stood in a file that is no longer there."""
        for file in self._by_path.values():
            if file.is_gone and file.tail and _key_of(file.transcript) == _key_of(transcript):
                return file.tail.mark
        return None


def _state_of(file: Followed) -> tuple[int, int, int]:
    return (file.tail and file.tail.state) or file.transcript.state


def _key_of(transcript: Transcript) -> Key:
    return transcript.kind, transcript.run_id, name_of(transcript)
