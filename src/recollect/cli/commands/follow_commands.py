"""`recollect follow`: follow sessions as text or JSON Lines, with triggers; and `recollect replay`:
replay a session or a saved stream.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypedDict, Unpack

import click

from recollect.cli.options import SessionName, claude_dir_option, detail_options, session_argument
from recollect.cli.terminal_output import colour_option, count_columns, wants_colour
from recollect.errors import UsageError

if TYPE_CHECKING:
    import asyncio

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
    import asyncio  # not needed to replay

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
    import asyncio

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


if TYPE_CHECKING:
    from recollect.locations import Transcript
    from recollect.render.terminal.canvas import RenderOptions


MIN_SECONDS: Final = 0.05
TURNS: Final = 50
BATCH: Final = 40
"""Maximum number of records to render at once; less than `TURNS`, so that none is lost."""


@click.command("replay")
@click.argument("file", type=SessionName(), metavar="FILE")
@click.option(
    "--speed", type=click.FloatRange(0.01, 1000), metavar="N", help="Play N times as fast."
)
@click.option("--instant", is_flag=True, help="Skip all pauses.")
@detail_options("brief", "full")
@colour_option
@claude_dir_option
def replay_command(
    file: str,
    *,
    speed: float | None,
    instant: bool,
    thinking: bool,
    tools: str,
    claude_dirs: tuple[Path, ...],
) -> int:
    """Replay a session or a saved stream as it happened.

    FILE is a transcript, a stream saved by `run --keep`, or a session as for `recollect show`.
    Pauses are as long as in the original, at most 5 seconds.

    \b
      recollect replay latest
      recollect replay latest --speed 10
      recollect replay tidy.jsonl --instant

    Exits with 3 if there is no such file or session.
    """
    from recollect.cli.command_workspace import mask_stream  # not needed for --help
    from recollect.launch.stream_session import is_stream_file
    from recollect.render.terminal.canvas import RenderOptions, ToolDetail

    if instant and speed is not None:
        raise UsageError("Use only one of --speed and --instant.")
    render_options = RenderOptions(
        columns=count_columns(),
        is_coloured=wants_colour(),
        tools=ToolDetail(tools),
        thinking=thinking,
    )
    pause = _Pause(None if instant else speed or 1.0)
    mask_stream(reveal=False)
    path = Path(file)
    if path.is_file() and is_stream_file(path):
        _play_stream(path, render_options, pause)
    else:
        _play_session(_find(file, claude_dirs), render_options, pause)
    return 0


class _Pause:
    """Accumulates pauses, because very short ones are not worth a sleep."""

    def __init__(self, speed: float | None) -> None:
        self.speed = speed or 1.0
        self._is_instant = speed is None
        self._pending = 0.0
        self._last = time.monotonic()

    def is_due(self, seconds: float) -> bool:
        """Add a pause; return whether it is time to sleep."""
        self._pending += 0.0 if self._is_instant else seconds
        return self._pending >= MIN_SECONDS

    def take(self) -> None:
        """Sleep for the accumulated time, minus the time spent on rendering."""
        time.sleep(max(self._last + self._pending - time.monotonic(), 0.0))
        self._pending, self._last = 0.0, time.monotonic()


def _find(name: str, claude_dirs: tuple[Path, ...]) -> Transcript:
    from recollect.cli.command_workspace import command_workspace  # the index
    from recollect.locations.references import locate_file

    path = Path(name)
    if path.is_file():
        return locate_file(path)
    with command_workspace(claude_dirs) as workspace:
        return workspace.find(name)


def _play_stream(path: Path, render_options: RenderOptions, pause: _Pause) -> None:
    from recollect.cli.run_text import TextPrinter  # loads rich
    from recollect.launch.stream_session import StreamSession, iter_paced, iter_stream

    printer = TextPrinter(StreamSession(), None, render_options)
    for wait, item in iter_paced(iter_stream(path), pause.speed):
        if pause.is_due(wait):
            printer.flush()
            pause.take()
        printer.add(item)
    printer.finish()


def _play_session(transcript: Transcript, render_options: RenderOptions, pause: _Pause) -> None:
    for line in _iter_lines(transcript, render_options, pause):
        click.echo(line, color=render_options.is_coloured)


def _iter_lines(
    transcript: Transcript, render_options: RenderOptions, pause: _Pause
) -> Iterator[str]:
    from recollect.cli.follow_text import EventRenderer  # loads rich
    from recollect.launch.stream_session import iter_paced, iter_session
    from recollect.live.live_events import Appended, CaughtUp, EventSubject
    from recollect.render.terminal.canvas import Canvas

    renderer = EventRenderer(Canvas(render_options), TURNS)
    yield from renderer.feed(CaughtUp())
    last, waiting = transcript, 0
    for wait, (source, record) in iter_paced(iter_session(transcript), pause.speed):
        is_due = pause.is_due(wait)
        if source is not last or waiting >= BATCH or is_due:
            yield from renderer.flush()
            last, waiting = source, 0
        if is_due:
            pause.take()
        waiting += 1
        subject = EventSubject(
            path=str(source.path),
            session_id=source.session_id or source.name,
            agent_id=source.agent_id,
            kind=source.kind,
            project=source.project,
        )
        yield from renderer.feed(Appended(source=subject, record=record, raw=b""))
    yield from renderer.flush()
