"""Queries about files: their versions, and who wrote their lines, across all sessions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from recollect.documents import file_versions
from recollect.errors import MAX_SHOWN, NothingFound
from recollect.redact.quick_masks import mask_path
from recollect.versions import edit_index, file_blame, file_history, file_paths, session_outline

if TYPE_CHECKING:
    from recollect.locations import Transcript
    from recollect.versions.file_blame import AttributedLine
    from recollect.versions.replay import Version
    from recollect.versions.session_checkpoints import SessionCheckpoints
    from recollect.workspace.workspace import Workspace

FILE_SCHEMA: Final = "recollect.file/1"
BLAME_SCHEMA: Final = "recollect.blame/1"
CHECKPOINTS_SCHEMA: Final = "recollect.checkpoints/1"


class FileRequest(NamedTuple):
    """The requested file, and where to search."""

    path: Path
    moved_from: Sequence[Path] = ()
    all_projects: bool = False
    budget: int | None = None
    """Bytes of sessions that may be read because the index does not have them; None for all."""


class FoundFile(NamedTuple):
    """The history of a file, and its repository if there is one."""

    history: file_history.FileHistory
    git: file_blame.GitFile | None
    path: Path
    """The requested path, or that of the only known file with the requested name."""


class FileFinder:
    """Finds the histories of files of one project, through one index."""

    def __init__(self, workspace: Workspace, request: FileRequest) -> None:
        self._moved_from = request.moved_from
        self._budget = request.budget
        self._workspace = workspace
        self._root = file_paths.find_project_root(
            Path(file_paths.describe_target(request.path).path)
        )
        self._every = workspace.require_sessions()
        near = self._every
        if not request.all_projects:
            aliases = file_paths.describe_target(request.path, request.moved_from)
            near = file_history.select_transcripts_of(aliases, self._every)
        self._is_everything = len(near) == len(self._every)
        self._asked = near
        self.index = self._asked_index = self._make_index(near)

    @property
    def unread(self) -> int:
        """How many sessions could not be read within the budget."""
        return self._asked_index.unread

    @property
    def projects(self) -> list[str]:
        """The projects whose sessions were searched."""
        return sorted({each.project for each in self._asked})

    def _make_index(self, transcripts: Sequence[Transcript]) -> edit_index.EditIndex:
        workspace = self._workspace
        directory = workspace.data_directory
        return edit_index.EditIndex(transcripts, directory, workspace.count_files, self._budget)

    def find(
        self, path: Path, *, only_near: bool = False, with_git: bool = True
    ) -> FoundFile | None:
        """Return the versions of a file; None if no session mentions it.

        Other projects are searched too if those around the file never mention it, unless
        `only_near`. Without git, only what sessions recorded counts.
        """
        aliases = file_paths.describe_target(path, self._moved_from)
        uses_git = with_git and file_paths.has_repository(self._root)
        git = file_blame.GitFile(self._root, Path(aliases.path)) if uses_git else None
        find_base = git.find_base if git else None
        history = file_history.find_history(aliases, self.index, find_base)
        if not (history.versions or self._is_everything or only_near or self.unread):
            self._asked, self._asked_index = self._every, self._make_index(self._every)
            history = file_history.find_history(aliases, self._asked_index, find_base)
        return FoundFile(history, git, path) if history.versions else None

    def list_named(self, name: str) -> list[str]:
        """Return the known paths that end with this relative path, in the sessions searched."""
        end = f"/{file_paths.normalize_path(name)}"
        found = {
            path
            for _, outline in self._asked_index.find(None)
            for path in outline.list_paths()
            if path.endswith(end)
        }
        return sorted(found)


class KnownFile(NamedTuple):
    """A file that sessions changed."""

    path: str
    changes: int
    sessions: int
    last_change: str


class FileListing(NamedTuple):
    """The files of a project, and how many of its sessions could not be read yet."""

    files: tuple[KnownFile, ...]
    unread: int


MAX_READ: Final = 16 * 1024 * 1024
"""Bytes that are read before a page about files is shown: about a third of a second."""
_CHANGING: Final = frozenset({"Edit", "MultiEdit", "Write", "NotebookEdit"})


def list_files(workspace: Workspace, project: str, text: str = "") -> FileListing:
    """Return the files that sessions changed and whose path contains `text`, newest first.

    Reads only a few sessions that are not in the index; skips the others.
    """
    transcripts = _find_members(workspace, project)
    directory = workspace.data_directory
    index = edit_index.EditIndex(transcripts, directory, workspace.count_files, MAX_READ)
    found: dict[str, KnownFile] = {}
    for _, outline in index.find(None):
        for path, times in session_outline.iter_changes(outline, _CHANGING):
            if text.casefold() in path.casefold():
                known = found.get(path, KnownFile(path, 0, 0, ""))
                found[path] = KnownFile(
                    path,
                    known.changes + len(times),
                    known.sessions + 1,
                    max(known.last_change, *times),
                )
    files = sorted(found.values(), key=lambda each: each.last_change, reverse=True)
    return FileListing(tuple(files), index.unread)


def _find_members(workspace: Workspace, project: str) -> list[Transcript]:
    """Return the transcripts of a project, by the name that lists show."""
    found = workspace.find_transcripts()
    return [each for each in found if mask_path(each.project) == project]


def outline_sessions(workspace: Workspace, project: str) -> Iterator[None]:
    """Read, one by one, the sessions of a project whose file changes are not indexed yet."""
    transcripts = _find_members(workspace, project)
    for each in edit_index.group_sessions(transcripts):
        edit_index.EditIndex((each.transcript, *each.others), workspace.data_directory).update()
        yield


def find_file(workspace: Workspace, request: FileRequest) -> FoundFile:
    """Return the versions of a file; raise NothingFound if no session mentions it.

    A relative path that is not known in the current directory may be the end of a known path.
    """
    finder = FileFinder(workspace, request)
    found = finder.find(request.path)
    if found is None and not request.path.is_absolute():
        known = finder.list_named(str(request.path))
        if len(known) > 1:
            raise _name_candidates(request.path, known)
        if known and Path(known[0]) != request.path.absolute():
            only = request._replace(path=Path(known[0]))
            found = FileFinder(workspace, only).find(only.path)
    if found is None:
        raise NothingFound(
            f"No session has recorded a version of {request.path}. If the project was moved, "
            "specify its earlier directory with --moved-from."
        )
    return found


def _name_candidates(path: Path, known: Sequence[str]) -> NothingFound:
    more = len(known) - MAX_SHOWN
    shown = [*map(mask_path, known[:MAX_SHOWN]), *([f"and {more} more"] if more > 0 else [])]
    lines = "".join(f"\n  {each}" for each in shown)
    return NothingFound(f"'{path}' matches {len(known)} files. Use one of these paths:{lines}")


def describe_history(history: file_history.FileHistory) -> file_versions.FileDocument:
    """Return the document of a history."""
    return file_versions.FileDocument(
        schema=FILE_SCHEMA,
        path=mask_path(history.path),
        sessions=history.sessions,
        versions=tuple(map(describe_version, history.versions)),
    )


def describe_version(version: Version) -> file_versions.VersionEntry:
    """Return a version as a document entry."""
    origin = version.origin
    return file_versions.VersionEntry(
        number=version.number,
        session=origin.session_id,
        turn=origin.turn,
        uuid=origin.uuid,
        time=origin.time,
        known=version.known.value,
        kind=version.kind.value,
        added=version.added,
        removed=version.removed,
        path=mask_path(version.path),
        tool=origin.tool if version.change else None,
        agent=origin.agent_id,
        model=origin.model if version.change else None,
        prompt=origin.prompt,
        causes=tuple(cause.kind.value for cause in version.causes),
    )


def describe_blame(path: str, lines: Sequence[AttributedLine]) -> file_versions.BlameDocument:
    """Return the document about the lines of a file."""
    return file_versions.BlameDocument(
        schema=BLAME_SCHEMA, path=mask_path(path), lines=tuple(map(describe_line, lines))
    )


def describe_line(line: AttributedLine) -> file_versions.BlamedLine:
    """Return a line as a document entry."""
    version = line.author.version
    by = line.author.by
    if version is None or by != "claude":
        return file_versions.BlamedLine(line=line.number, by=by, text=line.text)
    origin = version.origin
    return file_versions.BlamedLine(
        line=line.number,
        by=by,
        session=origin.session_id,
        turn=origin.turn,
        uuid=origin.uuid,
        tool=origin.tool,
        model=origin.model,
        time=origin.time,
        prompt=origin.prompt,
        text=line.text,
    )


def describe_checkpoints(found: SessionCheckpoints) -> file_versions.CheckpointsDocument:
    """Return the document of a session's checkpoints."""
    return file_versions.CheckpointsDocument(
        schema=CHECKPOINTS_SCHEMA,
        session=found.session_id,
        checkpoints=tuple(
            file_versions.CheckpointEntry(
                number=each.number,
                turn=each.number,
                time=each.time,
                prompt=each.prompt,
                files=tuple(
                    file_versions.CheckpointFile(
                        path=mask_path(file.path),
                        known=file.known.value if file.known else None,
                        exists=file.exists,
                    )
                    for file in each.files
                ),
            )
            for each in found.checkpoints
        ),
        opcode=tuple(
            file_versions.OpcodeEntry(
                id=each.id, time=each.time, description=each.words, files=each.files
            )
            for each in found.opcode
        ),
    )
