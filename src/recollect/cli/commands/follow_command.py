"""`recollect follow`: follow sessions as text or JSON Lines, with triggers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypedDict, Unpack

import click

from recollect.cli.options import claude_dir_option, detail_options, session_argument
from recollect.cli.terminal_output import colour_option, count_columns, wants_colour
from recollect.errors import UsageError

if TYPE_CHECKING:
    from recollect.cli.follow_actions import Actions
    from recollect.live.live_events import AnyEvent
    from recollect.live.triggers import Triggers


NEWEST: Final = "latest"
DRAW_SECONDS: Final = 0.1
"""How long to collect events, so that a burst of records is rendered once."""

MAX_WAITING: Final = 1000
_RUN: Final = "--run"


class _Options(TypedDict):
    project: str | None
    follow_all: bool
    turns: int | None
    thinking: bool
    tools: str
    json_lines: bool
    after: str | None
    until: Literal["idle", "end"] | None
    poll: bool
    on: tuple[str, ...]
    run: tuple[str, ...]
    notify: bool
    claude_dirs: tuple[Path, ...]


class _Command(click.Command):
    """Everything after `--run` is the program to run and its arguments."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Pass each argument to the option separately, so that click does not parse it."""
        if _RUN in args:
            start = args.index(_RUN)
            args[start:] = [f"{_RUN}={each}" for each in args[start + 1 :]] or [_RUN]
        return super().parse_args(ctx, args)


@click.command("follow", cls=_Command)
@session_argument(required=False)
@click.option(
    "--project", metavar="TEXT", help="Follow all sessions of projects whose path contains TEXT."
)
@click.option("--all", "follow_all", is_flag=True, help="Follow all sessions.")
@click.option(
    "--turns", type=click.IntRange(0, 1000), metavar="N",
    help="Show the last N turns first; default 1.",
)  # fmt: skip
@detail_options("brief", "full")
@click.option("--json-lines", is_flag=True, help="Output JSON Lines, one event per line.")
@click.option("--after", metavar="ID", help="Resume after this event.")
@click.option(
    "--until",
    type=click.Choice(["idle", "end"]),
    help="Stop when the session is idle or has ended.",
)
@click.option("--poll", is_flag=True, help="Poll instead of using file-system events.")
@click.option(
    "--on", multiple=True, metavar="WHAT",
    help="Trigger on error, permission, cost:5.00 or a search query. Can be repeated.",
)  # fmt: skip
@click.option("--notify", is_flag=True, help="Show a desktop notification when a trigger fires.")
@click.option(
    "--run", multiple=True, metavar="CMD ARG...",
    help="Run a program when a trigger fires. Must come last: takes all remaining arguments.",
)  # fmt: skip
@colour_option
@claude_dir_option
def follow_command(session: str | None, **options: Unpack[_Options]) -> int:
    """Follow a session as it grows, subagents included.

    See `recollect show` for how to specify SESSION; the default is the latest. If it is a place in
    a session, output begins there. Press Ctrl+C to stop.

    \b
      recollect follow
      recollect follow latest:5
      recollect follow --all --json-lines | jq -c 'select(.event == "status")'
      recollect follow --until idle && make deploy
      recollect follow --all --on permission --notify
      recollect follow latest --on 'tool:Bash is:error' --run say oops

    A program started by --run gets RECOLLECT_SESSION, RECOLLECT_TRIGGER, RECOLLECT_TEXT,
    RECOLLECT_AGENT and RECOLLECT_TRANSCRIPT in its environment.
    """
    _check(session, options)
    events, starts = _open_events(session, options)
    asyncio.run(_follow(events, starts, options))
    return 0


def _check(session: str | None, options: _Options) -> None:
    if sum((session is not None, options["project"] is not None, options["follow_all"])) > 1:
        raise UsageError("Use only one of SESSION, --project and --all.")
    has_action = options["notify"] or bool(options["run"])
    if bool(options["on"]) != has_action:
        raise UsageError("Use --on together with --notify or --run.")


