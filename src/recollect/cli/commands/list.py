"""`recollect list`: the sessions there are, the most recently active first."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict, Unpack

import click

from recollect.cli.clock import read_clock
from recollect.cli.list.document import Entry, ListDocument, look_around, make_entry
from recollect.cli.list.text import iter_lines, list_marks, list_rows
from recollect.cli.options import claude_dir_option, json_option, since_option, until_option
from recollect.cli.paging import pager_option, show_lines
from recollect.cli.periods import parse_period
from recollect.cli.progress import progress_line
from recollect.cli.roots import find_roots, require_transcripts
from recollect.cli.tables import count_columns
from recollect.errors import NothingFound, UsageError
from recollect.lineage.trees import Tree, build_trees
from recollect.store.place import find_data_directory
from recollect.sync.level import find_transcripts
from recollect.sync.listings import list_level
from recollect.sync.selection import Conditions, select

DEFAULT_LIMIT = 20


class _Options(TypedDict):
    project: str | None
    branch: str | None
    model: str | None
    since: str | None
    until: str | None
    errors: bool
    subagents: bool
    tree: bool
    limit: int
    paged: bool
    claude_dirs: tuple[Path, ...]
    as_json: bool
    json_lines: bool


@click.command("list")
@click.argument("text", required=False)
@click.option("--project", metavar="TEXT", help="Only work directories that hold this text.")
@click.option("--branch", metavar="NAME", help="Only sessions that ended on this git branch.")
@click.option("--model", metavar="TEXT", help="Only sessions with this in the name of a model.")
@since_option
@until_option
@click.option("--errors", is_flag=True, help="Only sessions with failed tool or API calls.")
@click.option("--subagents", is_flag=True, help="Show subagents too.")
@click.option(
    "--tree", is_flag=True, help="Show forks, continuations and subagents under their session."
)
@click.option(
    "-n", "--limit", default=DEFAULT_LIMIT, show_default=True, help="Most rows; 0 for all."
)
@pager_option
@claude_dir_option
@json_option
@click.option("--json-lines", is_flag=True, help="Print one session a line, as JSON.")
def command(text: str | None, **options: Unpack[_Options]) -> int:
    """List sessions, the most recently active first.

    TEXT is looked for in titles, first prompts and ids. An id, its first characters, or words of a
    title are what every other command takes to name a session.

    A file is read whole only for --errors and --model, and once; after that the list tells turns,
    messages and errors of it too.

    \b
      recollect list
      recollect list flaky --project tidepool --since 7d
      recollect list --errors --model opus
      recollect list --tree -n 5
      recollect list -n 0 --json-lines | jq -r .title

    Exits with 3 if no session fits.
    """
    if options["as_json"] and options["json_lines"]:
        raise UsageError("Give --json or --json-lines: each says what to print.")
    since, until = parse_period(options["since"], options["until"], read_clock())
    conditions = Conditions(
        text=text,
        project=options["project"],
        branch=options["branch"],
        model=options["model"],
        since=since,
        until=until,
        has_errors=options["errors"],
    )
    roots = find_roots(options["claude_dirs"])
    trees = find_trees(roots, conditions, options)
    if not trees:
        require_transcripts(roots)
        raise NothingFound("No session fits. Try fewer conditions, or `recollect list -n 0`.")
    page = trees[: options["limit"] or None]
    present = look_around(roots, [each.path for tree in page for each in tree])
    entries = tuple(make_entry(tree, present) for tree in page)
    if options["json_lines"] or options["as_json"]:
        _print_json(entries, None if options["json_lines"] else len(trees))
    else:
        print_table(entries, len(trees), is_paged=options["paged"])
    return 0


def _print_json(entries: tuple[Entry, ...], total: int | None) -> None:
    """Print one document, or without a total a line for each session."""
    from recollect.cli.documents import format_document, format_line  # noqa: PLC0415 - not for people

    if total is not None:
        click.echo(format_document(ListDocument(total=total, sessions=entries)))
        return
    for entry in entries:
        click.echo(format_line(entry))


def find_trees(roots: Sequence[Path], conditions: Conditions, options: "_Options") -> list[Tree]:
    """The sessions that meet the conditions, each with what hangs under it if that is wanted."""
    has_agents = options["subagents"] or options["tree"]
    transcripts = find_transcripts(roots, include_subagents=has_agents)
    with progress_line("files") as line:
        listings = list_level(
            find_data_directory(),
            transcripts,
            line.show,
            is_complete=conditions.needs_figures,
        )
    shown = [each for each in listings if has_agents or not each.is_subagent]
    wanted = select(shown, conditions)
    if not options["tree"]:
        return [Tree(each) for each in wanted]
    paths = {each.path for each in wanted}
    return [tree for tree in build_trees(shown) if any(each.path in paths for each in tree)]


def print_table(entries: Sequence[Entry], total: int, *, is_paged: bool) -> None:
    """Print what a person reads: the table to stdout, what there is to say about it to stderr."""
    now, rows = read_clock(), list_rows(entries)
    lines = iter_lines(rows, count_columns(), now, is_terminal=sys.stdout.isatty())
    show_lines(lines, is_paged=is_paged)
    if len(entries) < total:
        click.echo(f"… and {total - len(entries):,} more: -n 0 shows all.", err=True)
    for meaning in list_marks(rows, now):
        click.echo(meaning, err=True)
