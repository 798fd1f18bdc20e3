"""`recollect commits`: the commits that a session made."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from recollect.cli.command_workspace import command_workspace
from recollect.cli.json_output import format_document
from recollect.cli.options import claude_dir_option, json_option, session_argument
from recollect.cli.paging import pager_option, show_lines
from recollect.cli.session_labels import join_lines
from recollect.cli.tables import GAP, colour_option, count_table_columns, faint, pad
from recollect.documents.file_versions import CommitEntry, CommitsDocument
from recollect.errors import NothingFound
from recollect.quantities import format_time
from recollect.render.terminal import measure
from recollect.render.terminal.safe_text import clip
from recollect.session.times import parse_time

repo_option = click.option(
    "--repo",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Use this git repository. Default: for a commit, that of the current directory; for a "
    "session, that of its directory.",
)
_SHORT = 10
_MIN_SUBJECT_WIDTH = 10
_SIDES = "<<<<"


@click.command("commits")
@session_argument()
@repo_option
@pager_option
@colour_option
@claude_dir_option
@json_option
def command(
    session: str,
    repo: Path | None,
    paged: bool,
    claude_dirs: tuple[Path, ...],
    as_json: bool,
) -> None:
    """List the commits that a session made.

    Each commit is listed with the evidence for it: `printed` (a command of the session printed its
    hash), `note` (a note of git-ai names the session), `trailer` (an `Entire-Checkpoint` trailer,
    written by the Entire CLI, names the session), `content` (a file in it is exactly as the session
    left it, even if it was committed later or rebased), or `time`, which is only a hint: it is on
    the session's branch and was made during the session or within an hour after it.

    \b
      recollect commits latest
      recollect commits latest --json | jq -r '.commits[].commit'

    Exits with 3 if there is no such session or no repository.
    """
    from recollect.workspace.commit_questions import find_commits

    with command_workspace(claude_dirs) as workspace:
        document = find_commits(workspace, session, repo)
    if as_json:
        click.echo(format_document(document))
    elif not document.commits:
        raise NothingFound(f"No commit in {document.repository} belongs to the session.")
    else:
        show_lines(_iter_lines(document, count_table_columns()), is_paged=paged)


def _iter_lines(document: CommitsDocument, columns: int) -> Iterator[str]:
    rows = [("commit", "when", "how", "turns"), *map(_make_cells, document.commits)]
    widths = [max(map(measure, column)) for column in zip(*rows, strict=True)]
    room = max(columns - sum(widths) - len(GAP) * len(widths), _MIN_SUBJECT_WIDTH)
    subjects = ["subject", *(_name_subject(each) for each in document.commits)]
    for number, (row, subject) in enumerate(zip(rows, subjects, strict=True)):
        cells = [pad(*cell) for cell in zip(row, widths, _SIDES, strict=True)]
        line = GAP.join([*cells, clip(subject, room)]).rstrip()
        yield line if number else faint(line)


def _make_cells(entry: CommitEntry) -> tuple[str, str, str, str]:
    turns = ", ".join(map(str, entry.turns))
    return entry.commit[:_SHORT], format_time(parse_time(entry.time)), entry.how, turns


def _name_subject(entry: CommitEntry) -> str:
    if entry.subject is None:
        return "(not in this repository: amended, rebased or elsewhere)"
    return join_lines(entry.subject)
