"""`recollect follow`: a session as it grows, for the eye, for scripts, and for alarms."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypedDict, Unpack

import click

from recollect.cli.colours import colour_option, wants_colour
from recollect.cli.options import claude_dir_option, session_argument
from recollect.cli.tables import count_columns
from recollect.errors import UsageError

if TYPE_CHECKING:
    from recollect.cli.follow.actions import Actions
    from recollect.live.events import AnyEvent
    from recollect.live.scope import Scope
    from recollect.live.triggers import Triggers

NEWEST: Final = "latest"
DRAW_SECONDS: Final = 0.1
"""How long lines are gathered, so that a burst of records is drawn once."""

MOST_WAITING: Final = 1000
_RUN: Final = "--run"


class _Options(TypedDict):
    project: str | None
    follow_all: bool
    turns: int
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
    """All that stands behind `--run` is the program to run and its arguments."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Give each of them to the option by itself, so that click looks into none."""
        if _RUN in args:
            place = args.index(_RUN)
            args[place:] = [f"{_RUN}={each}" for each in args[place + 1 :]] or [_RUN]
        return super().parse_args(ctx, args)


@click.command("follow", cls=_Command)
@session_argument(required=False)
@click.option("--project", metavar="TEXT", help="All sessions of projects with this in their path.")
@click.option("--all", "follow_all", is_flag=True, help="All sessions, whatever happens in them.")
@click.option(
    "--turns", type=click.IntRange(0, 1000), default=1, show_default=True, metavar="N",
    help="Show the last N turns of a session first.",
)  # fmt: skip
@click.option("--thinking", is_flag=True, help="Show thoughts whole.")
@click.option(
    "--tools", type=click.Choice(["brief", "full"]), default="brief", show_default=True,
    help="How much of tool calls; full leaves nothing out.",
)  # fmt: skip
@click.option("--json-lines", is_flag=True, help="Print one event a line, as JSON.")
@click.option("--after", metavar="ID", help="Go on behind this event of an earlier run.")
@click.option(
    "--until", type=click.Choice(["idle", "end"]), help="Stop when nothing more is to come."
)
@click.option("--poll", is_flag=True, help="Look for changes instead of asking the system.")
@click.option(
    "--on", multiple=True, metavar="WHAT",
    help="What to wait for: error, permission, cost:5.00 or a query. May be repeated.",
)  # fmt: skip
@click.option("--notify", is_flag=True, help="Show a note on the desktop when it happens.")
@click.option(
    "--run", multiple=True, metavar="CMD ARG...",
    help="Run a program when it happens. Comes last: all that follows is its own.",
)  # fmt: skip
@colour_option
@claude_dir_option
def command(session: str | None, **options: Unpack[_Options]) -> int:
    """Show a session as it grows, with its subagents.

    SESSION is named as in `show`; without one it is the latest. Ctrl-C ends it.

    \b
      recollect follow
      recollect follow --all --json-lines | jq -c 'select(.event == "status")'
      recollect follow --until idle && make deploy
      recollect follow --all --on permission --notify
      recollect follow latest --on 'tool:Bash is:error' --run say oops

    A program that is run finds RECOLLECT_SESSION, RECOLLECT_TRIGGER, RECOLLECT_TEXT,
    RECOLLECT_AGENT and RECOLLECT_TRANSCRIPT in its environment.
    """
    _check(session, options)
    scope = _find_scope(session, options)
    asyncio.run(_follow(scope, options))
    return 0


def _check(session: str | None, options: _Options) -> None:
    if sum((session is not None, options["project"] is not None, options["follow_all"])) > 1:
        raise UsageError("Give a session, --project or --all: each says what to follow.")
    has_deed = options["notify"] or bool(options["run"])
    if bool(options["on"]) != has_deed:
        raise UsageError(
            "Say with --on what to wait for, and with --notify or --run what to do then."
        )


def _find_scope(session: str | None, options: _Options) -> Scope:
    # Named sessions are found by the index, and following loads the whole model of a session.
    from recollect.cli.naming import find_named  # noqa: PLC0415
    from recollect.live.scope import RootScope, SessionScope  # noqa: PLC0415
    from recollect.locations import resolve_roots  # noqa: PLC0415

    if options["follow_all"] or options["project"] is not None:
        return RootScope(resolve_roots(options["claude_dirs"]), options["project"])
    return SessionScope(find_named(session or NEWEST, options["claude_dirs"]))


async def _follow(scope: Scope, options: _Options) -> None:
    from recollect.live.follow import FollowOptions, follow  # noqa: PLC0415

    start = options["after"] or ("start" if scope.is_narrow else "end")
    settings = FollowOptions(poll=options["poll"], until=options["until"])
    triggers, actions = _make_alarm(options)
    hear, flush = _make_printer(options)
    drawn = time.monotonic()
    async for event in _gather(follow(scope, start, settings)):
        if event is not None:
            hear(event)
            if triggers and actions:
                for fired in triggers.hear(event):
                    actions.start(fired)
        if event is None or time.monotonic() - drawn >= DRAW_SECONDS:
            flush()
            drawn = time.monotonic()
    flush()
    if actions:
        await actions.finish()


async def _gather(
    events: AsyncGenerator[AnyEvent, None],
) -> AsyncGenerator[AnyEvent | None, None]:
    """The events, and None after some when there was nothing new for a moment."""
    queue: asyncio.Queue[AnyEvent] = asyncio.Queue(MOST_WAITING)
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


def _make_alarm(options: _Options) -> tuple[Triggers, Actions] | tuple[None, None]:
    if not options["on"]:
        return None, None
    from recollect.cli.follow.actions import Actions  # noqa: PLC0415 - queries and prices
    from recollect.live.triggers import Triggers  # noqa: PLC0415

    return Triggers(options["on"]), Actions(options["run"], notify=options["notify"])


def _make_printer(options: _Options) -> tuple[Callable[[AnyEvent], None], Callable[[], None]]:
    """What to do with an event, and what to do in a pause."""
    if options["json_lines"]:
        from recollect.cli.documents import format_line  # noqa: PLC0415
        from recollect.cli.follow.document import describe_event  # noqa: PLC0415

        return lambda event: click.echo(format_line(describe_event(event))), lambda: None
    from recollect.cli.follow.text import Drawer  # noqa: PLC0415 - loads rich
    from recollect.render.terminal.canvas import Canvas  # noqa: PLC0415
    from recollect.render.terminal.look import Look, ToolDetail  # noqa: PLC0415

    look = Look(
        columns=count_columns(),
        is_coloured=wants_colour(),
        tools=ToolDetail(options["tools"]),
        thinking=options["thinking"],
    )
    drawer = Drawer(Canvas(look), options["turns"])
    return lambda event: _print(drawer.hear(event)), lambda: _print(drawer.flush())


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        click.echo(line)
