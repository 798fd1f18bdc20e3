"""`recollect replay`: a session or a kept stream, played as it happened."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from recollect.cli.colours import colour_option, wants_colour
from recollect.cli.options import SessionName, claude_dir_option
from recollect.cli.tables import count_columns
from recollect.errors import UsageError

if TYPE_CHECKING:
    from recollect.locations import Transcript
    from recollect.render.terminal.look import Look

SHORTEST_SECONDS: Final = 0.05
TURNS: Final = 50
BATCH: Final = 40
"""Records that are gathered where there is no pause; fewer than `TURNS`, so that none is lost."""


@click.command("replay")
@click.argument("file", type=SessionName(), metavar="FILE")
@click.option(
    "--speed", type=click.FloatRange(0.01, 1000), metavar="N", help="Play N times as fast."
)
@click.option("--instant", is_flag=True, help="Do not wait at all.")
@click.option("--thinking", is_flag=True, help="Show thoughts whole.")
@click.option(
    "--tools",
    type=click.Choice(["brief", "full"]),
    default="brief",
    show_default=True,
    help="How much of tool calls; full leaves nothing out.",
)
@colour_option
@claude_dir_option
def command(
    file: str,
    *,
    speed: float | None,
    instant: bool,
    thinking: bool,
    tools: str,
    claude_dirs: tuple[Path, ...],
) -> int:
    """Play a session or a kept stream as it happened.

    FILE is a transcript, a stream that `run --keep` wrote, or the name of a session as in `show`.
    Pauses are those of the original, but never longer than 5 seconds.

    \b
      recollect replay latest
      recollect replay latest --speed 10
      recollect replay tidy.jsonl --instant

    Exits with 3 if there is no such file or session.
    """
    from recollect.launch.replay import is_stream_file  # noqa: PLC0415 - not for the help
    from recollect.render.terminal.look import Look, ToolDetail  # noqa: PLC0415

    if instant and speed is not None:
        raise UsageError("Give --speed or --instant: each says how long to wait.")
    look = Look(
        columns=count_columns(),
        is_coloured=wants_colour(),
        tools=ToolDetail(tools),
        thinking=thinking,
    )
    pause = _Pause(None if instant else speed or 1.0)
    path = Path(file)
    if path.is_file() and is_stream_file(path):
        _play_stream(path, look, pause)
    else:
        _play_session(_find(file, claude_dirs), look, pause)
    return 0


class _Pause:
    """Waits as long as it should; waits too short to be seen are saved up."""

    def __init__(self, speed: float | None) -> None:
        self.speed = speed or 1.0
        self._is_instant = speed is None
        self._owed = 0.0
        self._last = time.monotonic()

    def is_due(self, seconds: float) -> bool:
        """Add to what is to be waited, and say whether it is time to do so."""
        self._owed += 0.0 if self._is_instant else seconds
        return self._owed >= SHORTEST_SECONDS

    def take(self) -> None:
        """Wait; what was spent on drawing is part of it."""
        time.sleep(max(self._last + self._owed - time.monotonic(), 0.0))
        self._owed, self._last = 0.0, time.monotonic()


def _find(name: str, claude_dirs: tuple[Path, ...]) -> Transcript:
    from recollect.cli.naming import find_named  # noqa: PLC0415 - the index
    from recollect.locations.references import locate_file  # noqa: PLC0415

    path = Path(name)
    return locate_file(path) if path.is_file() else find_named(name, claude_dirs)


def _play_stream(path: Path, look: Look, pause: _Pause) -> None:
    from recollect.cli.run.printing import TextPrinter  # noqa: PLC0415 - loads rich
    from recollect.launch.replay import iter_stream, pace  # noqa: PLC0415
    from recollect.launch.stream_session import StreamSession  # noqa: PLC0415

    printer = TextPrinter(StreamSession(), None, look)
    for wait, item in pace(iter_stream(path), pause.speed):
        if pause.is_due(wait):
            printer.flush()
            pause.take()
        printer.add(item)
    printer.finish()


def _play_session(transcript: Transcript, look: Look, pause: _Pause) -> None:
    for line in _iter_lines(transcript, look, pause):
        click.echo(line, color=look.is_coloured)


def _iter_lines(transcript: Transcript, look: Look, pause: _Pause) -> Iterator[str]:
    from recollect.cli.follow.text import Drawer  # noqa: PLC0415 - loads rich
    from recollect.launch.replay import iter_session, pace  # noqa: PLC0415
    from recollect.live.events import Appended, Level, Source  # noqa: PLC0415
    from recollect.locations.transcript_files import name_of  # noqa: PLC0415
    from recollect.render.terminal.canvas import Canvas  # noqa: PLC0415

    drawer = Drawer(Canvas(look), TURNS)
    yield from drawer.hear(Level())
    last, waiting = transcript, 0
    for wait, (source, record) in pace(iter_session(transcript), pause.speed):
        is_due = pause.is_due(wait)
        if source is not last or waiting >= BATCH or is_due:
            yield from drawer.flush()
            last, waiting = source, 0
        if is_due:
            pause.take()
        waiting += 1
        told = Source(
            path=str(source.path),
            session_id=source.session_id or name_of(source),
            agent_id=source.agent_id,
            kind=source.kind,
            project=source.project_dir.name,
        )
        yield from drawer.hear(Appended(source=told, record=record, raw=b""))
    yield from drawer.flush()
