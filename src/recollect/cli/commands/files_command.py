"""`recollect files`: the file changes of a session or project, as a list, diffs or JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

import click
from rich.text import Text

from recollect.cli import terminal_output
from recollect.cli.command_workspace import command_workspace
from recollect.cli.json_output import format_document, format_line
from recollect.cli.options import claude_dir_option, json_option, session_argument
from recollect.documents import file_versions, kinds, turn_documents
from recollect.errors import NothingFound, UnreadableInput, UsageError
from recollect.library.session_filters import SessionQuery
from recollect.quantities import format_count, format_time
from recollect.render.terminal import measure, safe_line, safe_text, shorten, shorten_folder
from recollect.render.terminal.canvas import Canvas, RenderOptions
from recollect.render.terminal.terminal_parts import render_part
from recollect.render.terminal.terminal_prose import render_diff, show_change
from recollect.session.times import parse_time

if TYPE_CHECKING:
    from recollect.session.session import Session


_MIN_PATH_WIDTH = 16


def iter_list(
    changes: Sequence[file_versions.FileChange],
    render_options: RenderOptions,
    *,
    with_sessions: bool,
) -> Iterator[str]:
    """Yield one line per change, and the totals."""
    rows = [_make_cells(change, render_options, with_sessions=with_sessions) for change in changes]
    widths = [max(map(measure, column)) for column in zip(*rows, strict=True)]
    room = render_options.columns - sum(widths) - len(terminal_output.GAP) * len(widths)
    path_room = max(room, _MIN_PATH_WIDTH)
    sides = "<" * (len(widths) - 2) + ">>"
    for change, row in zip(changes, rows, strict=True):
        cells = [terminal_output.pad(*cell) for cell in zip(row, widths, sides, strict=True)]
        path = shorten(shorten_folder(show_path(change), path_room), path_room)
        yield terminal_output.GAP.join([*_paint(cells), path]).rstrip()
    yield ""
    yield describe_sum(changes)


def describe_origin(
    change: file_versions.FileChange, render_options: RenderOptions, *, with_sessions: bool
) -> str:
    """Return the time, the tool and the session of a change."""
    when, *names, _, _ = _make_cells(change, render_options, with_sessions=with_sessions)
    return terminal_output.GAP.join([when, *names])


def describe_sum(changes: Sequence[file_versions.FileChange]) -> str:
    """Return the totals of some changes."""
    files = len({change.path for change in changes})
    added = sum(change.lines_added for change in changes)
    removed = sum(change.lines_removed for change in changes)
    counts = f"{format_count(len(changes), 'change')} in {format_count(files, 'file')}"
    return terminal_output.strong(f"{counts}, +{added:,} -{removed:,} lines")


def show_path(change: file_versions.FileChange) -> str:
    """Return the path, relative to the session's directory if possible; marks new files."""
    path = RenderOptions(directory=change.cwd).show_path(change.path)
    shown = safe_line(path)
    return f"{shown} (new)" if change.action is kinds.FileAction.CREATE else shown


def _make_cells(
    change: file_versions.FileChange, render_options: RenderOptions, *, with_sessions: bool
) -> list[str]:
    tool = f"{change.tool}, subagent" if change.agent_id else change.tool
    session = [terminal_output.label_id(change.session_id)]
    return [
        format_time(parse_time(change.timestamp), render_options.zone),
        *(session if with_sessions else []),
        safe_line(tool),
        f"+{change.lines_added:,}",
        f"-{change.lines_removed:,}",
    ]


def _paint(cells: Sequence[str]) -> list[str]:
    *names, added, removed = cells
    signs = [click.style(added, fg="green"), click.style(removed, fg="red")]
    return [*map(terminal_output.faint, names), *signs]


