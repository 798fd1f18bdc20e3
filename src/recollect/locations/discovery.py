"""Find every transcript of a root, of any other directory, or of one file, without opening any.

Knows the layout of all versions and how to handle links, but not the content. A link is followed
only inside the directory being read, and what is reached twice is reported once, under its real
path: people link a moved project's directory to the old one.
"""

import os
import stat
from collections import deque
from collections.abc import Callable, Mapping
from enum import Enum, auto
from operator import attrgetter
from pathlib import Path
from typing import Final, NamedTuple

from recollect.errors import NothingFound, UnreadableInput
from recollect.locations import claude_directories, transcript_files
from recollect.sources import safe_files
from recollect.sources.source import Entry, is_key_name, is_link


class Discovery(NamedTuple):
    """Transcripts and refused paths, both sorted by path."""

    transcripts: tuple[transcript_files.Transcript, ...]
    refused: tuple[safe_files.Refused, ...]


class _Level(Enum):
    ROOT = auto()
    PROJECTS = auto()
    PROJECT = auto()
    SESSION = auto()
    SUBAGENTS = auto()
    SHARED_SUBAGENTS = auto()
    WORKFLOWS = auto()
    RUN = auto()
    ANYWHERE = auto()


_ANY_CHILD: Final[Mapping[_Level, _Level]] = {
    _Level.PROJECTS: _Level.PROJECT,
    _Level.PROJECT: _Level.SESSION,
    _Level.WORKFLOWS: _Level.RUN,
    _Level.ANYWHERE: _Level.ANYWHERE,
}
_NAMED_CHILD: Final[Mapping[_Level, tuple[str, _Level]]] = {
    _Level.ROOT: (claude_directories.PROJECTS_DIRECTORY, _Level.PROJECTS),
    _Level.PROJECT: (claude_directories.SUBAGENTS_DIRECTORY, _Level.SHARED_SUBAGENTS),
    _Level.SESSION: (claude_directories.SUBAGENTS_DIRECTORY, _Level.SUBAGENTS),
    _Level.SUBAGENTS: ("workflows", _Level.WORKFLOWS),
}
_PLACES: Final[Mapping[_Level, Callable[[Path], transcript_files.TranscriptLocation]]] = {
    _Level.PROJECT: transcript_files.project_location,
    _Level.SUBAGENTS: transcript_files.subagents_location,
    _Level.SHARED_SUBAGENTS: transcript_files.shared_subagents_location,
    _Level.RUN: transcript_files.run_location,
    _Level.ANYWHERE: transcript_files.guess_place,
}


def _join(directory: str, name: str) -> str:
    return os.path.join(directory, name)


class _Directory(NamedTuple):
    """A directory to read; plain strings, because there is one for every session."""

    path: str
    real: str
    level: _Level

    def child_level(self, name: str) -> _Level | None:
        """Return what a directory of that name would be here; None if it is not of interest."""
        named, level = _NAMED_CHILD.get(self.level, ("", None))
        return level if name == named else _ANY_CHILD.get(self.level)

    def child(self, name: str, level: _Level) -> "_Directory":
        return _Directory(_join(self.path, name), _join(self.real, name), level)

    def place(self) -> transcript_files.TranscriptLocation | None:
        make = _PLACES.get(self.level)
        return make(Path(self.path)) if make else None


class _LinkedFile(NamedTuple):
    place: transcript_files.TranscriptLocation
    name: str
    real: Path
    status: os.stat_result


def discover(path: Path) -> Discovery:
    """Find the transcripts in whatever the user specifies: a root, another directory, or a file.

    Raises NothingFound if nothing is there and UnreadableInput if it cannot contain a transcript.
    """
    real, status = _resolve(path)
    if stat.S_ISDIR(status.st_mode):
        level = (
            _Level.ROOT
            if safe_files.is_directory(real / claude_directories.PROJECTS_DIRECTORY)
            else _Level.ANYWHERE
        )
        return _Walk(path, real).run(level)
    if not stat.S_ISREG(status.st_mode) or is_key_name(real.name):
        raise UnreadableInput(f"{path} is not a transcript. Specify a .jsonl file or a directory.")
    return Discovery((transcript_files.guess_place(real.parent).describe(real.name, status),), ())


