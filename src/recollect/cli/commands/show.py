"""`recollect show`: a session or any part of it, as text, JSON or raw lines."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypedDict, Unpack

import click
from msgspec.structs import replace

from recollect.cli.command_workspace import command_workspace
from recollect.cli.options import claude_dir_option, json_option, session_argument
from recollect.cli.paging import pager_option, show_lines
from recollect.cli.tables import colour_option, count_columns, wants_colour
from recollect.cli.turn_options import Number, SegmentNumber, TurnBoundsOption
from recollect.documents.turns import TurnView
from recollect.errors import UsageError
from recollect.library.sidecar_files import load_session_lists
from recollect.render.terminal.canvas import Canvas, RenderOptions
from recollect.render.terminal.terminal_turns import (
    draw_head,
    draw_notice,
    draw_prompt,
    draw_subagent,
    draw_turn,
    draw_turn_rule,
)
from recollect.render.views.sidecar_notices import list_sidecar_notices
from recollect.render.views.turn_views import build_turn_views
from recollect.render.views.whole_calls import show_whole_calls
from recollect.session.session import Session
from recollect.sources.safe_files import open_file
from recollect.workspace.turn_selection import (
    TurnBounds,
    TurnSelection,
    list_alternatives,
    select_turns,
)


def iter_session(
    session: Session,
    turns: Sequence[int],
    render_options: RenderOptions,
    *,
    is_whole: bool,
    prompts_only: bool,
) -> Iterator[str]:
    """Yield the lines of `turns`, with a header if the whole session is shown."""
    canvas = Canvas(render_options)
    for line in _iter_all(session, turns, canvas, is_whole=is_whole, prompts_only=prompts_only):
        yield line.rstrip()


def _iter_all(
    session: Session,
    turns: Sequence[int],
    canvas: Canvas,
    *,
    is_whole: bool,
    prompts_only: bool,
) -> Iterator[str]:
    columns = canvas.options.columns
    if is_whole:
        yield from draw_head(session, canvas, columns)
        yield ""
    for view in _iter_views(session, turns, is_full=canvas.options.is_full):
        yield from _render_fork(session, view, canvas)
        if prompts_only:
            yield from draw_turn_rule(view, canvas, columns)
            yield from draw_prompt(view, canvas, columns)
        else:
            yield from draw_turn(view, session, canvas, columns)
        yield ""
    if is_whole and not prompts_only:
        yield from _render_strays(session, canvas)
        for notice in list_sidecar_notices(load_session_lists(session), session.id):
            yield from draw_notice(notice, canvas, columns)
            yield ""


def _iter_views(session: Session, turns: Sequence[int], *, is_full: bool) -> Iterator[TurnView]:
    for index in turns:
        for view in build_turn_views(session, start=index, stop=index + 1):
            yield show_whole_calls(view, session) if is_full else view


def _render_fork(session: Session, view: TurnView, canvas: Canvas) -> Iterator[str]:
    """Yield a line about each branch that was abandoned before this turn."""
    own = set(view.uuids)
    numbers = {uuid: number for number, uuid in enumerate(list_alternatives(session), start=1)}
    for branch in session.branches:
        if branch.chosen in own:
            ways = [f"--branch {numbers[each]}" for each in branch.options if each in numbers]
            yield canvas.styled(f"├─ Rewound to here. Abandoned: {', '.join(ways)}", "yellow")


def _render_strays(session: Session, canvas: Canvas) -> Iterator[str]:
    """Yield the subagents that no known call started."""
    strays = [each for each in session.subagents if each.call is None and not each.is_warmup]
    if strays:
        yield canvas.styled("Subagents not started by a call in this session", "bold")
    for each in strays:
        yield from draw_subagent(each, canvas, canvas.options.columns)


class _Options(TypedDict):
    turn: int | None
    turns: TurnBounds | None
    branch: str | None
    segment: int | None
    prompts: bool
    thinking: bool
    tools: str
    subagents: bool
    raw: bool
    paged: bool
    claude_dirs: tuple[Path, ...]
    as_json: bool
    json_lines: bool


@click.command("show")
@session_argument()
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
@click.option("--prompts", is_flag=True, help="Show only prompts, without replies.")
@click.option("--thinking", is_flag=True, help="Show thinking in full.")
@click.option(
    "--tools",
    type=click.Choice(["none", "brief", "full"]),
    default="brief",
    show_default=True,
    help="How much of each tool call to show; full omits nothing.",
)
@click.option("--subagents", is_flag=True, help="Expand subagents where they were started.")
@click.option(
    "--raw", is_flag=True, help="Print the raw lines of the file. Not safe for a terminal."
)
@pager_option
@colour_option
@claude_dir_option
@json_option
@click.option(
    "--json-lines", is_flag=True, help="Output JSON Lines: the session, then one turn per line."
)
def command(session: str, **options: Unpack[_Options]) -> int:
    """Show a session, or any part of it.

    SESSION is an id or the start of one, words from a title, the path of a transcript, `latest`, or
    -1, -2 ... for the newest session, the one before it, and so on.

    Output is safe for your terminal, even through a pipe: escape sequences in a transcript are
    shown, not executed. Only --raw prints the original bytes.

    \b
      recollect show latest
      recollect show latest --turn -1 --tools full
      recollect show 8facb961 --prompts
      recollect show 'flaky test' --turns 2-5 --thinking
      recollect show -2 --json | jq '.turns[].words'

    Exits with 3 if there is no such session or turn.
    """
    selection = _check(options)
    _reject_stream(session)
    with command_workspace(options["claude_dirs"]) as workspace:
        opened = workspace.open(session, with_prices=False)
    if options["raw"] and selection == TurnSelection():
        _print_raw(opened, None)
        return 0
    turns = select_turns(opened, selection)
    if options["raw"]:
        _print_raw(opened, turns)
    elif options["as_json"] or options["json_lines"]:
        _print_json(opened, turns, options)
    else:
        show_lines(_iter_lines(opened, turns, selection, options), is_paged=options["paged"])
    return 0


def _reject_stream(name: str) -> None:
    """Raise UsageError if `name` is a saved stream."""
    from recollect.locations.references import looks_like_file  # not needed for --help

    if not looks_like_file(name):
        return
    from recollect.launch.replaying import is_stream_file  # only for files

    if is_stream_file(Path(name)):
        raise UsageError(
            f"{name} is a saved stream, not a transcript. Use `recollect replay --instant` instead."
        )


def _check(options: _Options) -> TurnSelection:
    """Return the selection; raise UsageError for conflicting options."""
    if sum((options["raw"], options["as_json"], options["json_lines"])) > 1:
        raise UsageError("Use only one of --raw, --json and --json-lines.")
    if options["turn"] is not None and options["turns"] is not None:
        raise UsageError("Use only one of --turn and --turns.")
    only = options["turn"]
    return TurnSelection(
        turns=options["turns"] if only is None else TurnBounds(only, only),
        branch=options["branch"],
        segment=options["segment"],
    )


def _iter_lines(
    session: Session, turns: Sequence[int], selection: TurnSelection, options: _Options
) -> Iterator[str]:
    from recollect.render.terminal.canvas import RenderOptions, ToolDetail

    render_options = RenderOptions(
        columns=count_columns(),
        is_coloured=wants_colour(),
        tools=ToolDetail(options["tools"]),
        thinking=options["thinking"],
        subagents=options["subagents"],
        directory=session.metadata.cwd,
    )
    return iter_session(
        session,
        turns,
        render_options,
        is_whole=selection == TurnSelection(),
        prompts_only=options["prompts"],
    )


def _print_json(session: Session, turns: Sequence[int], options: _Options) -> None:
    from recollect.cli.json_output import format_document, format_line
    from recollect.documents.session_documents import ShowDocument, ShowHead
    from recollect.render.views.complete_turns import complete_turn

    entries = (
        replace(view, steps=())
        if options["prompts"]
        else complete_turn(view, session, subagents=options["subagents"])
        for view in _iter_views(session, turns, is_full=False)
    )
    if options["as_json"]:
        click.echo(format_document(ShowDocument(session=session.metadata, turns=tuple(entries))))
        return
    click.echo(format_line(ShowHead(session=session.metadata)))
    for entry in entries:
        click.echo(format_line(entry))


def _print_raw(session: Session, turns: Sequence[int] | None) -> None:
    """Write the lines of `turns`, or of the whole file, byte for byte."""
    from recollect.reader import read_transcript

    path = Path(session.metadata.path or "")
    wanted = None if turns is None else _list_uuids(session, turns)
    with open_file(path, resolve=True) as file:
        for record in read_transcript(path):
            span = record.span
            if span and (wanted is None or getattr(record, "uuid", None) in wanted):
                file.seek(span.offset)
                sys.stdout.buffer.write(file.read(span.length))


def _list_uuids(session: Session, turns: Sequence[int]) -> set[str]:
    views = (view for i in turns for view in build_turn_views(session, start=i, stop=i + 1))
    return {uuid for view in views for uuid in view.uuids}