def iter_diffs(
    changes: Sequence[file_versions.FileChange],
    render_options: RenderOptions,
    *,
    with_sessions: bool,
) -> Iterator[str]:
    """Yield each change as a diff with a heading, and the totals."""
    canvas = Canvas(render_options)
    for change in changes:
        title = Text.assemble(
            (show_path(change), "bold"),
            f"  {show_change(change.lines_added, change.lines_removed)}",
            (f"  {describe_origin(change, render_options, with_sessions=with_sessions)}", "dim"),
        )
        yield from canvas.wrap(title, render_options.columns)
        yield from map(str.rstrip, _render(change, canvas))
        yield ""
    yield describe_sum(changes)


def _render(change: file_versions.FileChange, canvas: Canvas) -> Iterator[str]:
    for part in change.diff:
        if isinstance(part, turn_documents.Diff):
            yield from render_diff(part, canvas, canvas.options.columns)
        else:
            yield from render_part(part, canvas, canvas.options.columns)


class _Options(TypedDict):
    project: str | None
    diff: bool
    paged: bool
    claude_dirs: tuple[Path, ...]
    as_json: bool
    json_lines: bool


@click.command("files")
@session_argument(required=False)
@click.option(
    "--project", metavar="TEXT", help="All sessions of projects whose path contains TEXT."
)
@click.option("--diff", is_flag=True, help="Show the diff of each change.")
@terminal_output.pager_option
@terminal_output.colour_option
@claude_dir_option
@json_option
@click.option("--json-lines", is_flag=True, help="Output JSON Lines, one change per line.")
def files_command(session: str | None, **options: Unpack[_Options]) -> int:
    """List the file changes of a session or project.

    Lists edits made by tools, in order and including those of subagents; transcripts do not record
    what shell commands did to files. See `recollect show` for how to
    specify SESSION.

    \b
      recollect files latest
      recollect files latest --diff
      recollect files --project tidepool
      recollect files --project tidepool --json | jq -r '.changes[].path' | sort -u

    Exits with 3 if nothing was changed and with 4 if a transcript could not be read.
    """
    from recollect.render.views.overview import list_changes  # the model of a session

    _check(session, options)
    failures: list[str] = []
    sessions = _iter_sessions(session, options, failures)
    changes = list_changes(sessions, with_diff=options["diff"])
    for failure in failures:
        click.echo(f"recollect: {safe_text(failure)}", err=True)
    _print(changes, options)
    return UnreadableInput.exit_code if failures else 0


def _check(session: str | None, options: _Options) -> None:
    if (session is None) == (options["project"] is None):
        raise UsageError("Specify either SESSION or --project.")
    if options["as_json"] and options["json_lines"]:
        raise UsageError("Use only one of --json and --json-lines.")


def _iter_sessions(
    session: str | None, options: _Options, failures: list[str]
) -> Iterator[Session]:
    """Yield the selected sessions; append the reason to `failures` if one cannot be read."""
    with command_workspace(options["claude_dirs"]) as workspace:
        if session is not None:
            yield workspace.open(session, with_prices=False)
            return
        for found in workspace.open_each(SessionQuery(project=options["project"])):
            if isinstance(found, UnreadableInput):
                failures.append(str(found))
            else:
                yield found


def _print(changes: Sequence[file_versions.FileChange], options: _Options) -> None:
    if options["json_lines"]:
        for change in changes:
            click.echo(format_line(change))
    elif options["as_json"]:
        from recollect.render.views.overview import describe_changes  # the model of a session

        click.echo(format_document(describe_changes(changes)))
    elif not changes:
        raise NothingFound("No file changes.")
    else:
        terminal_output.show_lines(_iter_lines(changes, options), is_paged=options["paged"])


def _iter_lines(changes: Sequence[file_versions.FileChange], options: _Options) -> Iterator[str]:
    render_options = RenderOptions(
        columns=terminal_output.count_columns(), is_coloured=terminal_output.wants_colour()
    )
    with_sessions = options["project"] is not None
    if options["diff"]:
        return iter_diffs(changes, render_options, with_sessions=with_sessions)
    return iter_list(changes, render_options, with_sessions=with_sessions)
