"""The files that a follower follows, and how far each has been read.

A scope finds the transcripts and the directories to watch: one session with its subagents, or whole
roots. When a session continues under another id, its scope includes that one too. `FollowedFiles`
keeps the start and the position of every file; a file that has not been written to since following
began is only an entry in a table and is never opened. `follow` decides when to check the files.
"""

from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import Final, Protocol

from msgspec import Struct

from recollect.errors import NothingFound, UnreadableInput
from recollect.library.opening import find_subagent_files
from recollect.library.transcript_ends import find_cwd, find_session_id
from recollect.live.live_events import Checkpoint, Cursor, EventSubject, Mark, advance, path_key
from recollect.live.tail import End, Start, StartOver, Tail, TailStep
from recollect.locations import (
    Transcript,
    TranscriptKind,
    claude_directories,
    discover,
    discover_root,
    encode_project_path,
    is_plain_name,
)
from recollect.locations.discovery import list_project
from recollect.sources.safe_files import is_directory, list_readable


class Edge(StrEnum):
    """The start or the end of a file."""

    START = "start"
    END = "end"


StartPosition = Edge | Cursor
"""Where to begin in existing files: at one edge of each, or at a cursor."""

FileKey = tuple[TranscriptKind, str | None, str]


class FollowedFile(Struct):
    """One followed file; `tail` is None until it is first read."""

    transcript: Transcript
    start: Start
    is_new: bool
    tail: Tail | None = None
    is_announced: bool = False
    is_gone: bool = False
    session_id: str | None = None


class FollowedFiles:
    """All followed files by path, and the cursor after the last record read."""

    def __init__(self, start: StartPosition) -> None:
        self._start = start
        self._by_path: dict[str, FollowedFile] = {}
        self.cursor = start if isinstance(start, Cursor) else Cursor()

    def __getitem__(self, path: str) -> FollowedFile:
        return self._by_path[path]

    def __contains__(self, path: str) -> bool:
        return path in self._by_path

    def __iter__(self) -> Iterator[FollowedFile]:
        return iter(self._by_path.values())

    def begin(self, transcripts: tuple[Transcript, ...]) -> list[str]:
        """Add the files that exist at the start and return the paths to read."""
        if self._start is Edge.END:
            newest = max((each.mtime_ns for each in transcripts), default=0)
            self.cursor = Cursor(newest)
        for each in transcripts:
            self._add(each, self._find_start(each), is_new=False)
        return [path for path, file in self._by_path.items() if self._must_read(file)]

    def update(self, transcripts: tuple[Transcript, ...]) -> list[str]:
        """Add new files and return the paths that are new or have changed."""
        changed = []
        for each in transcripts:
            path = each.file
            known = self._by_path.get(path)
            if known is None:
                self._add(each, self._find_moved_mark(each), is_new=True)
                changed.append(path)
            elif known.is_gone or not _is_current(known, each):
                known.transcript = each
                changed.append(path)
        return changed

    def read(self, path: str) -> TailStep:
        """Read the next step of a file; blocks."""
        file = self._by_path[path]
        file.tail = file.tail or Tail(file.transcript.path, file.start)
        step = file.tail.read()
        file.is_gone = step.is_gone
        return step

    def move_cursor(self, path: str, mark: Mark) -> Checkpoint:
        """Move the cursor to `mark` in a file and return the new checkpoint."""
        self.cursor = advance(self.cursor, {path_key(path): mark})
        return Checkpoint(self.cursor)

    def record_position(self, path: str) -> None:
        """Add the position of a file to the cursor if it is missing there."""
        tail = self._by_path[path].tail
        if tail and self.cursor.find_mark(path) is None:
            self.move_cursor(path, tail.mark)

    def describe(self, path: str) -> EventSubject:
        """Return the session, subagent and project that a file belongs to."""
        file = self._by_path[path]
        transcript = file.transcript
        if file.session_id is None:
            file.session_id = transcript.session_id or _find_owner(transcript)
        return EventSubject(
            path=path,
            session_id=file.session_id or "",
            agent_id=transcript.agent_id,
            kind=transcript.kind,
            project=transcript.project,
        )

    def find_session(self, session_id: str) -> Path | None:
        """Return the existing transcript of a session, or None."""
        for file in self._by_path.values():
            is_session = file.transcript.kind is TranscriptKind.SESSION
            if is_session and file.transcript.session_id == session_id and not file.is_gone:
                return file.transcript.path
        return None

    def _must_read(self, file: FollowedFile) -> bool:
        # The newest file may have been rewritten without a change of its mtime.
        is_unchanged = self.cursor.is_unchanged(file.transcript.mtime_ns)
        return not (isinstance(file.start, End) and is_unchanged)

    def _add(self, transcript: Transcript, start: Start, *, is_new: bool) -> None:
        self._by_path[transcript.file] = FollowedFile(transcript, start, is_new)

    def _find_start(self, transcript: Transcript) -> Start:
        end = End((transcript.device, transcript.inode), transcript.size)
        if not isinstance(self._start, Cursor):
            return end if self._start is Edge.END else None
        mark = self._start.find_mark(transcript.file)
        if mark is not None:
            return mark
        return end if self._start.is_unchanged(transcript.mtime_ns) else StartOver()

    def _find_moved_mark(self, transcript: Transcript) -> Start:
        """Return how far the same session was read in a file that no longer exists."""
        for file in self._by_path.values():
            if file.is_gone and file.tail and _file_key(file.transcript) == _file_key(transcript):
                return file.tail.mark
        return None