def discover_root(root: Path, *, include_nested: bool = True) -> Discovery:
    """Find the transcripts below `projects/` of a root, which may have none yet.

    Those in the sessions' own directories may be left out, which saves reading each of them.
    """
    real, _ = _resolve(root)
    return _Walk(root, real, include_nested=include_nested).run(_Level.ROOT)


def _resolve(path: Path) -> tuple[Path, os.stat_result]:
    try:
        return safe_files.find_real(path)
    except FileNotFoundError as error:
        raise NothingFound(f"No such file or directory: {path}") from error
    except (OSError, ValueError) as error:
        raise UnreadableInput(
            f"Cannot access {path}: {safe_files.describe_error(error)}. Check its permissions."
        ) from error


class _Walk:
    """One walk. Real directories come before linked ones, so that a real path always wins."""

    def __init__(self, path: Path, real: Path, *, include_nested: bool = True) -> None:
        self._skipped = None if include_nested else _Level.SESSION
        self._start = path.absolute()
        self._boundary = real
        self._queue: list[_Directory] = []
        self._linked_directories: deque[_Directory] = deque()
        self._linked_files: list[_LinkedFile] = []
        self._seen: set[str] = set()
        self._searched: set[str] = set()
        self._transcripts: list[transcript_files.Transcript] = []
        self._refused: list[safe_files.Refused] = []

    def run(self, level: _Level) -> Discovery:
        self._queue.append(_Directory(str(self._start), str(self._boundary), level))
        while self._queue or self._linked_directories:
            directory = self._queue.pop() if self._queue else self._linked_directories.popleft()
            if directory.real not in self._seen:
                self._seen.add(directory.real)
                self._read(directory)
        self._take_linked_files()
        return Discovery(
            tuple(sorted(self._transcripts, key=attrgetter("file"))),
            tuple(sorted(self._refused, key=lambda refused: os.fspath(refused.path))),
        )

    def _read(self, directory: _Directory) -> None:
        place = directory.place()
        if place:
            self._searched.add(directory.real)
        elif directory.level in _NAMED_CHILD:
            # A single lookup: listing each of thousands of directories is slower.
            self._read_named_child(directory, *_NAMED_CHILD[directory.level])
            return
        try:
            entries = safe_files.list_directory(directory.real)
        except OSError as error:
            self._refuse(
                Path(directory.path),
                safe_files.Refusal.UNREADABLE,
                safe_files.describe_error(error),
            )
            return
        for entry in entries:
            self._take(directory, place, entry)

    def _read_named_child(self, directory: _Directory, name: str, level: _Level) -> None:
        status = safe_files.find_status(_join(directory.real, name))
        if isinstance(status, safe_files.Refused):
            self._refuse(Path(directory.path, name), status.reason, status.detail)
        elif status is not None and is_link(status):
            self._follow(directory, None, name)
        elif status is not None and stat.S_ISDIR(status.st_mode):
            self._queue.append(directory.child(name, level))

    def _take(
        self, directory: _Directory, place: transcript_files.TranscriptLocation | None, entry: Entry
    ) -> None:
        name = entry.name
        try:
            # The most common case first: it is not a link, and needs no system call.
            if place and entry.is_file(follow_symlinks=False):
                if claude_directories.is_transcript_name(name):
                    status = entry.stat(follow_symlinks=False)
                    self._transcripts.append(place.describe(name, status))
            elif safe_files.is_link_entry(entry):
                self._follow(directory, place, name)
            elif entry.is_dir(follow_symlinks=False):
                level = directory.child_level(name)
                if level and level is not self._skipped:
                    self._queue.append(directory.child(name, level))
            elif place and claude_directories.is_transcript_name(name):
                self._refuse(Path(place.prefix, name), safe_files.Refusal.SPECIAL)
        except FileNotFoundError:
            # Deleted since the directory was listed.
            return
        except OSError as error:
            self._refuse(
                Path(directory.path, name),
                safe_files.Refusal.UNREADABLE,
                safe_files.describe_error(error),
            )

    def _follow(
        self, directory: _Directory, place: transcript_files.TranscriptLocation | None, name: str
    ) -> None:
        level = directory.child_level(name)
        if level is self._skipped:
            level = None
        is_wanted_file = place is not None and claude_directories.is_transcript_name(name)
        if level is None and not is_wanted_file:
            return
        path = Path(directory.path, name)
        try:
            real, status = safe_files.find_real(Path(directory.real, name))
        except OSError as error:
            self._refuse(path, _reason_of(error), safe_files.describe_error(error))
            return
        if not real.is_relative_to(self._boundary):
            self._refuse(path, safe_files.Refusal.LINK_OUTSIDE, str(real))
        elif level and stat.S_ISDIR(status.st_mode):
            self._linked_directories.append(_Directory(str(path), str(real), level))
        elif place and is_wanted_file:
            self._follow_file(path, _LinkedFile(place, name, real, status))

    def _follow_file(self, path: Path, linked: _LinkedFile) -> None:
        # A root contains credentials, too: the name of a link must not turn them into transcripts.
        if stat.S_ISREG(linked.status.st_mode) and claude_directories.is_transcript_name(
            linked.real.name
        ):
            self._linked_files.append(linked)
        else:
            self._refuse(path, safe_files.Refusal.LINK_ELSEWHERE, str(linked.real))

    def _take_linked_files(self) -> None:
        taken: set[Path] = set()
        for linked in self._linked_files:
            real = linked.real
            if str(real.parent) not in self._searched and real not in taken:
                taken.add(real)
                self._transcripts.append(linked.place.describe(linked.name, linked.status, real))

    def _refuse(self, path: Path, reason: safe_files.Refusal, detail: str = "") -> None:
        self._refused.append(safe_files.Refused(path, reason, detail))


