"""`recollect secrets`: find API keys, passwords and other secrets in sessions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

import click

from recollect.cli import terminal_output
from recollect.cli.command_workspace import command_workspace, progress_line
from recollect.cli.json_output import format_document
from recollect.cli.options import claude_dir_option, json_option, session_argument
from recollect.documents.command_reports import SecretFinding, SecretsDocument
from recollect.errors import UnreadableInput, UsageError
from recollect.library.session_filters import SessionQuery
from recollect.quantities import format_count, format_time
from recollect.render.terminal import safe_text
from recollect.session.times import parse_time

if TYPE_CHECKING:
    from recollect.locations import Transcript
    from recollect.workspace.workspace import Workspace


FOUND = UnreadableInput.exit_code
"""The exit code if a secret was found, for scripts that check before sharing."""
_HEADINGS = ("COUNT", "CONFIDENCE", "SESSION", "TURN", "WHEN", "KIND")
_ADVICE = "Values are never printed. A key that others may have seen should be revoked or rotated."


@click.group("secrets")
def secrets_command() -> int:
    """Find API keys, passwords and other secrets in your sessions.

    \b
      recollect secrets scan latest
      recollect secrets scan --all
    """
    return 0


class _Options(TypedDict):
    project: str | None
    all_sessions: bool
    thorough: bool
    paged: bool
    claude_dirs: tuple[Path, ...]
    as_json: bool


@secrets_command.command("scan")
@session_argument(required=False)
@click.option("--project", metavar="TEXT", help="Scan projects whose path contains TEXT.")
@click.option("--all", "all_sessions", is_flag=True, help="Scan all sessions.")
@click.option(
    "--thorough",
    is_flag=True,
    help="Read every line again. Slower; also finds likely secrets that have no keyword near them.",
)
@terminal_output.pager_option
@claude_dir_option
@json_option
def scan(session: str | None, **options: Unpack[_Options]) -> int:
    """Find secrets in a session, a project or all sessions.

    Prints the kind of each secret, where it occurs, when it was written and how many times; never
    the secret itself. Subagents and output in files beside a session are included.
    Best effort: passwords that are ordinary words may be missed. See `recollect show` for how to
    specify SESSION.

    \b
      recollect secrets scan latest
      recollect secrets scan --project tidepool
      recollect secrets scan --all --json | jq '.findings[] | select(.confidence == "definite")'

    Exits with 4 if a secret was found or a transcript could not be read.
    """
    from recollect.health.secret_scan import scan_transcripts  # the rules and the reader
    from recollect.store.secret_rows import NO_SECRETS
    from recollect.workspace.secret_masks import load_indexed_secrets

    project = options["project"]
    with command_workspace(options["claude_dirs"]) as workspace:
        wants_all = options["all_sessions"]
        transcripts, session_id = _find(session, project, workspace, all_sessions=wants_all)
        indexed = (
            NO_SECRETS if options["thorough"] else load_indexed_secrets(workspace, transcripts)
        )
        policy = workspace.redaction.for_records
    with progress_line("files") as show_progress:
        report = scan_transcripts(transcripts, show_progress, indexed, policy)
    for path in report.unread:
        click.echo(f"recollect: Could not read {safe_text(path)}", err=True)
    document = SecretsDocument(
        session_id=session_id,
        project=project,
        files=report.files,
        findings=report.findings,
        total=sum(finding.count for finding in report.findings),
        unread=report.unread,
    )
    if options["as_json"]:
        click.echo(format_document(document))
    else:
        terminal_output.show_text(
            "\n".join(iter_text(document, terminal_output.count_columns())),
            is_paged=options["paged"],
        )
    return FOUND if document.findings or document.unread else 0


def _find(
    session: str | None,
    project: str | None,
    workspace: Workspace,
    *,
    all_sessions: bool,
) -> tuple[list[Transcript], str | None]:
    """Return the transcripts to scan, and the id of the session if one was named."""
    from recollect.health.secret_scan import add_subagents

    if [session is not None, project is not None, all_sessions].count(True) != 1:
        raise UsageError("Specify one of SESSION, --project and --all.")
    if session is not None:
        found = workspace.find(session)
        return add_subagents([found]), found.name
    if project is not None:
        matching = workspace.find_matching(SessionQuery(project=project))
        return add_subagents(matching), None
    found_all = workspace.require_sessions()
    return sorted(found_all, key=lambda each: (each.mtime_ns, each.file)), None


def iter_text(document: SecretsDocument, columns: int, zone: tzinfo | None = None) -> Iterator[str]:
    """Yield the lines, none longer than `columns`."""
    files = format_count(document.files, "transcript")
    if not document.findings:
        yield f"No secrets found in {files}."
        return
    heading, *lines = terminal_output.iter_table(
        [_HEADINGS, *(_make_row(finding, zone) for finding in document.findings)],
        "><<><<",
        columns,
        "",
    )
    yield terminal_output.faint(heading)
    yield from lines
    yield ""
    yield terminal_output.strong(f"{_describe_total(document.findings)}, {files} scanned")
    yield from terminal_output.wrap(_ADVICE, columns, "")


def _make_row(finding: SecretFinding, zone: tzinfo | None) -> tuple[str, ...]:
    return (
        f"{finding.count:,}",
        finding.confidence,
        terminal_output.label_id(finding.session),
        "" if finding.turn is None else str(finding.turn),
        format_time(parse_time(finding.timestamp), zone),
        finding.kind,
    )


def _describe_total(findings: Sequence[SecretFinding]) -> str:
    total = sum(finding.count for finding in findings)
    sessions = len({finding.session for finding in findings})
    return f"{format_count(total, 'secret')} in {format_count(sessions, 'session')}"