def _is_current(file: FollowedFile, listed: Transcript) -> bool:
    if file.tail is None:
        return file.transcript.stamp == listed.stamp
    return file.tail.is_current(listed.stamp)


def _find_owner(transcript: Transcript) -> str | None:
    """Return the session of a subagent of Claude Code 2.0.x, as named in its records."""
    found = find_session_id(transcript.path)
    return found and claude_directories.encode_id(found)


def _file_key(transcript: Transcript) -> FileKey:
    return transcript.kind, transcript.run_id, transcript.name


_WORKFLOWS: Final = "workflows"


class ScopeFiles(Struct, frozen=True):
    """The transcripts of a scope, and the directories to watch for new ones."""

    transcripts: tuple[Transcript, ...]
    directories: tuple[Path, ...]


class FollowScope(Protocol):
    """A set of transcripts to follow."""

    roots: tuple[Path, ...]
    is_narrow: bool
    """Whether there are few enough files to announce each before its first event."""

    @property
    def session_ids(self) -> tuple[str, ...]:
        """Return the sessions whose status is reported even if nothing is appended to them."""
        ...

    def is_excluded(self, path: str) -> bool:
        """Return whether the transcript at `path` is known to be outside this scope."""
        ...

    def scan(self) -> ScopeFiles:
        """List the current files and directories; blocks."""
        ...

    def include(self, session_id: str) -> None:
        """Follow this session too, because a followed one continues in it."""
        ...


class SessionScope:
    """One session and its subagents, even if its file moves; or a single subagent."""

    is_narrow = True

    def __init__(self, transcript: Transcript) -> None:
        root = transcript.root
        self.roots: tuple[Path, ...] = () if root is None else (root,)
        self._subagent = None if transcript.kind is TranscriptKind.SESSION else transcript
        self._directories = {transcript.name: transcript.project_dir}

    @property
    def session_ids(self) -> tuple[str, ...]:
        """Return the session and those that it continued in."""
        return () if self._subagent else tuple(self._directories)

    def is_excluded(self, path: str) -> bool:
        """Return whether it is another session's; a subagent's file name does not show that."""
        name = Path(path).name
        stem = name.removesuffix(claude_directories.TRANSCRIPT_SUFFIX)
        is_session = stem != name and not stem.startswith(claude_directories.AGENT_PREFIX)
        return is_session and claude_directories.encode_id(stem) not in self._directories

    def include(self, session_id: str) -> None:
        """Follow this session too."""
        # The id may come from a record, and becomes part of a path here.
        if not self._subagent and is_plain_name(session_id):
            self._directories.setdefault(
                claude_directories.encode_id(session_id), next(iter(self._directories.values()))
            )

    def scan(self) -> ScopeFiles:
        """List the transcripts of the sessions and of their subagents."""
        if self._subagent:
            return ScopeFiles(_find_one(self._subagent.path), (self._subagent.path.parent,))
        found = [
            file for session_id in self._directories for file in self._list_session(session_id)
        ]
        return ScopeFiles(tuple(found), tuple(dict.fromkeys(self._iter_directories())))

    def _list_session(self, session_id: str) -> Iterator[Transcript]:
        main = _find_session_file(
            list_project(self._directories[session_id]), session_id
        ) or self._search(session_id)
        if main is not None:
            self._directories[session_id] = main.project_dir
            yield main
        yield from find_subagent_files(self._directories[session_id], session_id)

    def _search(self, session_id: str) -> Transcript | None:
        """Find the session's file in another project, where `/cd` may have moved it."""
        for root in self.roots:
            if found := _find_session_file(_discover(root), session_id):
                return found
        return None

    def _iter_directories(self) -> Iterator[Path]:
        for session_id, directory in self._directories.items():
            yield directory
            if is_directory(directory / claude_directories.SUBAGENTS_DIRECTORY):
                yield directory / claude_directories.SUBAGENTS_DIRECTORY
            name = claude_directories.decode_id(session_id)
            if is_plain_name(name):
                yield from _iter_session_directories(directory / name)


