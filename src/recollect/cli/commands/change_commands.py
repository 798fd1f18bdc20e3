"""What sessions changed: `recollect files`, the file changes of a session or project; `recollect
commits`, the commits that a session made; and `recollect why`, the prompts behind a commit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
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
from recollect.quantities import format_count, format_date, format_time
from recollect.render.terminal import clip, measure, safe_text, shorten, shorten_folder
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
    shown = safe_text(path, single_line=True)
    return f"{shown} (new)" if change.action is kinds.FileAction.CREATE else shown


def _make_cells(
    change: file_versions.FileChange, render_options: RenderOptions, *, with_sessions: bool
) -> list[str]:
    tool = f"{change.tool}, subagent" if change.agent_id else change.tool
    session = [terminal_output.label_id(change.session_id)]
    return [
        format_time(parse_time(change.timestamp), render_options.zone),
        *(session if with_sessions else []),
        safe_text(tool, single_line=True),
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


_repo_option = partial(click.option, "--repo", metavar="DIR", type=click.Path(path_type=Path))
_SHORT = 10
_MIN_SUBJECT_WIDTH = 10
_SIDES = "<<<<"


@click.command("commits")
@session_argument()
@_repo_option(help="Use this git repository. Default: the one in the session's directory.")
@terminal_output.pager_option
@terminal_output.colour_option
@claude_dir_option
@json_option
def commits_command(
    session: str,
    repo: Path | None,
    paged: bool,
    claude_dirs: tuple[Path, ...],
    as_json: bool,
) -> None:
    """List the commits that a session made.

    Each commit is listed with the evidence for it: `printed` (a command in the session printed its
    hash), `note` (a git-ai note names the session), `trailer` (an `Entire-Checkpoint` trailer,
    written by the Entire CLI, names the session), `content` (a file in it is exactly as the session
    left it, even if it was committed later or rebased), or `time`, which is only a hint: it is on
    the session's branch and was made during the session or within an hour of its end.

    \b
      recollect commits latest
      recollect commits latest --json | jq -r '.commits[].commit'

    Exits with 3 if there is no such session or no repository.
    """
    from recollect.workspace.commit_queries import find_commits

    with command_workspace(claude_dirs) as workspace:
        document = find_commits(workspace, session, repo)
    if as_json:
        click.echo(format_document(document))
    elif not document.commits:
        raise NothingFound(f"No commit in {document.repository} belongs to the session.")
    else:
        terminal_output.show_lines(
            _iter_commits(document, terminal_output.count_table_columns()), is_paged=paged
        )


def _iter_commits(document: file_versions.CommitsDocument, columns: int) -> Iterator[str]:
    rows = [("commit", "when", "how", "turns"), *map(_make_commit_cells, document.commits)]
    widths = [max(map(measure, column)) for column in zip(*rows, strict=True)]
    room = max(columns - sum(widths) - len(terminal_output.GAP) * len(widths), _MIN_SUBJECT_WIDTH)
    subjects = ["subject", *(_name_subject(each) for each in document.commits)]
    for number, (row, subject) in enumerate(zip(rows, subjects, strict=True)):
        cells = [terminal_output.pad(*cell) for cell in zip(row, widths, _SIDES, strict=True)]
        line = terminal_output.GAP.join([*cells, clip(subject, room)]).rstrip()
        yield line if number else terminal_output.faint(line)


def _make_commit_cells(entry: file_versions.CommitEntry) -> tuple[str, str, str, str]:
    turns = ", ".join(map(str, entry.turns))
    return entry.commit[:_SHORT], format_time(parse_time(entry.time)), entry.how, turns


def _name_subject(entry: file_versions.CommitEntry) -> str:
    if entry.subject is None:
        return "(not in this repository: amended, rebased or elsewhere)"
    return terminal_output.join_lines(entry.subject)


_MIN_PROMPT_WIDTH = 10


@click.command("why")
@click.argument("commit", default="HEAD")
@_repo_option(help="Use this git repository. Default: the one in the current directory.")
@click.option(
    "--write-note",
    is_flag=True,
    help="Save this as a git-ai note (refs/notes/ai) on the commit.",
)
@terminal_output.pager_option
@terminal_output.colour_option
@claude_dir_option
@json_option
def why_command(
    *,
    commit: str,
    repo: Path | None,
    write_note: bool,
    paged: bool,
    claude_dirs: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Show the prompts behind a commit.

    COMMIT is HEAD by default. Each line that it added is attributed to the prompt that wrote it,
    as by `recollect blame`. Nothing is written to the repository unless you use --write-note.

    \b
      recollect why
      recollect why HEAD~3
      recollect why v1.2 --json | jq '.prompts[].prompt'

    Exits with 3 if there is no such commit.
    """
    from recollect.workspace.commit_queries import explain_commit

    with command_workspace(claude_dirs) as workspace:
        found = explain_commit(workspace, commit, repo or Path.cwd())
    document = found.document
    if write_note:
        if not document.prompts:
            raise UsageError(
                "No note was added: no line of the commit is known to be from a session."
            )
        found.repository.write_note(document.commit, found.note)
    if as_json:
        click.echo(format_document(document))
        return
    terminal_output.show_lines(
        _iter_reasons(document, terminal_output.count_columns()), is_paged=paged
    )
    if write_note:
        click.echo(f"Added a git-ai note to {document.commit[:_SHORT]}.")


