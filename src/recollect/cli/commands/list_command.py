"""`recollect list`: sessions, most recently active first, as a JSON document or a table that fits
the terminal.

Columns are added in order of importance as long as the title keeps enough room. Times are relative
in a terminal and sortable elsewhere.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple, TypedDict, Unpack

import click

from recollect.cli import terminal_output
from recollect.cli.clock import read_clock
from recollect.cli.command_workspace import command_workspace
from recollect.cli.options import (
    claude_dir_option,
    json_option,
    prices_option,
    since_option,
    until_option,
)
from recollect.documents.session_listing import SessionListing
from recollect.errors import NothingFound, UsageError
from recollect.health.retention import SOON
from recollect.library.session_filters import SessionQuery, hide_path
from recollect.quantities import format_age, format_bytes, format_dollars, format_time
from recollect.render.terminal import clip, measure

RUNNING: Final = "●"
EXPIRING: Final = "!"
ARCHIVED: Final = "◇"
PARTIAL: Final = "◌"
STARRED: Final = "★"
LEGEND: Final = {
    RUNNING: "running",
    EXPIRING: f"will be deleted by Claude Code within {SOON.days} days",
    STARRED: "starred by you",
    ARCHIVED: "deleted by Claude Code; read from the archive",
    PARTIAL: "deleted by Claude Code; only your prompts and other leftovers",
}

_MIN_TITLE_WIDTH: Final = 36
"""Minimum width of the title for another column to be added."""
_MAX_WIDTH: Final = {"project": 20, "model": 20, "branch": 24}
_NARROW: Final = 72
_NARROW_PROJECT: Final = 12


class SessionLine(NamedTuple):
    """A row of the table; `lead` is the branch of the tree before the title."""

    entry: SessionListing
    lead: str = ""


class _Column(NamedTuple):
    name: str
    side: str
    cells: list[str]

    @property
    def width(self) -> int:
        """The width of the widest cell; 0 if all cells are empty or zero."""
        if not any(cell not in ("", "0") for cell in self.cells):
            return 0
        return max(len(self.name), *map(measure, self.cells))


def list_rows(entries: Sequence[SessionListing]) -> list[SessionLine]:
    """Flatten the tree of sessions into rows."""
    return [row for entry in entries for row in (SessionLine(entry), *_iter_below(entry, ""))]


def _iter_below(entry: SessionListing, indent: str) -> Iterator[SessionLine]:
    for number, child in enumerate(entry.children, 1):
        is_last = number == len(entry.children)
        yield SessionLine(child, f"{indent}{'└' if is_last else '├'} {child.relation}: ")
        yield from _iter_below(child, indent + ("  " if is_last else "│ "))


def iter_lines(
    rows: Sequence[SessionLine], columns: int, now: datetime, *, is_terminal: bool
) -> Iterator[str]:
    """Yield the styled lines of the table, starting with a heading."""
    entries = [row.entry for row in rows]
    titles = [
        row.lead + terminal_output.label_title(row.entry.title, row.entry.first_prompt)
        for row in rows
    ]
    chosen = _choose_columns(entries, columns, now, is_terminal=is_terminal)
    used = sum(column.width + len(terminal_output.GAP) for column in chosen)
    room = max(columns - used, 1)
    names = [
        terminal_output.pad(column.name.upper(), column.width, column.side) for column in chosen
    ]
    yield terminal_output.faint(terminal_output.GAP.join([*names, "TITLE"]))
    for number, title in enumerate(titles):
        cells = [
            terminal_output.pad(column.cells[number], column.width, column.side)
            for column in chosen
        ]
        line = terminal_output.GAP.join([*map(_style, chosen, cells), clip(title, room)])
        yield line.rstrip()


def list_marks(rows: Sequence[SessionLine], now: datetime) -> list[str]:
    """Return the legend of the marks in `rows`."""
    used = {mark for row in rows for mark in _mark(row.entry, now)}
    return [f"{mark} {meaning}" for mark, meaning in LEGEND.items() if mark in used]


def _choose_columns(
    entries: Sequence[SessionListing], columns: int, now: datetime, *, is_terminal: bool
) -> list[_Column]:
    """Choose the columns before the title: the first three always, the others if they fit."""
    show_time = (lambda moment: format_age(moment, now)) if is_terminal else format_time
    project = _NARROW_PROJECT if columns < _NARROW else _limit("project", columns)
    chosen = [
        _make("when", "<", entries, lambda each: show_time(each.activity)),
        _make("id", "<", entries, lambda each: terminal_output.label_id(each.id)),
        _make(
            "project",
            "<",
            entries,
            lambda each: clip(terminal_output.label_project(each.cwd or each.project), project),
        ),
    ]
    # Only known if requested.
    cost = _make("cost", ">", entries, lambda each: _show_cost(each.cost_usd))
    if cost.width:
        chosen.append(cost)
    marks = _make("", "<", entries, lambda each: _mark(each, now))
    if marks.width:
        chosen.insert(0, marks)
    left = (
        columns
        - sum(column.width + len(terminal_output.GAP) for column in chosen)
        - _MIN_TITLE_WIDTH
    )
    for column in _list_optional(entries, columns):
        if column.width and column.width + len(terminal_output.GAP) <= left:
            left -= column.width + len(terminal_output.GAP)
            chosen.append(column)
    return chosen


def _limit(name: str, columns: int) -> int:
    return _MAX_WIDTH[name] if columns < terminal_output.UNLIMITED else terminal_output.UNLIMITED


def _list_optional(entries: Sequence[SessionListing], columns: int) -> Iterator[_Column]:
    model, branch = _limit("model", columns), _limit("branch", columns)
    yield _make("size", ">", entries, lambda each: format_bytes(each.size))
    yield _make("turns", ">", entries, lambda each: _count(each.turn_count))
    yield _make("msgs", ">", entries, lambda each: _count(each.message_count))
    yield _make("errors", ">", entries, lambda each: _count(each.error_count))
    yield _make("model", "<", entries, lambda each: clip(_show_model(each), model))
    yield _make(
        "branch",
        "<",
        entries,
        lambda each: clip(terminal_output.join_lines(each.git_branch or ""), branch),
    )


def _make(
    name: str, side: str, entries: Sequence[SessionListing], value: Callable[[SessionListing], str]
) -> _Column:
    cells = [value(each) for each in entries]
    return _Column(name, side, cells)


def _show_cost(dollars: float | None) -> str:
    return "" if dollars is None else format_dollars(dollars)


def _count(number: int | None) -> str:
    return "" if number is None else f"{number:,}"


def _mark(entry: SessionListing, now: datetime) -> str:
    return _mark_state(entry, now) + (STARRED if entry.starred else "")


def _mark_state(entry: SessionListing, now: datetime) -> str:
    if entry.live:
        return RUNNING
    if entry.is_archived:
        return ARCHIVED
    if entry.is_partial:
        return PARTIAL
    return EXPIRING if entry.expires and _is_soon(entry.expires, now) else ""


def _is_soon(moment: str, now: datetime) -> bool:
    return datetime.fromisoformat(moment) - now <= timedelta(days=SOON.days)


def _show_model(entry: SessionListing) -> str:
    """Return the last model, without the prefix that all names share."""
    names = [name.removeprefix("claude-") for name in entry.models]
    more = f" +{len(names) - 1}" if len(names) > 1 else ""
    return terminal_output.join_lines(f"{names[-1]}{more}") if names else ""


def _style(column: _Column, cell: str) -> str:
    if column.name == "id":
        return terminal_output.strong(cell)
    return cell if column.name == "project" else terminal_output.faint(cell)


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
@click.argument("words", nargs=-1, metavar="[TEXT]...")
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
@terminal_output.pager_option
@prices_option
@claude_dir_option
@json_option
@click.option("--json-lines", is_flag=True, help="Output JSON Lines, one session per line.")
def list_command(words: tuple[str, ...], **options: Unpack[_Options]) -> int:
    """List sessions, most recently active first.

    TEXT matches words of a title, first prompt or id, in any order. Other commands accept an id,
    the start of one, or words from a title as SESSION.

    --errors and --model read every transcript in full the first time; after that, the list also
    shows turn, message and error counts.

    \b
      recollect list
      recollect list flaky tide --project tidepool --since 7d
      recollect list --errors --model opus
      recollect list --tree -n 5
      recollect list -n 0 --json-lines | jq -r .title

    Exits with 3 if no session matches.
    """
    if options["as_json"] and options["json_lines"]:
        raise UsageError("Use only one of --json and --json-lines.")
    since, until = _find_range(options["since"], options["until"])
    query = SessionQuery(
        text=" ".join(words) or None,
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
    from recollect.session.times import parse_range  # rarely needed

    return parse_range(since, until, read_clock())


def _print_json(entries: tuple[SessionListing, ...], total: int | None) -> None:
    """Print one document, or one line per session if there is no total."""
    from recollect.cli.json_output import format_document, format_line  # only for JSON

    if total is not None:
        from recollect.documents.session_documents import ListDocument  # only for JSON

        shown = tuple(map(hide_path, entries))
        click.echo(format_document(ListDocument(total=total, sessions=shown)))
        return
    for entry in entries:
        click.echo(format_line(hide_path(entry)))


def print_table(entries: Sequence[SessionListing], total: int, *, is_paged: bool) -> None:
    """Print the table to stdout, and the legend to stderr."""
    now, rows = read_clock(), list_rows(entries)
    lines = iter_lines(
        rows, terminal_output.count_table_columns(), now, is_terminal=sys.stdout.isatty()
    )
    terminal_output.show_lines(lines, is_paged=is_paged)
    if len(entries) < total:
        click.echo(f"… and {total - len(entries):,} more; use -n 0 to show all.", err=True)
    for meaning in list_marks(rows, now):
        click.echo(meaning, err=True)
