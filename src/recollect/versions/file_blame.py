"""Who wrote each line of a file: combines its history with the contents committed to git.

Without git or a repository, there are no committed contents.

Copies of the file in other worktrees of the repository are used too, but only for lines that the
file's own history does not explain: changes made there arrive here by a merge.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from msgspec import Struct

from recollect.errors import NothingFound, UnreadableInput
from recollect.session.times import parse_time
from recollect.versions import (
    evidence,
    file_history,
    file_texts,
    git_repository,
    line_authors,
    replay,
)

_MAX_COMMITS: Final = 300
_TOLERANCE: Final = timedelta(seconds=2)
"""Maximum time between the end of a command and the record of its result."""


class Blob(NamedTuple):
    """A committed content of a file and the time of the commit."""

    time: datetime
    commit: str
    id: str


class GitFile:
    """One file of a repository."""

    def __init__(self, root: Path, path: Path) -> None:
        self._root = root
        self._path = path
        self._texts: dict[str, str | None] = {}

    def name(self, path: str) -> GitFile:
        """Return another file of the repository."""
        return GitFile(self._root, Path(path))

    @property
    def blobs(self) -> Sequence[Blob]:
        """Return the committed contents, newest first, including those under earlier names."""
        return _list_blobs(self._root, self._path)

    def read(self, blob: Blob) -> str | None:
        """Return the text of a blob; None if it is not text."""
        if blob.id not in self._texts:
            data = git_repository.run_git(self._root, "cat-file", "blob", blob.id)
            content = file_texts.decode_file(data) if data is not None else None
            self._texts[blob.id] = content.text if content else None
        return self._texts[blob.id]

    def read_newest(self) -> bytes | None:
        """Return the content of the newest commit."""
        return (
            git_repository.run_git(self._root, "cat-file", "blob", self.blobs[0].id)
            if self.blobs
            else None
        )

    def find_base(self, change: evidence.Change, windows: Sequence[evidence.Window]) -> str | None:
        """Return the newest earlier content that fits a change and all windows."""
        moment = parse_time(change.origin.time)
        for blob in self.blobs:
            if moment is not None and blob.time > moment:
                continue
            text = self.read(blob)
            if text is None or replay.predict(text, change) is None:
                continue
            if all(
                file_texts.fits_window(text, each.start, each.lines, each.total) for each in windows
            ):
                return text
        return None

    def find_text_before(self, time: str | None) -> str | None:
        """Return the last committed content before a time."""
        moment = parse_time(time)
        for blob in self.blobs:
            if moment is not None and blob.time <= moment:
                return self.read(blob)
        return None

    def find_commit_time(self, revision: str) -> datetime | None:
        """Return the time of a revision; None if it does not exist."""
        found = git_repository.run_git(
            self._root, "log", "-1", "--format=%cI", "--end-of-options", revision, "--"
        )
        return parse_time(found.decode().strip()) if found else None

    def read_revision(self, revision: str) -> str | None:
        """Return the text of the file in a revision; None if there is none."""
        name = self._path.relative_to(self._root).as_posix()
        found = git_repository.run_git(
            self._root, "rev-parse", "--verify", "--end-of-options", f"{revision}:{name}"
        )
        if found is None:
            return None
        data = git_repository.run_git(self._root, "cat-file", "blob", found.decode().strip())
        content = file_texts.decode_file(data) if data is not None else None
        return content.text if content else None


@cache
def _list_blobs(root: Path, path: Path) -> Sequence[Blob]:
    output = git_repository.run_git(
        root,
        "log",
        "--follow",
        "--no-ext-diff",
        "--no-textconv",
        "--raw",
        "--no-abbrev",
        f"--max-count={_MAX_COMMITS}",
        "--format=commit %H %cI",
        "--",
        str(path),
    )
    blobs: list[Blob] = []
    commit, moment = "", None
    for line in (output or b"").decode("utf-8", "replace").splitlines():
        words = line.split()
        if line.startswith("commit "):
            commit, moment = words[1], parse_time(words[2])
        elif line.startswith(":") and moment is not None and words[3].strip("0"):
            blobs.append(Blob(moment, commit, words[3]))
    return blobs


class AttributedLine(Struct, frozen=True):
    """A line with its number and its author."""

    number: int
    text: str
    author: line_authors.Author


def blame_current(
    history: file_history.FileHistory,
    git: GitFile | None,
    data: bytes | None,
    modified: datetime | None = None,
    *,
    ignore_space: bool = False,
) -> list[AttributedLine]:
    """Return the authors of the file's current lines; `modified` is its modification time."""
    if data is None:
        raise NothingFound(f"{history.path} does not exist. `recollect file` lists its versions.")
    content = file_texts.decode_file(data)
    if content is None:
        raise UnreadableInput(f"{history.path} is not a text file.")
    needs_verification = modified is not None and _ran_commands(history, modified)
    later = line_authors.UNCERTAIN if needs_verification else line_authors.OUTSIDE
    return _blame(history, history.versions, git, content.text, later, ignore_space=ignore_space)