class RootScope:
    """All sessions of some roots, or only those of projects whose path contains `project`."""

    is_narrow = False

    def __init__(self, roots: Iterable[Path], project: str | None = None) -> None:
        self.roots = tuple(roots)
        self._project = project
        self._cwd_matches: dict[Path, bool] = {}

    @property
    def session_ids(self) -> tuple[str, ...]:
        """Return no sessions, because most sessions of a root ended long ago."""
        return ()

    def is_excluded(self, path: str) -> bool:
        """Return whether it belongs to another project."""
        return self._cwd_matches.get(Path(path)) is False

    def include(self, session_id: str) -> None:
        """Do nothing: every session of the roots is followed already."""

    def scan(self) -> ScopeFiles:
        """List all transcripts below `projects`."""
        transcripts = [each for root in self.roots for each in _discover(root)]
        return ScopeFiles(
            tuple(filter(self._matches, transcripts)), tuple(self._iter_directories())
        )

    def _matches(self, transcript: Transcript) -> bool:
        if self._project is None:
            return True
        wanted = self._project.casefold()
        if encode_project_path(wanted) in transcript.project.casefold():
            return True
        if transcript.path not in self._cwd_matches:
            cwd = find_cwd(transcript.path)
            if cwd is None:
                # The first lines do not name a directory yet; the next scan tries again.
                return False
            self._cwd_matches[transcript.path] = wanted in cwd.casefold()
        return self._cwd_matches[transcript.path]

    def _iter_directories(self) -> Iterator[Path]:
        for root in self.roots:
            yield root / claude_directories.PROJECTS_DIRECTORY
            for project in _list_directories(root / claude_directories.PROJECTS_DIRECTORY):
                yield project
                for session in _list_directories(project):
                    yield from _iter_session_directories(session)


def _iter_session_directories(session: Path) -> Iterator[Path]:
    """Yield the directories of a session in which transcripts, or their directories, may appear."""
    workflows = session / claude_directories.SUBAGENTS_DIRECTORY / _WORKFLOWS
    for directory in (session, session / claude_directories.SUBAGENTS_DIRECTORY, workflows):
        if not is_directory(directory):
            return
        yield directory
    yield from _list_directories(workflows)


def _list_directories(directory: Path) -> Iterator[Path]:
    entries = list_readable(directory)
    yield from (Path(each.path) for each in entries if each.is_dir(follow_symlinks=False))


def _discover(root: Path) -> tuple[Transcript, ...]:
    try:
        return discover_root(root).transcripts
    except NothingFound:
        # The root itself may disappear and come back.
        return ()


def _find_one(path: Path) -> tuple[Transcript, ...]:
    try:
        return discover(path).transcripts
    except (NothingFound, UnreadableInput):
        return ()


def _find_session_file(transcripts: Iterable[Transcript], session_id: str) -> Transcript | None:
    wanted = (
        each
        for each in transcripts
        if each.kind is TranscriptKind.SESSION and each.name == session_id
    )
    return next(wanted, None)
