"""`recollect export`: write sessions to files with secrets masked, summarise that on stderr, and
review the masked values.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypedDict, TypeVar, Unpack

import click
from msgspec.structs import replace

from recollect.cli.clock import read_clock
from recollect.cli.command_workspace import command_workspace
from recollect.cli.json_output import format_document
from recollect.cli.options import (
    Number,
    SegmentNumber,
    SessionName,
    TurnBoundsOption,
    claude_dir_option,
    json_option,
    since_option,
    until_option,
)
from recollect.documents.command_reports import ExportDocument
from recollect.errors import UsageError
from recollect.quantities import format_bytes, format_count
from recollect.reader.line_blocks import mask_by_default
from recollect.render.terminal import safe_line, safe_text

if TYPE_CHECKING:
    from recollect.documents.command_reports import ExportDocument
    from recollect.export.export_content import MaskedValue
    from recollect.export.export_options import ExportOptions
    from recollect.workspace.session_exports import ExportRequest, SessionExport
    from recollect.workspace.turn_selection import TurnBounds
    from recollect.workspace.workspace import Workspace


_MAX_NAMED: Final = 3
_MAX_VALUE: Final = 200


def describe_export(document: ExportDocument) -> Iterator[str]:
    """Yield the written files, and the kinds of secrets masked in them."""
    for path in document.unread:
        yield f"recollect: Could not read {safe_line(path)}"
    yield from _describe_files(document)
    if not document.is_redacted:
        yield "Nothing was masked. Check the export for secrets before you share it."
    elif not document.masked:
        yield "No secrets found."
    else:
        total = sum(each.count for each in document.masked)
        kinds = ", ".join(f"{each.count} {each.kind}" for each in document.masked)
        yield f"Masked {format_count(total, 'secret')}: {kinds}."


def _describe_files(document: ExportDocument) -> Iterator[str]:
    for file in document.files[:_MAX_NAMED]:
        name = safe_line(file.path)
        yield f"Wrote {name} ({format_bytes(file.size)})"
    rest = document.files[_MAX_NAMED:]
    if rest:
        size = format_bytes(sum(file.size for file in rest))
        yield f"and {format_count(len(rest), 'more file')} ({size})"


def review(values: Sequence[MaskedValue]) -> list[MaskedValue]:
    """Ask about each value; return those that are not secrets."""
    kept: list[MaskedValue] = []
    for number, masked in enumerate(values, start=1):
        for line in _describe(masked):
            click.echo(line, err=True)
        answer = click.prompt(
            f"Mask it? ({number} of {len(values)}; a masks all the rest)",
            type=click.Choice(["y", "n", "a"]),
            default="y",
            err=True,
        )
        if answer == "a":
            break
        if answer == "n":
            kept.append(masked)
    return kept


def _describe(masked: MaskedValue) -> Iterator[str]:
    turn = "" if masked.turn is None else f", turn {masked.turn}"
    place = f"session {masked.session_id[:8]}{turn}"
    times = "" if masked.count == 1 else f", {masked.count} times"
    yield ""
    yield click.style(safe_text(f"{masked.kind} ({masked.confidence}), {place}{times}"), bold=True)
    value = masked.value if len(masked.value) <= _MAX_VALUE else f"{masked.value[:_MAX_VALUE]}…"
    # A terminal may end a style at the end of a line.
    marked = "\n".join(click.style(line, reverse=True) for line in safe_text(value).split("\n"))
    context = f"{safe_text(masked.before)}{marked}{safe_text(masked.after)}"
    yield from (f"  {line}" for line in context.strip("\n").split("\n"))


F = TypeVar("F", bound=Callable[..., Any])

UNREAD: Final = 4
_STDOUT: Final = ("-", "/dev/stdout")
_SLASHES: Final = ("/", os.sep)
"""A target that ends with one of these is a directory."""
_SPLIT: Final = 50
_FORMATS: Final = ("html", "markdown", "text", "json", "jsonl", "csv", "parquet")
_NOT_FOR_TERMINALS: Final = frozenset({"html", "jsonl", "parquet"})


class _Options(TypedDict):
    kind: str | None
    output: str | None
    project: str | None
    search: str | None
    all_sessions: bool
    since: str | None
    until: str | None
    turn: int | None
    turns: TurnBounds | None
    branch: str | None
    segment: int | None
    level: str
    budget: int | None
    split: int | None
    images: str
    theme: str
    table: str
    no_redact: bool
    review: bool
    watch: bool
    force: bool
    claude_dirs: tuple[Path, ...]
    as_json: bool


_WHAT: Final = (
    click.option("--project", metavar="TEXT", help="Export projects whose path contains TEXT."),
    click.option("--search", metavar="QUERY", help="Export sessions that match QUERY."),
    click.option("--all", "all_sessions", is_flag=True, help="Export all sessions."),
    since_option,
    until_option,
    click.option("--turn", type=Number(), metavar="N", help="Export only turn N; -1 is the last."),
    click.option(
        "--turns",
        type=TurnBoundsOption(),
        metavar="A-B",
        help="Export only these turns: 2-5, 4-, -3..-1.",
    ),
    click.option("--branch", metavar="N|all", help="Export abandoned branch N, or all branches."),
    click.option(
        "--segment",
        type=SegmentNumber(),
        metavar="N",
        help="Export only segment N: 0 is before the first compaction, -1 is the last.",
    ),
)
_HOW: Final = (
    click.option(
        "--level",
        type=click.Choice(["prompts", "conversation", "tools", "full"]),
        default="full",
        show_default=True,
        help="How much of each turn to include in html, markdown and text.",
    ),
    click.option(
        "--budget",
        type=click.IntRange(min=200),
        metavar="TOKENS",
        help="Write a Markdown digest of at most about TOKENS tokens, to give to a model.",
    ),
    click.option(
        "--split",
        type=click.IntRange(min=1),
        is_flag=False,
        flag_value=_SPLIT,
        metavar="[TURNS]",
        help=f"Split into pages of TURNS turns with an index; {_SPLIT} by default.",
    ),
    click.option(
        "--images",
        type=click.Choice(["inline", "beside", "none"]),
        default="inline",
        show_default=True,
        help="inline: embed images; beside: save them as separate files; none: omit them.",
    ),
    click.option(
        "--theme",
        type=click.Choice(["system", "light", "dark"]),
        default="system",
        show_default=True,
        help="Colours of an HTML page.",
    ),
    click.option(
        "--table",
        type=click.Choice(["messages", "calls", "usage"]),
        default="messages",
        show_default=True,
        help="Table to write as CSV or Parquet; all three if the output is a directory.",
    ),
)
_SAFETY: Final = (
    click.option("--no-redact", is_flag=True, help="Do not mask secrets."),
    click.option("--review", is_flag=True, help="Ask about each secret before it is masked."),
    click.option("--watch", is_flag=True, help="Keep the file up to date as the session grows."),
    click.option("--force", is_flag=True, help="Overwrite existing files."),
)


def _add_options(function: F) -> F:
    for option in reversed((*_WHAT, *_HOW, *_SAFETY)):
        function = option(function)
    return function


@click.command("export")
@click.argument("sessions", nargs=-1, type=SessionName(), metavar="[SESSION]...")
@click.option(
    "--format",
    "kind",
    type=click.Choice(_FORMATS),
    help="Inferred from the extension of FILE; html otherwise.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE|DIR",
    help="Write to FILE, or to DIR if there are several sessions; - is stdout.",
)
@_add_options
@claude_dir_option
@json_option
def export_command(sessions: tuple[str, ...], **options: Unpack[_Options]) -> int:
    """Export sessions as HTML, Markdown, text, JSON or tables.

    Secrets are masked, and what was masked is listed on stderr: check it before you share a file.
    html is one file that can be read offline, without scripts. json has the shape of `recollect
    show --json`. jsonl has the original lines and needs --no-redact. Parquet needs the extra
    `recollect[parquet]`.

    Without -o the export of one session is written to stdout. Existing files are only overwritten
    with --force, and no partial file is ever left behind.

    \b
      recollect export latest -o session.html
      recollect export latest --format markdown --level conversation | pbcopy
      recollect export 8facb961 --turns 2-5 -o turns.md
      recollect export latest --budget 8000 --format markdown
      recollect export --project tidepool --format html -o tidepool/
      recollect export --all --format csv -o tables/

    Exits with 3 if there is no such session or turn, and with 4 if one could not be read.
    """
    from recollect.workspace.session_exports import SessionExport, pin_name  # the whole model

    request = _make_request(sessions, options)
    chosen = _make_options(options)
    _check_target(request, chosen, options)
    with command_workspace(options["claude_dirs"]) as workspace:
        # Exports are masked in a later stage, with the policy for exports.
        mask_by_default(None)
        if not options["no_redact"]:
            chosen = replace(chosen, redaction=workspace.redaction)
        if options["watch"]:
            request = replace(request, names=(pin_name(workspace, request.names[0]),))
        export = SessionExport(workspace, request, chosen)
        if options["review"]:
            export.allow(review(export.list_masked_values()))
        if not _has_file(options):
            return _print(export)
        target = Path(options["output"] or "")
        export.write(target, into=(options["output"] or "").endswith(_SLASHES))
        if options["watch"]:
            _report(export.report(), as_json=options["as_json"])
            return _watch(workspace, request, export, target)
    document = export.report()
    _report(document, as_json=options["as_json"])
    return UNREAD if document.unread else 0


def _has_file(options: _Options) -> bool:
    return options["output"] not in (None, *_STDOUT)


def _make_request(sessions: tuple[str, ...], options: _Options) -> ExportRequest:
    from recollect.library.session_filters import SessionQuery
    from recollect.session.times import parse_range
    from recollect.workspace.session_exports import ExportRequest
    from recollect.workspace.turn_selection import TurnBounds, TurnSelection

    if options["turn"] is not None and options["turns"] is not None:
        raise UsageError("Use only one of --turn and --turns.")
    since, until = None, None
    if options["since"] or options["until"]:
        since, until = parse_range(options["since"], options["until"], read_clock())
    is_query = options["all_sessions"] or any((options["project"] is not None, since, until))
    if not sessions and not is_query and options["search"] is None:
        raise UsageError(
            "Specify a SESSION, --project, --search or --all. Use `latest` for the newest session."
        )
    only = options["turn"]
    return ExportRequest(
        names=sessions,
        query=SessionQuery(project=options["project"], since=since, until=until)
        if is_query
        else None,
        search=options["search"],
        selection=TurnSelection(
            turns=options["turns"] if only is None else TurnBounds(only, only),
            branch=options["branch"],
            segment=options["segment"],
        ),
    )


def _make_options(options: _Options) -> ExportOptions:
    from recollect.export.export_options import (
        ExportOptions,
        Format,
        Images,
        Level,
        Table,
        Theme,
        check_options,
        find_format,
    )

    target = Path(options["output"]) if _has_file(options) and options["output"] else None
    default = Format.MARKDOWN if options["budget"] is not None else Format.HTML
    named = Format(options["kind"]) if options["kind"] else None
    chosen = ExportOptions(
        format=named or (find_format(target) if target else None) or default,
        level=Level(options["level"]),
        images=Images(options["images"]),
        theme=Theme(options["theme"]),
        table=Table(options["table"]),
        budget=options["budget"],
        split=options["split"],
        force=options["force"],
    )
    if options["no_redact"]:
        chosen = replace(chosen, redaction=None)
    check_options(chosen)
    return chosen


def _check_target(request: ExportRequest, chosen: ExportOptions, options: _Options) -> None:
    """Raise UsageError for a target that does not fit the format or the number of sessions."""
    if options["review"] and (options["no_redact"] or not sys.stdin.isatty()):
        raise UsageError("--review asks about each secret, so it needs a terminal and redaction.")
    if options["watch"] and (request.is_many or not _has_file(options)):
        raise UsageError("--watch keeps one file up to date. Use it with one SESSION and -o FILE.")
    if _has_file(options):
        _refuse_file(Path(options["output"] or ""), request, chosen)
        return
    if request.is_many or chosen.split or chosen.images == "beside":
        raise UsageError("Use -o to specify where to write.")
    if chosen.format.value in _NOT_FOR_TERMINALS and sys.stdout.isatty():
        raise UsageError(
            f"{chosen.format.value} needs a file. Use -o FILE, or redirect the output."
        )
    if options["as_json"]:
        raise UsageError("--json describes the files that are written. Use it with -o.")


def _refuse_file(target: Path, request: ExportRequest, chosen: ExportOptions) -> None:
    """Raise UsageError if a directory is to be written and the target is named like a file."""
    from recollect.export.export_options import SUFFIXES, TABULAR, find_format
    from recollect.export.writing import is_directory

    named = find_format(target)
    if named is None or is_directory(target):
        return
    if chosen.format in TABULAR:
        if named is not chosen.format:
            raise UsageError(
                f"{target} is named like {named.value}, but the format is {chosen.format.value}. "
                f"Specify a file ending in {SUFFIXES[chosen.format]}, or a directory for all three."
            )
    elif request.is_many or chosen.split:
        what = "--split writes pages" if chosen.split else "Several sessions are written"
        raise UsageError(f"{what} into a directory, but {target} looks like a file name.")


def _print(export: SessionExport) -> int:
    for piece in export.stream():
        sys.stdout.buffer.write(piece)
    sys.stdout.buffer.flush()
    for line in describe_export(export.report()):
        click.echo(line, err=True)
    return 0


def _report(document: ExportDocument, *, as_json: bool) -> None:
    if as_json:
        click.echo(format_document(document))
    for line in describe_export(document):
        click.echo(line, err=True)


def _watch(
    workspace: Workspace, request: ExportRequest, export: SessionExport, target: Path
) -> int:
    """Write the file again whenever the session has grown, until the user interrupts."""
    from recollect.cli.follow_actions import watch_session
    from recollect.export.export_options import TABULAR
    from recollect.workspace.session_exports import SessionExport

    click.echo(f"Watching {safe_text(request.names[0])}. Press Ctrl+C to stop.", err=True)
    options = replace(export.exporter.options, force=True)
    files = export.report().files
    if options.split is None and options.format not in TABULAR:
        # In a directory, it is named by the title, which may change.
        target = Path(files[0].path)

    def write_again() -> None:
        SessionExport(workspace, request, options).write(target)

    watch_session(workspace, request.names[0], write_again)
    return 0
