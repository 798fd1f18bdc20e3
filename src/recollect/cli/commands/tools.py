"""`recollect tools`: how tools were used, by tool and by MCP server."""

from pathlib import Path
from typing import TypedDict, Unpack

import click
from msgspec import Struct

from recollect.cli.clock import read_clock
from recollect.cli.naming import find_named
from recollect.cli.options import (
    SessionName,
    claude_dir_option,
    json_option,
)
from recollect.cli.paging import pager_option, show_text
from recollect.cli.periods import parse_period
from recollect.cli.progress import progress_line
from recollect.cli.roots import find_roots, require_transcripts
from recollect.cli.tables import count_columns
from recollect.errors import NothingFound, UnreadableInput
from recollect.locations.transcript_files import name_of
from recollect.render.terminal import safe_text
from recollect.store.place import find_data_directory
from recollect.sync.level import find_transcripts
from recollect.usage.tool_calls import ToolQuestion, ToolReport, ToolUse, report_tools

SCHEMA = "recollect.tools/1"


class ToolsDocument(Struct, frozen=True, kw_only=True):
    """What `--json` prints."""

    schema: str = SCHEMA
    session_id: str | None
    project: str | None
    since: str | None
    until: str | None
    sessions: int
    total: ToolUse
    tools: tuple[ToolUse, ...]
    mcp_servers: tuple[ToolUse, ...]
    unread: tuple[str, ...]


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
@click.option("--project", metavar="TEXT", help="Only work directories that hold this text.")
@click.option("--since", metavar="DATE", help="Calls from this day on: 2026-11-15, 2026-11, 7d.")
@click.option("--until", metavar="DATE", help="Calls up to and including this day.")
@pager_option
@claude_dir_option
@json_option
def command(**options: Unpack[_Options]) -> int:
    """Count calls of tools, how they ended and how long they took.

    By tool, and by MCP server. Each call counts once, however many transcripts hold a copy of it;
    subagents' calls count too. A time is that from the call to its answer, waiting for a
    permission included: half of the calls took no longer than MEDIAN, 95 of 100 no longer than P95.

    Reads every transcript once, and after that only what has changed.

    \b
      recollect tools
      recollect tools --session latest
      recollect tools --project tidepool --since 30d

    Exits with 3 if there is no call, and with 4 if a transcript could not be read.
    """
    question = _make_question(options)
    roots = find_roots(options["claude_dirs"])
    transcripts = find_transcripts(roots)
    with progress_line("files") as line:
        report = report_tools(find_data_directory(), transcripts, question, line.show)
    for path in report.unread:
        click.echo(f"recollect: Not read: {safe_text(path)}", err=True)
    if options["as_json"]:
        _print_json(report, question)
    elif report.total.calls:
        from recollect.cli.tools_text import iter_report  # noqa: PLC0415 - not for JSON

        lines = iter_report(report, count_columns())
        show_text("\n".join(lines), is_paged=options["paged"])
    if not report.total.calls:
        require_transcripts(roots)
        raise NothingFound("No tool was called there. Try fewer conditions.")
    return UnreadableInput.exit_code if report.unread else 0


def _make_question(options: _Options) -> ToolQuestion:
    since, until = parse_period(options["since"], options["until"], read_clock())
    session = options["session"]
    found = find_named(session, options["claude_dirs"]) if session else None
    return ToolQuestion(
        session_id=name_of(found) if found else None,
        project=options["project"],
        since=since,
        until=until,
    )


def _print_json(report: ToolReport, question: ToolQuestion) -> None:
    from recollect.cli.documents import format_document  # noqa: PLC0415 - not for people

    document = ToolsDocument(
        session_id=question.session_id,
        project=question.project,
        since=question.since.isoformat() if question.since else None,
        until=question.until.isoformat() if question.until else None,
        sessions=report.sessions,
        total=report.total,
        tools=report.tools,
        mcp_servers=report.mcp_servers,
        unread=report.unread,
    )
    click.echo(format_document(document))