def list_project(project_dir: Path) -> tuple[transcript_files.Transcript, ...]:
    """Return the transcripts directly in a project's directory, sorted by name."""
    return _list_location(project_dir, transcript_files.project_location(project_dir))


class SubagentFiles(NamedTuple):
    """Transcripts that may be of a session's subagents, each list sorted by name."""

    own: tuple[transcript_files.Transcript, ...]
    """Those in the session's own directory."""
    shared: tuple[transcript_files.Transcript, ...]
    """Those beside the sessions of its project: only their records say whose they are."""


def list_subagent_files(project_dir: Path, session_id: str) -> SubagentFiles:
    """Return the transcripts that may be of a session's subagents; none for an odd id."""
    name = claude_directories.decode_id(session_id)
    if not claude_directories.is_plain_name(name):
        return SubagentFiles((), ())
    beside = (*list_project(project_dir), *_list_shared(project_dir))
    return SubagentFiles(
        _list_own(project_dir, name),
        tuple(each for each in beside if each.kind is transcript_files.TranscriptKind.SUBAGENT),
    )


def _list_shared(project_dir: Path) -> tuple[transcript_files.Transcript, ...]:
    directory = safe_files.find_directory(project_dir, claude_directories.SUBAGENTS_DIRECTORY)
    if not isinstance(directory, Path):
        return ()
    return _list_location(directory, transcript_files.shared_subagents_location(directory))


def _list_own(project_dir: Path, session: str) -> tuple[transcript_files.Transcript, ...]:
    directory = safe_files.find_directory(
        project_dir, session, claude_directories.SUBAGENTS_DIRECTORY
    )
    found = discover(directory).transcripts if isinstance(directory, Path) else ()
    return tuple(each for each in found if each.kind is not transcript_files.TranscriptKind.SESSION)


def _list_location(
    directory: Path, location: transcript_files.TranscriptLocation
) -> tuple[transcript_files.Transcript, ...]:
    named = (
        _describe(location, entry)
        for entry in safe_files.list_readable(directory)
        if claude_directories.is_transcript_name(entry.name)
    )
    return tuple(found for found in named if found is not None)


def _describe(
    location: transcript_files.TranscriptLocation, entry: Entry
) -> transcript_files.Transcript | None:
    try:
        status = entry.stat(follow_symlinks=False)
        is_plain = stat.S_ISREG(status.st_mode) and not safe_files.is_link_entry(entry)
    except OSError:
        # Deleted since the directory was listed.
        return None
    return location.describe(entry.name, status) if is_plain else None


def refresh(transcript: transcript_files.Transcript) -> transcript_files.Transcript | None:
    """Return a transcript as it is now; None if it is gone or cannot be accessed."""
    status = safe_files.find_status(transcript.file)
    if not isinstance(status, os.stat_result):
        return None
    return transcript._replace(
        size=status.st_size, mtime_ns=status.st_mtime_ns, inode=status.st_ino
    )


def _reason_of(error: OSError) -> safe_files.Refusal:
    is_forbidden = isinstance(error, PermissionError)
    return safe_files.Refusal.UNREADABLE if is_forbidden else safe_files.Refusal.LINK_BROKEN