def _open_events(
    session: str | None, options: _Options
) -> tuple[AsyncGenerator[AnyEvent, None], Mapping[str, int]]:
    """Return the events, and the offsets by path at which output begins."""
    # Resolving a session opens the index, and following imports the session model.
    from recollect.cli.command_workspace import command_workspace
    from recollect.live.follow import FollowOptions

    is_wide = options["follow_all"] or options["project"] is not None
    start = options["after"]
    starts: Mapping[str, int] = {}
    with command_workspace(options["claude_dirs"]) as workspace:
        found = workspace.find_place(session) if session else None
        if found and found.place.anchor:
            _check_place(options)
            if not options["json_lines"]:
                from recollect.workspace.follow_starts import find_start  # opens the session

                # Earlier turns are read to count them.
                start, starts = "start", find_start(found).offsets
        events = workspace.follow(
            None if is_wide else session or NEWEST,
            project=options["project"],
            start=start,
            options=FollowOptions(poll=options["poll"], until=options["until"]),
        )
    return events, starts


def _check_place(options: _Options) -> None:
    if options["turns"] is not None or options["after"] is not None:
        raise UsageError("--turns and --after cannot be used with a place in a session.")


async def _follow(
    events: AsyncGenerator[AnyEvent, None], starts: Mapping[str, int], options: _Options
) -> None:
    triggers, actions = _make_triggers(options)
    feed, flush = _make_printer(options, starts)
    last_flush = time.monotonic()
    async for event in _gather(events):
        if event is not None:
            feed(event)
            if triggers and actions:
                for fired in triggers.feed(event):
                    actions.start(fired)
        if event is None or time.monotonic() - last_flush >= DRAW_SECONDS:
            flush()
            last_flush = time.monotonic()
    flush()
    if actions:
        await actions.finish()


async def _gather(
    events: AsyncGenerator[AnyEvent, None],
) -> AsyncGenerator[AnyEvent | None, None]:
    """Yield the events, and None when there is a pause after some."""
    queue: asyncio.Queue[AnyEvent] = asyncio.Queue(MAX_WAITING)
    pump = asyncio.create_task(_pump(events, queue))
    getter: asyncio.Task[AnyEvent] | None = None
    pause: float | None = DRAW_SECONDS
    try:
        while not (pump.done() and queue.empty() and getter is None):
            getter = getter or asyncio.create_task(queue.get())
            waits = {getter} if pump.done() else {getter, pump}
            done, _ = await asyncio.wait(waits, timeout=pause, return_when=asyncio.FIRST_COMPLETED)
            if getter in done:
                yield getter.result()
                getter, pause = None, DRAW_SECONDS
                while not queue.empty():
                    yield queue.get_nowait()
            elif pump in done and queue.empty():
                break
            elif not done:
                yield None
                pause = None
        await pump
    finally:
        for task in (pump, getter):
            if task is not None:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)


async def _pump(events: AsyncGenerator[AnyEvent, None], queue: asyncio.Queue[AnyEvent]) -> None:
    async with aclosing(events):
        async for event in events:
            await queue.put(event)


def _make_triggers(options: _Options) -> tuple[Triggers, Actions] | tuple[None, None]:
    if not options["on"]:
        return None, None
    from recollect.cli.follow_actions import Actions  # imports queries and prices
    from recollect.live.triggers import Triggers

    return Triggers(options["on"]), Actions(options["run"], notify=options["notify"])


def _make_printer(
    options: _Options, starts: Mapping[str, int]
) -> tuple[Callable[[AnyEvent], None], Callable[[], None]]:
    """Return the callbacks for an event and for a pause."""
    if options["json_lines"]:
        from recollect.cli.json_output import format_line
        from recollect.live.live_events import describe_event

        return lambda event: click.echo(format_line(describe_event(event))), lambda: None
    from recollect.cli.follow_text import EventRenderer  # loads rich
    from recollect.render.terminal.canvas import Canvas, RenderOptions, ToolDetail

    render_options = RenderOptions(
        columns=count_columns(),
        is_coloured=wants_colour(),
        tools=ToolDetail(options["tools"]),
        thinking=options["thinking"],
    )
    turns = 1 if options["turns"] is None else options["turns"]
    renderer = EventRenderer(Canvas(render_options), turns, starts)
    return lambda event: _print(renderer.feed(event)), lambda: _print(renderer.flush())


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        click.echo(line)
