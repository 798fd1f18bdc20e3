"""`recollect show`: a session or any part of it, as text, JSON or raw lines."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

import click

from recollect.cli import terminal_output
from recollect.cli.command_workspace import command_workspace
from recollect.cli.options import (
    Number,
    SegmentNumber,
    TurnBoundsOption,
    check_reveal,
    claude_dir_option,
    detail_options,
    json_option,
    reveal_option,
    session_argument,
)
from recollect.errors import UsageError
from recollect.locations.place_names import read_place_within
from recollect.render.terminal import POINTER
from recollect.render.views.turn_views import iter_turn_views
from recollect.session.session import Session
from recollect.sources.safe_files import open_file
from recollect.workspace.session_places import RecordLocation
from recollect.workspace.turn_selection import TurnBounds, TurnRequest, TurnSelection, open_turns
from recollect.workspace.workspace import Workspace

if TYPE_CHECKING:
    from recollect.documents.session_documents import TokenShares
    from recollect.documents.session_listing import Metadata
    from recollect.render.terminal.canvas import RenderOptions


class _Options(TypedDict):
    turn: int | None
    turns: TurnBounds | None
    branch: str | None
    segment: int | None
    at: str | None
    context: int
    highlight: tuple[str, ...]
    prompts: bool
    outline: bool
    thread: bool
    cost: bool
    thinking: bool
    tools: str
    subagents: bool
    raw: bool
    reveal: bool
    paged: bool
    claude_dirs: tuple[Path, ...]
    as_json: bool
    json_lines: bool


@click.command("show")
@session_argument(required=False)
@click.option("--turn", type=Number(), metavar="N", help="Show only turn N; -1 is the last.")
@click.option(
    "--turns",
    type=TurnBoundsOption(),
    metavar="A-B",
    help="Show only these turns: 2-5, 4-, -3..-1.",
)
@click.option("--branch", metavar="N|all", help="Show abandoned branch N, or all branches.")
@click.option(
    "--segment",
    type=SegmentNumber(),
    metavar="N",
    help="Show only segment N: 0 is before the first compaction, -1 is the last.",
)
@click.option(
    "--at", metavar="PLACE", help="Show only the turn at PLACE, and mark the record there."
)
@click.option(
    "-C", "--context", type=click.IntRange(0, 100_000), default=0, metavar="N",
    help="With --at, also show N turns before and after.",
)  # fmt: skip
@click.option("--highlight", multiple=True, metavar="TEXT", help="Highlight TEXT. Can be repeated.")
@click.option("--outline", is_flag=True, help="Show one line per prompt.")
@click.option(
    "--thread", is_flag=True, help="Include the sessions before and after this one in its thread."
)
@click.option("--cost", is_flag=True, help="Show the cost at list prices, subagents included.")
@click.option("--prompts", is_flag=True, help="Show only prompts, without replies.")
@detail_options("none", "brief", "full")
@click.option("--subagents", is_flag=True, help="Expand subagents where they were started.")
@click.option(
    "--raw", is_flag=True, help="Print the raw lines of the file. Not safe for a terminal."
)
@reveal_option
@terminal_output.pager_option
@terminal_output.colour_option
@claude_dir_option
@json_option
@click.option(
    "--json-lines", is_flag=True, help="Output JSON Lines: the session, then one turn per line."
)
def show_command(session: str | None, **options: Unpack[_Options]) -> int:
    """Show a session, or any part of it.

    SESSION is an id or the start of one, words from a title, the path of a transcript, `latest`, or
    -1, -2 ... for the newest session, the one before it, and so on. A place in a session is
    SESSION#UUID (a record), SESSION:3 (a turn) or a link to the web app.

    Output is safe for your terminal, even through a pipe: escape sequences in a transcript are
    shown, not executed. Only --raw prints lines unescaped. Secrets are replaced by tags such as
    [redacted:aws-key#1], with --raw too; --reveal shows them in a terminal.

    \b
      recollect show latest
      recollect show latest --turn -1 --tools full
      recollect show 8facb961 --prompts
      recollect show 'flaky test' --turns 2-5 --thinking
      recollect show --at 8facb961:12 -C 2
      recollect show latest --thread --outline
      recollect show -2 --json | jq '.turns[].words'

    Exits with 3 if there is no such session or turn.
    """
    selection = _check(options)
    name = session or options["at"]
    if name is None:
        context = click.get_current_context()
        raise click.MissingParameter(
            ctx=context, param=context.command.params[0], param_hint="'SESSION'"
        )
    _reject_stream(name)
    with command_workspace(options["claude_dirs"]) as workspace, _unmask(options["reveal"]):
        if options["thread"]:
            return _show_thread(workspace, name, options)
        request = TurnRequest(
            name=name,
            place=read_place_within(options["at"]) if session and options["at"] else None,
            selection=selection,
            context=options["context"],
            words=options["highlight"],
            with_prices=options["cost"],
            with_rest=options["raw"],
            with_tokens=_has_head(options),
        )
        found = open_turns(workspace, request)
    opened, at, turns = found.session, found.at, found.turns or ()
    if options["raw"]:
        _print_raw(opened, found.turns)
    elif options["as_json"] or options["json_lines"]:
        _print_json(opened, turns, options, at)
    else:
        is_whole = at is None and selection == TurnSelection()
        lines = _iter_lines(opened, turns, options, at, found.shares, is_whole=is_whole)
        with _unmask(options["reveal"]):
            terminal_output.show_lines(
                lines, is_paged=options["paged"], start=POINTER.strip() if at else None
            )
    return 0


def _show_thread(workspace: Workspace, name: str, options: _Options) -> int:
    """Print the sessions that continue each other, each with its own turns."""
    from recollect.workspace.thread_parts import open_thread  # rarely needed

    parts = open_thread(workspace, workspace.find(name))
    if options["json_lines"]:
        for part in parts:
            _print_json(part.session, part.turns, options, None)
    else:
        from recollect.cli.session_text import iter_thread

        first = parts[0].session
        lines = iter_thread(
            parts, _make_render_options(first, options), options["outline"], options["prompts"]
        )
        terminal_output.show_lines(lines, is_paged=options["paged"], start=None)
    return 0


def _has_head(options: _Options) -> bool:
    """Return whether the output starts with the figures of the session."""
    is_text = not (options["raw"] or options["as_json"] or options["json_lines"])
    return is_text and not options["outline"]


def _unmask(is_wanted: bool) -> AbstractContextManager[None]:
    from recollect.reader.line_blocks import masked_by  # rarely needed

    return masked_by(None) if is_wanted else nullcontext()


def _reject_stream(name: str) -> None:
    """Raise UsageError if `name` is a saved stream."""
    from recollect.locations.references import looks_like_file  # not needed for --help

    if not looks_like_file(name):
        return
    from recollect.launch.stream_session import is_stream_file  # only for files

    if is_stream_file(Path(name)):
        raise UsageError(
            f"{name} is a saved stream, not a transcript. Use `recollect replay --instant` instead."
        )


def _check(options: _Options) -> TurnSelection:
    """Return the selection; raise UsageError for conflicting options."""
    if sum((options["raw"], options["as_json"], options["json_lines"])) > 1:
        raise UsageError("Use only one of --raw, --json and --json-lines.")
    is_for_programs = options["raw"] or options["as_json"] or options["json_lines"]
    check_reveal(reveal=options["reveal"], is_for_programs=is_for_programs)
    if options["turn"] is not None and options["turns"] is not None:
        raise UsageError("Use only one of --turn and --turns.")
    if options["thread"] and (options["raw"] or options["as_json"]):
        raise UsageError("--thread cannot be used with --json or --raw. Use --json-lines.")
    only = options["turn"]
    selection = TurnSelection(
        turns=options["turns"] if only is None else TurnBounds(only, only),
        branch=options["branch"],
        segment=options["segment"],
    )
    if options["thread"] and (options["at"] or selection != TurnSelection()):
        raise UsageError(
            "--thread cannot be used with --at, --turn, --turns, --branch or --segment."
        )
    return selection


def _iter_lines(
    session: Session,
    turns: Sequence[int],
    options: _Options,
    at: RecordLocation | None,
    shares: TokenShares | None,
    *,
    is_whole: bool,
) -> Iterator[str]:
    from recollect.cli.session_text import iter_outline, iter_place  # loads rich
    from recollect.render.terminal.terminal_session import render_session

    render_options = _make_render_options(session, options)
    if options["outline"]:
        return iter_outline(session, turns, render_options)
    if at is not None:
        return iter_place(session, turns, at, render_options)
    prompts_only = options["prompts"]
    return render_session(
        session, turns, render_options, is_whole=is_whole, prompts_only=prompts_only, shares=shares
    )


def _make_render_options(session: Session, options: _Options) -> RenderOptions:
    from recollect.render.terminal.canvas import RenderOptions, ToolDetail  # loads rich

    return RenderOptions(
        columns=terminal_output.count_columns(),
        is_coloured=terminal_output.wants_colour(),
        tools=ToolDetail(options["tools"]),
        thinking=options["thinking"],
        subagents=options["subagents"],
        directory=session.contents.metadata.cwd,
        marks=options["highlight"],
    )


def _print_json(
    session: Session, turns: Sequence[int], options: _Options, at: RecordLocation | None
) -> None:
    from recollect.cli.json_output import format_document, format_line
    from recollect.documents.session_documents import ShowDocument, ShowHead
    from recollect.render.views.turn_views import complete_turn, keep_prompts

    entries = (
        keep_prompts(view)
        if options["prompts"]
        else complete_turn(view, session, subagents=options["subagents"])
        for view in iter_turn_views(session, turns)
    )
    anchor = at.anchor if at else None
    about = _hide_paths(session.contents.metadata)
    if options["as_json"]:
        document = ShowDocument(session=about, turns=tuple(entries), at=anchor)
        click.echo(format_document(document))
        return
    click.echo(format_line(ShowHead(session=about, at=anchor)))
    for entry in entries:
        click.echo(format_line(entry))


def _hide_paths(about: Metadata) -> Metadata:
    """Return metadata with secrets in its paths masked."""
    from msgspec.structs import replace

    from recollect.redact.quick_masks import mask_path

    return replace(
        about,
        project=about.project and mask_path(about.project),
        path=about.path and mask_path(about.path),
    )


def _print_raw(session: Session, turns: Sequence[int] | None) -> None:
    """Write the original lines of `turns`, or of the whole file, with secrets masked."""
    from recollect.reader.line_blocks import mask_line
    from recollect.reader.transcript_reader import read_transcript

    path = Path(session.contents.metadata.path or "")
    wanted = None if turns is None else _list_uuids(session, turns)
    with open_file(path, resolve=True) as file:
        for record in read_transcript(path):
            span = record.span
            if span and (wanted is None or getattr(record, "uuid", None) in wanted):
                file.seek(span.offset)
                line = mask_line(span.file, span.offset, file.read(span.length))
                sys.stdout.buffer.write(line)


def _list_uuids(session: Session, turns: Sequence[int]) -> set[str]:
    return {uuid for view in iter_turn_views(session, turns) for uuid in view.uuids}
