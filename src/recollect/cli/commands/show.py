"""`recollect show`: a session as a person reads it, or any part of it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

import click

from recollect.cli.colours import colour_option, wants_colour
from recollect.cli.options import claude_dir_option, json_option, session_argument
from recollect.cli.paging import pager_option, show_lines
from recollect.cli.show.ranges import Number, Range, Selection, TurnRange
from recollect.cli.tables import count_columns
from recollect.errors import UsageError

if TYPE_CHECKING:
    from recollect.session.session import Session


class _Options(TypedDict):
    turn: int | None
    turns: Range | None
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
@click.option("--turn", type=Number(), metavar="N", help="Only this turn; -1 is the last.")
@click.option("--turns", type=TurnRange(), metavar="A-B", help="Only these: 2-5, 4-, -3..-1.")
@click.option("--branch", metavar="N|all", help="Also what was left behind by going back.")
@click.option(
    "--segment", type=Number(), metavar="N", help="Only what lies between two compactions."
)
@click.option("--prompts", is_flag=True, help="Only what was asked, not what was answered.")
@click.option("--thinking", is_flag=True, help="Show thoughts whole.")
@click.option(
    "--tools",
    type=click.Choice(["none", "brief", "full"]),
    default="brief",
    show_default=True,
    help="How much of tool calls; full leaves nothing out.",
)
@click.option("--subagents", is_flag=True, help="Unfold subagents where they were started.")
@click.option("--raw", is_flag=True, help="Print the lines of the file. Not safe for a terminal.")
@pager_option
@colour_option
@claude_dir_option
@json_option
@click.option("--json-lines", is_flag=True, help="Print the session and then one turn a line.")
def command(session: str, **options: Unpack[_Options]) -> int:
    """Show a session as a person reads it, or any part of it.

    SESSION is an id or its beginning, a title or part of one, the path of a transcript, `latest`,
    or -1, -2 ... for the newest and those before it.

    What a transcript holds can do nothing to your terminal: escape sequences are shown instead of
    sent, in pipes too. Only --raw gives the bytes as they are.

    \b
      recollect show latest
      recollect show latest --turn -1 --tools full
      recollect show 8facb961 --prompts
      recollect show 'flaky test' --turns 2-5 --thinking
      recollect show -2 --json | jq '.turns[].words'

    Exits with 3 if there is no such session or turn.
    """
    from recollect.cli.naming import open_named  # noqa: PLC0415 - the index, not for the help
    from recollect.cli.show.selection import select_turns  # noqa: PLC0415 - the model of a session

    selection = _check(options)
    opened = open_named(session, options["claude_dirs"])
    if options["raw"] and selection == Selection():
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


def _check(options: _Options) -> Selection:
    """What is asked for; raises UsageError when the options contradict each other."""
    if sum((options["raw"], options["as_json"], options["json_lines"])) > 1:
        raise UsageError("Give one of --raw, --json and --json-lines: each says what to print.")
    if options["turn"] is not None and options["turns"] is not None:
        raise UsageError("Give --turn or --turns: each says which to show.")
    only = options["turn"]
    return Selection(
        turns=options["turns"] if only is None else Range(only, only),
        branch=options["branch"],
        segment=options["segment"],
    )


def _iter_lines(
    session: Session, turns: Sequence[int], selection: Selection, options: _Options
) -> Iterator[str]:
    from recollect.cli.show.text import iter_session  # noqa: PLC0415 - loads rich
    from recollect.render.terminal.look import Look, ToolDetail  # noqa: PLC0415

    look = Look(
        columns=count_columns(),
        is_coloured=wants_colour(),
        tools=ToolDetail(options["tools"]),
        thinking=options["thinking"],
        subagents=options["subagents"],
        directory=session.metadata.cwd,
    )
    return iter_session(
        session, turns, look, is_whole=selection == Selection(), prompts_only=options["prompts"]
    )


def _print_json(session: Session, turns: Sequence[int], options: _Options) -> None:
    from recollect.cli.documents import format_document, format_line  # noqa: PLC0415
    from recollect.cli.show.document import ShowDocument, ShowHead, describe_turn  # noqa: PLC0415
    from recollect.render.views.turns import build_turn_views  # noqa: PLC0415

    entries = (
        describe_turn(view, subagents=options["subagents"], prompts=options["prompts"])
        for turn in turns
        for view in build_turn_views(session, start=turn, stop=turn + 1)
    )
    if options["as_json"]:
        click.echo(format_document(ShowDocument(session=session.metadata, turns=tuple(entries))))
        return
    click.echo(format_line(ShowHead(session=session.metadata)))
    for entry in entries:
        click.echo(format_line(entry))


def _print_raw(session: Session, turns: Sequence[int] | None) -> None:
    """Write the lines of the file that belong to `turns`, or all of them, byte for byte."""
    from recollect.locations import open_regular  # noqa: PLC0415
    from recollect.reader import read_transcript  # noqa: PLC0415

    path = Path(session.metadata.path or "")
    wanted = None if turns is None else _list_uuids(session, turns)
    with open_regular(path, resolve=True) as file:
        for record in read_transcript(path):
            span = record.span
            if span and (wanted is None or getattr(record, "uuid", None) in wanted):
                file.seek(span.offset)
                sys.stdout.buffer.write(file.read(span.length))


def _list_uuids(session: Session, turns: Sequence[int]) -> set[str]:
    from recollect.render.views.turns import build_turn_views  # noqa: PLC0415

    views = (view for i in turns for view in build_turn_views(session, start=i, stop=i + 1))
    return {uuid for view in views for uuid in view.uuids}
