"""Which files are followed, and which directories tell of new ones.

Knows sessions with their subagents, projects, and everything; refuses to open a transcript but for
the one thing that its place does not say. A session that goes on under another id takes its
follower along.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, Protocol

from msgspec import Struct

from recollect.errors import NothingFound, UnreadableInput
from recollect.library.family import find_subagent_files
from recollect.library.heads import find_cwd
from recollect.library.project_files import list_project
from recollect.locations import (
    Transcript,
    TranscriptKind,
    discover,
    discover_root,
    encode_project_path,
    find_root_of,
    is_plain_name,
)
from recollect.locations.entries import is_directory, list_directory
from recollect.locations.names import PROJECTS_DIRECTORY, TRANSCRIPT_SUFFIX
from recollect.locations.transcript_files import name_of

_SUBAGENTS: Final = "subagents"
_WORKFLOWS: Final = "workflows"


class Survey(Struct, frozen=True):
    """What is there right now."""

    transcripts: tuple[Transcript, ...]
    directories: tuple[Path, ...]


class Scope(Protocol):
    """What is followed."""

    roots: tuple[Path, ...]
    is_narrow: bool
    """Whether its files are so few that each is announced before it says anything."""

    @property
    def session_ids(self) -> tuple[str, ...]:
        """The sessions whose standing is of interest even if nothing happens in them."""
        ...

    def is_foreign(self, path: str) -> bool:
        """Whether the transcript at `path` is known not to be of interest."""
        ...

    def survey(self) -> Survey:
        """Look at the files and directories; blocks."""
        ...

    def adopt(self, session_id: str) -> None:
        """Follow this session too: one that is followed goes on in it."""
        ...


class SessionScope:
    """One session and its subagents, wherever its file is moved to; or one subagent alone."""

    is_narrow = True

    def __init__(self, transcript: Transcript) -> None:
        root = find_root_of(transcript)
        self.roots: tuple[Path, ...] = () if root is None else (root,)
        self._only = None if transcript.kind is TranscriptKind.SESSION else transcript
        self._places = {name_of(transcript): transcript.project_dir}

    @property
    def session_ids(self) -> tuple[str, ...]:
        """The session, and those that it went on in."""
        return () if self._only else tuple(self._places)

    def is_foreign(self, path: str) -> bool:
        """Whether it is another session's; of a subagent only its records may tell."""
        name = Path(path).name
        stem = name.removesuffix(TRANSCRIPT_SUFFIX)
        return stem != name and not stem.startswith("agent-") and stem not in self._places

    def adopt(self, session_id: str) -> None:
        """Follow this session too."""
        # The id may come out of a record, and becomes part of a path here.
        if not self._only and is_plain_name(session_id):
            self._places.setdefault(session_id, next(iter(self._places.values())))

    def survey(self) -> Survey:
        """Look at the sessions' own files, and for those of subagents."""
        if self._only:
            return Survey(_find_one(self._only.path), (self._only.path.parent,))
        found = [file for session_id in self._places for file in self._list_session(session_id)]
        return Survey(tuple(found), tuple(dict.fromkeys(self._iter_directories())))

    def _list_session(self, session_id: str) -> Iterator[Transcript]:
        main = _pick(list_project(self._places[session_id]), session_id) or self._search(session_id)
        if main is not None:
            self._places[session_id] = main.project_dir
            yield main
        yield from find_subagent_files(self._places[session_id], session_id)

    def _search(self, session_id: str) -> Transcript | None:
        """The session's file, which a change of directory may have moved to another project."""
        for root in self.roots:
            if found := _pick(_discover(root), session_id):
                return found
        return None

    def _iter_directories(self) -> Iterator[Path]:
        for session_id, place in self._places.items():
            yield place
            if is_plain_name(session_id):
                yield from _iter_session_directories(place / session_id)


class RootScope:
    """All sessions of some roots, or those of projects whose path holds a text."""

    is_narrow = False

    def __init__(self, roots: Iterable[Path], project: str | None = None) -> None:
        self.roots = tuple(roots)
        self._project = project
        self._verdicts: dict[Path, bool] = {}

    @property
    def session_ids(self) -> tuple[str, ...]:
        """None: most of what lies in a root ended long ago."""
        return ()

    def is_foreign(self, path: str) -> bool:
        """Whether it is of another project."""
        return self._verdicts.get(Path(path)) is False

    def adopt(self, session_id: str) -> None:
        """Nothing to do: whatever lies in the roots is followed already."""

    def survey(self) -> Survey:
        """Look at all files below `projects`."""
        transcripts = [each for root in self.roots for each in _discover(root)]
        return Survey(tuple(filter(self._fits, transcripts)), tuple(self._iter_directories()))

    def _fits(self, transcript: Transcript) -> bool:
        if self._project is None:
            return True
        wanted = self._project.casefold()
        if encode_project_path(wanted) in transcript.project_dir.name.casefold():
            return True
        if transcript.path not in self._verdicts:
            cwd = find_cwd(transcript.path)
            if cwd is None:
                # Its first lines do not tell yet; the next survey asks again.
                return False
            self._verdicts[transcript.path] = wanted in cwd.casefold()
        return self._verdicts[transcript.path]

    def _iter_directories(self) -> Iterator[Path]:
        for root in self.roots:
            yield root / PROJECTS_DIRECTORY
            for project in _list_directories(root / PROJECTS_DIRECTORY):
                yield project
                for session in _list_directories(project):
                    yield from _iter_session_directories(session)


def _iter_session_directories(session: Path) -> Iterator[Path]:
    """The directories of a session in which a transcript, or the place for one, may appear."""
    workflows = session / _SUBAGENTS / _WORKFLOWS
    for directory in (session, session / _SUBAGENTS, workflows):
        if not is_directory(directory):
            return
        yield directory
    yield from _list_directories(workflows)


def _list_directories(directory: Path) -> Iterator[Path]:
    try:
        entries = list_directory(directory)
    except OSError:
        return
    yield from (Path(each.path) for each in entries if each.is_dir(follow_symlinks=False))


def _discover(root: Path) -> tuple[Transcript, ...]:
    try:
        return discover_root(root).transcripts
    except NothingFound:
        # The root itself may go and come back, like anything else.
        return ()


def _find_one(path: Path) -> tuple[Transcript, ...]:
    try:
        return discover(path).transcripts
    except (NothingFound, UnreadableInput):
        return ()


def _pick(transcripts: Iterable[Transcript], session_id: str) -> Transcript | None:
    wanted = (
        each
        for each in transcripts
        if each.kind is TranscriptKind.SESSION and name_of(each) == session_id
    )
    return next(wanted, None)
