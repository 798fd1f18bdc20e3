"""Things that a prompt can refer to: files and folders of a project, its changes, commits, pasted
texts.

Files that git ignores are left out; without git, hidden files and everything in hidden directories.
Links are not followed, nothing outside the directory is read, and all lists are limited.
"""

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

from recollect.documents.kinds import Context, ContextKind
from recollect.versions.git_repository import run_git

MAX_FILES: Final = 50_000
MAX_CONTENT: Final = 60_000
"""Maximum number of characters of a change to attach to a prompt; Claude Code can read the rest
itself."""

_COMMIT: Final = re.compile("[0-9a-f]{7,64}")
_FIELD: Final = "\x1f"
_UNTRACKED: Final = "??"


ReferenceKind = Literal[
    "file", "folder", "web", "selection", "terminal", "problems", "changes", "commit"
]


class ContextReference(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A reference in a prompt."""

    kind: ReferenceKind
    name: Annotated[str, Meta(max_length=4096)] = ""
    """The path, the URL, the hash of the commit, or the source of a text."""
    text: Annotated[str, Meta(max_length=1_000_000)] = ""
    """The pasted text: a selection, terminal output, problems."""


class ProjectPath(Struct, frozen=True):
    """A file or folder, relative to the project, with `/` between its parts."""

    path: str
    is_folder: bool = False


class Commit(Struct, frozen=True):
    """A commit of the current branch."""

    hash: str
    subject: str


def list_paths(directory: Path) -> tuple[ProjectPath, ...]:
    """Return the files of a project, and all folders that contain files."""
    files = _list_tracked(directory)
    if files is None:
        files = list(_iter_files(directory))
    folders = {folder for file in files for folder in _iter_folders(file)}
    return (
        *(ProjectPath(folder, is_folder=True) for folder in sorted(folders)),
        *(ProjectPath(file) for file in sorted(files)),
    )


def _list_tracked(directory: Path) -> list[str] | None:
    options = ("--cached", "--others", "--exclude-standard", "--deduplicate")
    listed = run_git(directory, "ls-files", "-z", *options)
    if listed is None:
        return None
    names = (os.fsdecode(name) for name in listed.split(b"\0")[:MAX_FILES] if name)
    return [name for name in names if os.path.lexists(directory / name)]


def _iter_files(directory: Path) -> Iterator[str]:
    left = MAX_FILES
    for place, folders, names in os.walk(directory):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        shown = [name for name in sorted(names) if not name.startswith(".")]
        for name in shown[:left]:
            yield Path(place, name).relative_to(directory).as_posix()
        left -= len(shown)
        if left <= 0:
            return


def _iter_folders(file: str) -> Iterator[str]:
    while "/" in file:
        file = file.rpartition("/")[0]
        yield file


def match_paths(
    paths: Sequence[ProjectPath], query: str, limit: int = 12
) -> tuple[ProjectPath, ...]:
    """Return the best matches: names that start with the query, then names that contain it."""
    wanted = query.lower()
    ranked = ((_rank(each, wanted), len(each.path), each.path, each) for each in paths)
    found = sorted((each for each in ranked if each[0] is not None), key=lambda each: each[:3])
    return tuple(each[-1] for each in found[:limit])


def _rank(path: ProjectPath, wanted: str) -> int | None:
    text = path.path.lower()
    name = text.rpartition("/")[2]
    if not wanted:
        return text.count("/")
    tests = (text == wanted, name.startswith(wanted), wanted in name, wanted in text)
    found = next((rank for rank, matches in enumerate(tests) if matches), None)
    return 4 if found is None and _has_letters(text, wanted) else found


def _has_letters(text: str, wanted: str) -> bool:
    """Return whether `text` contains the letters of `wanted` in this order."""
    letters = iter(text)
    return all(letter in letters for letter in wanted)


def list_commits(directory: Path, limit: int = 20) -> tuple[Commit, ...]:
    """Return the latest commits of a project's branch; none without git."""
    listed = run_git(directory, "log", f"--max-count={limit}", "--format=%H%x1f%s")
    lines = (listed or b"").decode("utf-8", "replace").splitlines()
    return tuple(Commit(*line.split(_FIELD, 1)) for line in lines if _FIELD in line)


def list_changed(directory: Path) -> tuple[str, ...]:
    """Return the files with uncommitted changes, including untracked files."""
    return tuple(path for _, path in _list_status(directory))


def read_changes(directory: Path) -> str:
    """Return the uncommitted changes of a project as a diff; their summary if it is too long.

    Untracked files are listed after it.
    """
    names = [path for code, path in _list_status(directory) if code == _UNTRACKED]
    untracked = "\n".join(("Untracked files:", *names)) if names else ""
    found = (_read_diff(directory, "diff", "HEAD"), untracked)
    return "\n".join(filter(None, found))[:MAX_CONTENT]


def _list_status(directory: Path) -> list[tuple[str, str]]:
    """Return the status of each file in git, two letters, and its path."""
    options = ("--porcelain=1", "-z", "--no-renames", "--untracked-files=all")
    listed = (run_git(directory, "status", *options) or b"").split(b"\0")
    return [(each[:2].decode(), os.fsdecode(each[3:])) for each in listed if each]


def read_commit(directory: Path, commit: str) -> str:
    """Return a commit with its diff, or its summary if that is too long; "" if there is none."""
    if not _COMMIT.fullmatch(commit):
        return ""
    return _read_diff(directory, "show", commit)


def _read_diff(directory: Path, command: str, revision: str) -> str:
    patch = _run_diff(directory, command, "--patch", revision)
    if len(patch) <= MAX_CONTENT:
        return patch
    return _run_diff(directory, command, "--stat", revision)[:MAX_CONTENT]


def _run_diff(directory: Path, command: str, form: str, revision: str) -> str:
    safe = ("--no-ext-diff", "--no-textconv", "--no-color")
    return (run_git(directory, command, *safe, form, revision, "--") or b"").decode(
        "utf-8", "replace"
    )


_PASTED: Final = {
    "selection": (ContextKind.SELECTION, "selection"),
    "terminal": (ContextKind.TERMINAL, "terminal output"),
    "problems": (ContextKind.PROBLEMS, "problems"),
}


def read_reference(directory: Path, wanted: ContextReference) -> tuple[Context, str]:
    """Return a reference as context of a prompt, and the text to attach."""
    match wanted.kind:
        case "file":
            return Context(ContextKind.FILE, f"`{wanted.name}`", wanted.name), ""
        case "folder":
            return Context(ContextKind.FOLDER, f"`{wanted.name}`", wanted.name), ""
        case "web":
            return Context(ContextKind.WEB, wanted.name, wanted.name), ""
        case "changes":
            count = len(list_changed(directory))
            words = f"uncommitted changes ({count} {'file' if count == 1 else 'files'})"
            return Context(ContextKind.GIT, words), read_changes(directory)
        case "commit":
            commit = wanted.name[:12]
            return Context(ContextKind.GIT, f"commit `{commit}`", commit), read_commit(
                directory, wanted.name
            )
    kind, words = _PASTED[wanted.kind]
    count = wanted.text.count("\n") + 1
    origin = f" from `{wanted.name}`" if wanted.name else ""
    lines = f"{count} {'line' if count == 1 else 'lines'}"
    return Context(kind, f"{words}{origin} ({lines})", wanted.name or None), wanted.text