def _ran_commands(history: file_history.FileHistory, modified: datetime) -> bool:
    """Return whether Claude Code may have made the last, unrecorded change of the file."""
    last = parse_time(history.own[-1].origin.time) if history.own else None
    ours = (each for each in history.later_causes if each.kind in line_authors.OUR_CAUSES)
    ends = [moment for each in ours if (moment := parse_time(each.origin.time)) is not None]
    return last is not None and bool(ends) and last <= modified <= max(ends) + _TOLERANCE


def blame_revision(
    history: file_history.FileHistory,
    git: GitFile | None,
    revision: str,
    *,
    ignore_space: bool = False,
) -> list[AttributedLine]:
    """Return the authors of the lines of the file in a commit, using the versions before it."""
    text = git.read_revision(revision) if git else None
    moment = git.find_commit_time(revision) if git else None
    if text is None or moment is None:
        raise NothingFound(f"Git has no text file {history.path} in {revision!r}.")
    versions = [
        version
        for version in history.versions
        if (time := parse_time(version.origin.time)) is not None and time <= moment
    ]
    if not versions:
        # The commit is older than all records.
        return _number(text, [line_authors.BEFORE] * len(file_texts.split_lines(text)))
    return _blame(history, versions, git, text, line_authors.OUTSIDE, ignore_space=ignore_space)


def _blame(
    history: file_history.FileHistory,
    versions: list[replay.Version] | tuple[replay.Version, ...],
    git: GitFile | None,
    text: str,
    later: line_authors.Author,
    *,
    ignore_space: bool,
) -> list[AttributedLine]:
    own = [version for version in versions if version.path == history.path]
    base = _find_base(own, git, history.earlier_paths)
    authors = line_authors.find_authors(own, text, base, later=later, ignore_space=ignore_space)
    for path in dict.fromkeys(each.path for each in versions if each.path != history.path):
        copies = [version for version in versions if version.path == path]
        others = line_authors.find_authors(copies, text, ignore_space=ignore_space)
        authors = [
            other
            if other.kind is line_authors.AuthorKind.CLAUDE
            and mine.kind is not line_authors.AuthorKind.CLAUDE
            else mine
            for mine, other in zip(authors, others, strict=True)
        ]
    return _number(text, authors)


def _number(text: str, authors: list[line_authors.Author]) -> list[AttributedLine]:
    pairs = zip(file_texts.split_lines(text), authors, strict=True)
    return [
        AttributedLine(number, line.rstrip("\n"), author)
        for number, (line, author) in enumerate(pairs, 1)
    ]


def _find_base(
    own: Sequence[replay.Version], git: GitFile | None, earlier_paths: Sequence[str]
) -> str | None:
    """Return the committed content before the first version, if the file existed."""
    if git is None or not own:
        return None
    first = own[0]
    if first.change is not None and first.change.is_new:
        return None
    files = (git, *map(git.name, earlier_paths))
    texts = (each.find_text_before(first.origin.time) for each in files)
    return next((text for text in texts if text is not None), None)
