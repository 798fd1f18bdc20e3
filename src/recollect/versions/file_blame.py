"""Who wrote each line of a file: its history and git put together.

Copies of the file in other work trees of the repository count too, but only for lines of which the
file's own history says nothing: work done there arrives here by a merge.
"""

from __future__ import annotations

from msgspec import Struct

from recollect.errors import NothingFound, UnreadableInput
from recollect.session.times import parse_time
from recollect.versions.file_history import FileHistory
from recollect.versions.file_texts import decode_file, split_lines
from recollect.versions.git_blobs import GitFile
from recollect.versions.line_authors import BEFORE, Author, AuthorKind, find_authors
from recollect.versions.replay import Version


class LineOfFile(Struct, frozen=True):
    """A line with its number and who wrote it."""

    number: int
    text: str
    author: Author


def blame_present(
    history: FileHistory, git: GitFile | None, data: bytes | None, *, ignore_space: bool = False
) -> list[LineOfFile]:
    """Return who wrote the lines of the file as it is now."""
    if data is None:
        raise NothingFound(f"{history.path} does not exist. `recollect file` lists its versions.")
    content = decode_file(data)
    if content is None:
        raise UnreadableInput(f"{history.path} is not a text file.")
    return _blame(history, history.versions, git, content.text, ignore_space=ignore_space)


def blame_revision(
    history: FileHistory, git: GitFile | None, revision: str, *, ignore_space: bool = False
) -> list[LineOfFile]:
    """Return who wrote the lines of the file in a commit, by versions from before it."""
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
        # Committed before anything was recorded.
        return _number(text, [BEFORE] * len(split_lines(text)))
    return _blame(history, versions, git, text, ignore_space=ignore_space)


def _blame(
    history: FileHistory,
    versions: list[Version] | tuple[Version, ...],
    git: GitFile | None,
    text: str,
    *,
    ignore_space: bool,
) -> list[LineOfFile]:
    own = [version for version in versions if version.path == history.path]
    authors = find_authors(own, text, _find_base(own, git), ignore_space=ignore_space)
    for path in dict.fromkeys(each.path for each in versions if each.path != history.path):
        copies = [version for version in versions if version.path == path]
        others = find_authors(copies, text, ignore_space=ignore_space)
        authors = [
            other
            if other.kind is AuthorKind.CLAUDE and mine.kind is not AuthorKind.CLAUDE
            else mine
            for mine, other in zip(authors, others, strict=True)
        ]
    return _number(text, authors)


def _number(text: str, authors: list[Author]) -> list[LineOfFile]:
    pairs = zip(split_lines(text), authors, strict=True)
    return [
        LineOfFile(number, line.rstrip("\n"), author)
        for number, (line, author) in enumerate(pairs, 1)
    ]


def _find_base(own: list[Version], git: GitFile | None) -> str | None:
    """Return the committed content before the first version, if there was a file."""
    if git is None or not own:
        return None
    first = own[0]
    if first.change is not None and first.change.is_new:
        return None
    return git.find_text_before(first.origin.time)
