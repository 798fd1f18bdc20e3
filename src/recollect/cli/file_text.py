"""Find the history of a file for commands, and show its versions as a table, a diff or JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from recollect.cli.command_workspace import command_workspace
from recollect.cli.session_labels import join_lines, label_id
from recollect.cli.tables import GAP, faint, pad, strong
from recollect.documents.file_versions import FileDocument, VersionEntry
from recollect.errors import NothingFound
from recollect.quantities import format_time
from recollect.render.terminal import measure, safe_text
from recollect.render.terminal.safe_text import clip
from recollect.session.times import parse_time

if TYPE_CHECKING:
    from recollect.versions.file_history import FileHistory
    from recollect.versions.git_blobs import GitFile
    from recollect.versions.replay import Version

SCHEMA = "recollect.file/1"
_MIN_PROMPT_WIDTH = 10
_HEADINGS = ("", "when", "session", "turn", "how", "known", "+", "-")
_SIDES = "><<><<>>"


class FileRequest(NamedTuple):
    """Which file is asked about, and where to look."""

    path: Path
    claude_dirs: Sequence[Path] = ()
    moved_from: Sequence[Path] = ()
    all_projects: bool = False


class FoundFile(NamedTuple):
    """The history of a file, and its repository if there is one."""

    history: FileHistory
    git: GitFile | None


moved_from_option = click.option(
    "--moved-from",
    multiple=True,
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Also search sessions from DIR, where the project used to be. Can be repeated.",
)

all_projects_option = click.option(
    "--all-projects", is_flag=True, help="Search the sessions of all projects."
)


def load_history(request: FileRequest, *, with_git: bool = True) -> FoundFile:
    """Return the versions of a file; raise NothingFound if no session names it.

    Other projects are searched too if those around the file know nothing about it.
    """
    from recollect.versions.file_history import find_history, select_transcripts_of
    from recollect.versions.target_files import describe_target, find_project_root

    with command_workspace(request.claude_dirs) as workspace:
        every = workspace.require_sessions()
    aliases = describe_target(request.path, request.moved_from)
    root = find_project_root(Path(aliases.path))
    git = _find_git(root, Path(aliases.path)) if with_git else None
    find_base = git.find_base if git else None
    near = every if request.all_projects else select_transcripts_of(aliases, every)
    history = find_history(aliases, near, find_base)
    if not history.versions and len(near) < len(every):
        history = find_history(aliases, every, find_base)
    if not history.versions:
        raise NothingFound(
            f"No session has recorded a version of {request.path}. If the project was moved, name "
            "its earlier directory with --moved-from."
        )
    return FoundFile(history, git)


def _find_git(root: Path, path: Path) -> GitFile | None:
    from recollect.versions.git_blobs import GitFile
    from recollect.versions.target_files import has_repository

    return GitFile(root, path) if has_repository(root) else None


def report_unreadable(history: FileHistory) -> None:
    """Print which transcripts could not be read."""
    for each in history.unreadable:
        click.echo(f"recollect: {safe_text(each)}", err=True)


def describe_history(history: FileHistory) -> FileDocument:
    """Convert a history to the document of `--json`."""
    return FileDocument(
        schema=SCHEMA,
        path=history.path,
        sessions=history.sessions,
        versions=tuple(map(describe_version, history.versions)),
    )


def describe_version(version: Version) -> VersionEntry:
    """Convert a version to a document entry."""
    origin = version.origin
    return VersionEntry(
        number=version.number,
        session=origin.session_id,
        turn=origin.turn,
        uuid=origin.uuid,
        time=origin.time,
        known=version.known.value,
        kind=version.kind.value,
        added=version.added,
        removed=version.removed,
        path=version.path,
        tool=origin.tool if version.change else None,
        agent=origin.agent_id,
        model=origin.model if version.change else None,
        prompt=origin.prompt,
        causes=tuple(cause.kind.value for cause in version.causes),
    )


def iter_versions(history: FileHistory, columns: int) -> Iterator[str]:
    """Yield one line per version under headings, and what the history says in all."""
    rows = [_HEADINGS, *map(_make_cells, history.versions)]
    widths = [max(map(measure, column)) for column in zip(*rows, strict=True)]
    room = max(columns - sum(widths) - len(GAP) * len(widths), _MIN_PROMPT_WIDTH)
    yield strong(safe_text(history.path, single_line=True))
    lasts = ["prompt", *map(name_reason, history.versions)]
    for number, (row, last) in enumerate(zip(rows, lasts, strict=True)):
        cells = [pad(*cell) for cell in zip(row, widths, _SIDES, strict=True)]
        line = GAP.join([*cells, clip(last, room)]).rstrip()
        yield line if number else faint(line)


def _make_cells(version: Version) -> tuple[str, ...]:
    origin = version.origin
    how = origin.tool if version.change and origin.tool else version.kind.value
    return (
        f"{version.number}",
        format_time(parse_time(origin.time)),
        label_id(origin.session_id),
        f"{origin.turn or ''}",
        safe_text(f"{how}, subagent" if origin.agent_id else how, single_line=True),
        version.known.value,
        f"+{version.added:,}",
        f"-{version.removed:,}",
    )


def name_reason(version: Version) -> str:
    """Return the prompt behind a version, or what may have changed the file from outside."""
    if version.change is None and version.causes:
        kinds = ", ".join(cause.kind.value for cause in version.causes)
        return join_lines(f"maybe: {kinds}")
    return join_lines(version.origin.prompt) if version.change else ""


def iter_diff(old: tuple[str, str], new: tuple[str, str]) -> Iterator[str]:
    """Yield a unified diff of two texts, each with its name; nothing if they are equal."""
    before, after = (_split_lines(text) for _, text in (old, new))
    lines = unified_diff(before, after, old[0], new[0], lineterm="")
    for number, line in enumerate(lines):
        is_name = number < _NAME_LINES
        shown = safe_text(line.removesuffix("\n"), single_line=True)
        yield shown if is_name else click.style(shown, fg=_COLOURS.get(line[:1]))
        if not (is_name or line.startswith("@") or line.endswith("\n")):
            yield _NO_NEWLINE


def _split_lines(text: str) -> list[str]:
    """Return the lines with their ends; only `\\n` ends a line, and the last one may have none."""
    *lines, last = text.split("\n")
    return [*(f"{line}\n" for line in lines), *([last] if last else [])]


_COLOURS = {"+": "green", "-": "red", "@": "cyan"}
_NAME_LINES = 2
_NO_NEWLINE = "\\ No newline at end of file"


def name_version(version: Version) -> str:
    """Return what messages and diffs call a version."""
    return f"{Path(version.path).name} (version {version.number}, {version.known.value})"
