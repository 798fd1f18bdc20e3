"""`recollect tools`: tool calls by tool and by MCP server."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple, TypedDict, Unpack

import click

from recollect.cli import terminal_output
from recollect.cli.clock import read_clock
from recollect.cli.command_workspace import command_workspace
from recollect.cli.options import SessionName, claude_dir_option, json_option
from recollect.documents.command_reports import ToolsDocument, ToolUsageRow
from recollect.errors import NothingFound, UnreadableInput
from recollect.quantities import format_count, format_duration
from recollect.render.terminal import clip, measure, safe_line, safe_text
from recollect.session.times import parse_range
from recollect.usage.tool_usage import ToolQuery, ToolReport

_MIN_NAME_WIDTH: Final = 24
"""Columns reserved for names before another column is added."""


class _Column(NamedTuple):
    name: str
    show: Callable[[ToolUsageRow], str]


_ALWAYS: Final = (
    _Column("CALLS", lambda use: f"{use.calls:,}"),
    _Column("FAILED", lambda use: _count(use.failed)),
    _Column("MEDIAN", lambda use: _show_duration(use.median_ms)),
)
_WITH_ROOM: Final = (
    _Column("P95", lambda use: _show_duration(use.p95_ms)),
    _Column("REJECTED", lambda use: _count(use.rejected)),
    _Column("TOTAL", lambda use: _show_duration(use.total_ms or None)),
    _Column("INTERRUPTED", lambda use: _count(use.interrupted)),
    _Column("PENDING", lambda use: _count(use.pending)),
)


def iter_report(report: ToolReport, columns: int) -> Iterator[str]:
    """Yield the lines of the report, none longer than `columns`."""
    transcripts = format_count(report.sessions, "transcript")
    yield terminal_output.strong(f"{format_count(report.total.calls, 'call')} in {transcripts}")
    yield ""
    yield from _iter_table("TOOL", [*report.tools, report.total], columns)
    if report.mcp_servers:
        yield ""
        yield from _iter_table("MCP SERVER", report.mcp_servers, columns)


def _iter_table(heading: str, uses: Sequence[ToolUsageRow], columns: int) -> Iterator[str]:
    names = [safe_line(use.name) or "all" for use in uses]
    cells = [_fill(column, uses) for column in _ALWAYS]
    left = columns - _MIN_NAME_WIDTH - sum(map(_width, cells))
    for column in _WITH_ROOM:
        filled = _fill(column, uses)
        if any(filled[1:]) and _width(filled) <= left:
            left -= _width(filled)
            cells.append(filled)
    room = min(_MIN_NAME_WIDTH + left, max(map(measure, [heading, *names])))
    for number, name in enumerate([heading, *names]):
        figures = [
            terminal_output.GAP
            + terminal_output.pad(column[number], _width(column) - len(terminal_output.GAP), ">")
            for column in cells
        ]
        line = terminal_output.pad(clip(name, room), room, "<") + "".join(figures)
        yield terminal_output.faint(line) if number == 0 else line.rstrip()


def _fill(column: _Column, uses: Sequence[ToolUsageRow]) -> list[str]:
    return [column.name, *map(column.show, uses)]


def _width(cells: Sequence[str]) -> int:
    return len(terminal_output.GAP) + max(map(len, cells))


def _count(number: int) -> str:
    return f"{number:,}" if number else ""


def _show_duration(milliseconds: float | None) -> str:
    return "" if milliseconds is None else format_duration(milliseconds)


class _Options(TypedDict):
    session: str | None
    project: str | None
    since: str | None
    until: str | None
    paged: bool
    claude_dirs: tuple[Path, ...]
    as_json: bool


@click.command("tools")
@click.option("--session", type=SessionName(), metavar="SESSION", help="Only this session.")
@click.option("--project", metavar="TEXT", help="Only projects whose path contains TEXT.")
@click.option(
    "--since",
    metavar="DATE",
    help="Only calls since DATE: 2026-11-15, 2026-11, yesterday, 7d, 2w, 12h.",
)
@click.option("--until", metavar="DATE", help="Only calls on or before DATE.")
@terminal_output.pager_option
@claude_dir_option
@json_option
def tools_command(**options: Unpack[_Options]) -> int:
    """Report tool calls, their outcomes and durations.

    Groups calls by tool and by MCP server. Each call is counted once, however many transcripts
    contain a copy; calls by subagents are included. Durations run from the call to its result,
    including the wait for permission; MEDIAN and P95 are the 50th and 95th percentiles.

    The first run reads every transcript, later runs only what has changed.

    \b
      recollect tools
      recollect tools --session latest
      recollect tools --project tidepool --since 30d

    Exits with 3 if there are no calls and with 4 if a transcript could not be read.
    """
    since, until = parse_range(options["since"], options["until"], read_clock())
    with command_workspace(options["claude_dirs"]) as workspace:
        session = options["session"]
        query = ToolQuery(
            session_id=workspace.find(session).name if session else None,
            project=options["project"],
            since=since,
            until=until,
        )
        report = workspace.tools(query)
        if not report.total.calls and not options["as_json"]:
            workspace.require_sessions()
    for path in report.unread:
        click.echo(f"recollect: Could not read {safe_text(path)}", err=True)
    if options["as_json"]:
        _print_json(report, query)
    elif report.total.calls:
        lines = iter_report(report, terminal_output.count_table_columns())
        terminal_output.show_text("\n".join(lines), is_paged=options["paged"])
    if not report.total.calls:
        raise NothingFound("No tool calls. Try fewer filters.")
    return UnreadableInput.exit_code if report.unread else 0


def _print_json(report: ToolReport, query: ToolQuery) -> None:
    from recollect.cli.json_output import format_document  # only for JSON

    document = ToolsDocument(
        session_id=query.session_id,
        project=query.project,
        since=query.since.isoformat() if query.since else None,
        until=query.until.isoformat() if query.until else None,
        sessions=report.sessions,
        total=report.total,
        tools=report.tools,
        mcp_servers=report.mcp_servers,
        unread=report.unread,
    )
    click.echo(format_document(document))
