"""`recollect replay`: replay a session or a saved stream."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from recollect.cli.options import SessionName, claude_dir_option, detail_options
from recollect.cli.terminal_output import colour_option, count_columns, wants_colour
from recollect.errors import UsageError

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