def _iter_reasons(document: file_versions.WhyDocument, columns: int) -> Iterator[str]:
    yield terminal_output.strong(
        f"{document.commit[:_SHORT]}  {terminal_output.join_lines(document.subject)}"
    )
    yield from iter_prompts(document.prompts, columns)
    rest = {"not by Claude Code": document.other, "unknown": document.unknown}
    yield from iter_other_counts(rest, document.added)
    for each in document.sessions:
        name = terminal_output.label_id(each.session)
        at = f", turn {each.turn}" if each.turn else ""
        yield terminal_output.faint(
            f"Session {safe_text(name, single_line=True)}{at}: by {_HOW[each.how]}."
        )


_HOW = {
    "printed": "the output of its command",
    "note": "a git-ai note",
    "trailer": "an Entire trailer",
}


def iter_prompts(prompts: Sequence[file_versions.PromptLines], columns: int) -> Iterator[str]:
    """Yield a line for each prompt: how many lines it wrote, its turn, its model and its words."""
    if not prompts:
        return
    rows = [("lines", "turn", "when", "model"), *map(_make_prompt_cells, prompts)]
    widths = [max(map(measure, column)) for column in zip(*rows, strict=True)]
    room = max(columns - sum(widths) - len(terminal_output.GAP) * len(widths), _MIN_PROMPT_WIDTH)
    texts = ["prompt", *(terminal_output.join_lines(each.prompt) for each in prompts)]
    for number, (row, text) in enumerate(zip(rows, texts, strict=True)):
        cells = [terminal_output.pad(*cell) for cell in zip(row, widths, "><<<", strict=True)]
        line = terminal_output.GAP.join([*cells, clip(text, room)]).rstrip()
        yield line if number else terminal_output.faint(line)


def _make_prompt_cells(entry: file_versions.PromptLines) -> tuple[str, str, str, str]:
    moment = parse_time(entry.time)
    return (
        f"{entry.lines:,}",
        f"{terminal_output.label_id(entry.session)}:{entry.turn or '?'}",
        format_date(moment) if moment else "",
        safe_text(entry.model or "", single_line=True),
    )


def iter_other_counts(counts: dict[str, int], total: int) -> Iterator[str]:
    """Yield the number of lines from elsewhere, by kind."""
    for name, count in counts.items():
        if count:
            yield f"{format_count(count, 'line')} of {total:,} {name}"
