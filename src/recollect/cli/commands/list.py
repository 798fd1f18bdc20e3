"""`recollect list`: sessions, most recently active first."""

import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TypedDict, Unpack

import click

from recollect.cli.clock import read_clock
from recollect.cli.command_workspace import command_workspace
from recollect.cli.list_text import iter_lines, list_marks, list_rows
from recollect.cli.options import (
    claude_dir_option,
    json_option,
    prices_option,
    since_option,
    until_option,
)
from recollect.cli.paging import pager_option, show_lines
from recollect.cli.tables import count_table_columns
from recollect.documents.session_listing import SessionListing
from recollect.errors import NothingFound, UsageError
from recollect.library.session_filters import SessionQuery

DEFAULT_LIMIT = 20


class _Options(TypedDict):
    project: str | None
    branch: str | None
    model: str | None
    since: str | None
    until: str | None
    errors: bool
    starred: bool
    subagents: bool
    tree: bool
    limit: int
    paged: bool
    prices: Path | None
    claude_dirs: tuple[Path, ...]
    as_json: bool
    json_lines: bool
    cost: bool


@click.command("list")
@click.argument("text", required=False)
@click.option("--project", metavar="TEXT", help="Only projects whose path contains TEXT.")
@click.option("--branch", metavar="NAME", help="Only sessions that ended on this git branch.")
@click.option(
    "--model", metavar="TEXT", help="Only sessions with a model whose name contains TEXT."
)
@since_option
@until_option
@click.option("--errors", is_flag=True, help="Only sessions with failed tool or API calls.")
@click.option("--starred", is_flag=True, help="Only sessions that you starred.")
@click.option("--subagents", is_flag=True, help="Include subagents.")
@click.option(
    "--tree", is_flag=True, help="Show forks, continuations and subagents below their session."
)
@click.option(
    "-n",
    "--limit",
    default=DEFAULT_LIMIT,
    show_default=True,
    type=click.IntRange(min=0),
    metavar="N",
    help="Maximum number of rows; 0 for all.",
)
@click.option("--cost", is_flag=True, help="Show the cost of each session at list prices.")
@pager_option
@prices_option
@claude_dir_option
@json_option
@click.option("--json-lines", is_flag=True, help="Output JSON Lines, one session per line.")
def command(text: str | None, **options: Unpack[_Options]) -> int:
    """List sessions, most recently active first.

    TEXT is matched against titles, first prompts and ids. Other commands accept an id, the start of
    one, or words from a title as SESSION.

    --errors and --model read every transcript in full the first time; after that, the list also
    shows turn, message and error counts.

    \b
      recollect list
      recollect list flaky --project tidepool --since 7d
      recollect list --errors --model opus
      recollect list --tree -n 5
      recollect list -n 0 --json-lines | jq -r .title

    Exits with 3 if no session matches.
    """
    if options["as_json"] and options["json_lines"]:
        raise UsageError("Use only one of --json and --json-lines.")
    since, until = _find_range(options["since"], options["until"])
    query = SessionQuery(
        text=text,
        project=options["project"],
        branch=options["branch"],
        model=options["model"],
        since=since,
        until=until,
        has_errors=options["errors"],
        is_starred=options["starred"],
        include_subagents=options["subagents"],
    )
    is_json = options["as_json"] or options["json_lines"]
    with command_workspace(options["claude_dirs"], prices=options["prices"]) as workspace:
        found = workspace.sessions(
            query,
            page_size=options["limit"] or None,
            with_usage=is_json or options["cost"],
            as_tree=options["tree"],
        )
        if not found.sessions:
            workspace.require_sessions()
            raise NothingFound("No matching sessions. Try fewer filters, or `recollect list -n 0`.")
    if is_json:
        _print_json(found.sessions, None if options["json_lines"] else found.total)
    else:
        print_table(found.sessions, found.total, is_paged=options["paged"])
    return 0


def _find_range(since: str | None, until: str | None) -> tuple[datetime | None, datetime | None]:
    if not since and not until:
        return None, None
    from recollect.session.calendar import parse_range  # rarely needed

    return parse_range(since, until, read_clock())


def _print_json(entries: tuple[SessionListing, ...], total: int | None) -> None:
    """Print one document, or one line per session if there is no total."""
    from recollect.cli.json_output import format_document, format_line  # only for JSON

    if total is not None:
        from recollect.documents.session_documents import ListDocument  # only for JSON

        click.echo(format_document(ListDocument(total=total, sessions=entries)))
        return
    for entry in entries:
        click.echo(format_line(entry))


def print_table(entries: Sequence[SessionListing], total: int, *, is_paged: bool) -> None:
    """Print the table to stdout, and the legend to stderr."""
    now, rows = read_clock(), list_rows(entries)
    lines = iter_lines(rows, count_table_columns(), now, is_terminal=sys.stdout.isatty())
    show_lines(lines, is_paged=is_paged)
    if len(entries) < total:
        click.echo(f"… and {total - len(entries):,} more; use -n 0 to show all.", err=True)
    for meaning in list_marks(rows, now):
        click.echo(meaning, err=True)
