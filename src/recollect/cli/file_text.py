"""Find the history of a file for commands, and show its versions as a table or a diff."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import click

from recollect.cli.clock import read_clock
from recollect.cli.command_workspace import command_workspace
from recollect.cli.terminal_output import GAP, faint, join_lines, label_id, pad, strong
from recollect.errors import UsageError
from recollect.locations.place_names import PlaceName
from recollect.quantities import format_time
from recollect.redact.quick_masks import mask_lines, mask_path
from recollect.render.terminal import clip, measure, safe_line, safe_text
from recollect.session.times import parse_time

if TYPE_CHECKING:
    from recollect.versions.file_history import FileHistory
    from recollect.versions.replay import Version
    from recollect.workspace.file_queries import FoundFile

_MIN_PROMPT_WIDTH = 10
_HEADINGS = ("", "when", "session", "turn", "how", "known", "+", "-")
_SIDES = "><<><<>>"


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


class SearchOptions(TypedDict):
    """Where to look for a file."""

    moved_from: tuple[Path, ...]
    all_projects: bool
    claude_dirs: tuple[Path, ...]


def load_history(path: Path, options: SearchOptions) -> FoundFile:
    """Return the versions of a file; raise NothingFound if no session mentions it."""
    from recollect.versions.file_paths import is_directory
    from recollect.workspace.file_queries import FileRequest, find_file

    if is_directory(path):
        raise UsageError(f"{path} is a directory. Specify a file.")
    with command_workspace(options["claude_dirs"]) as workspace:
        request = FileRequest(path, options["moved_from"], options["all_projects"])
        return find_file(workspace, request)


def find_version(name: str, history: FileHistory, options: SearchOptions) -> Version:
    """Find a version by number, time or turn; raises NothingFound if there is none."""
    from recollect.versions import file_restore

    def check_turn(session_id: str, turn: int) -> None:
        # The session model; other names do not need it.
        from recollect.workspace import session_places

        with command_workspace(options["claude_dirs"]) as workspace:
            session = workspace.open(session_id, with_prices=False)
        session_places.locate(session, PlaceName(session_id, turn=turn))

    return file_restore.find_version(name, history.versions, read_clock(), check_turn)


def report_unreadable(history: FileHistory) -> None:
    """Print the transcripts that could not be read."""
    for each in history.unreadable:
        click.echo(f"recollect: {safe_text(each)}", err=True)


def iter_versions(history: FileHistory, columns: int) -> Iterator[str]:
    """Yield one line per version, grouped under headings, and remarks on the history."""
    rows = [_HEADINGS, *map(_make_cells, history.versions)]
    widths = [max(map(measure, column)) for column in zip(*rows, strict=True)]
    room = max(columns - sum(widths) - len(GAP) * len(widths), _MIN_PROMPT_WIDTH)
    yield strong(safe_line(mask_path(history.path)))
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
        safe_line(f"{how}, subagent" if origin.agent_id else how),
        version.known.value,
        f"+{version.added:,}",
        f"-{version.removed:,}",
    )


def name_reason(version: Version) -> str:
    """Return the prompt behind a version, or the possible causes of an outside change."""
    if version.change is None and version.causes:
        kinds = ", ".join(cause.kind.value for cause in version.causes)
        return join_lines(f"possibly: {kinds}")
    return join_lines(version.origin.prompt) if version.change else ""


def iter_diff(old: tuple[str, str], new: tuple[str, str], *, reveal: bool = False) -> Iterator[str]:
    """Yield a unified diff of two texts, each with its name; nothing if they are equal.

    Texts are compared unmasked, so that a changed secret is a changed line, and then masked.
    """
    before, after = (_split_lines(text) for _, text in (old, new))
    masked = {} if reveal else {**_mask_lines(old[1]), **_mask_lines(new[1])}
    lines = unified_diff(before, after, old[0], new[0], lineterm="")
    for number, line in enumerate(lines):
        is_name = number < _NAME_LINES
        text = line.removesuffix("\n")
        if not is_name and text[1:] in masked:
            text = text[0] + masked[text[1:]]
        shown = safe_line(text) if is_name else safe_text(text)
        yield shown if is_name else click.style(shown, fg=_COLOURS.get(line[:1]))
        if not (is_name or line.startswith("@") or line.endswith("\n")):
            yield _NO_NEWLINE


def _mask_lines(text: str) -> dict[str, str]:
    """Return the masked form of each line that contains a definite secret or part of one."""
    pairs = zip(text.split("\n"), mask_lines(text), strict=True)
    return {line: masked for line, masked in pairs if line != masked}


def _split_lines(text: str) -> list[str]:
    """Return the lines with their ends; only `\\n` ends a line, and the last one may have none."""
    *lines, last = text.split("\n")
    return [*(f"{line}\n" for line in lines), *([last] if last else [])]


_COLOURS = {"+": "green", "-": "red", "@": "cyan"}
_NAME_LINES = 2
_NO_NEWLINE = "\\ No newline at end of file"


def name_version(version: Version) -> str:
    """Return the name of a version in messages and diffs."""
    return f"{mask_path(Path(version.path).name)} (version {version.number}, {version.known.value})"
