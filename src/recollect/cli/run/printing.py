"""What becomes of the messages of a run: lines for a reader, or lines of JSON for a script."""

import time
from collections.abc import Iterator
from typing import Final, Protocol

import click

from recollect.cli.documents import format_line
from recollect.cli.run.document import describe_end, describe_start, describe_told
from recollect.cli.run.screen import Screen, is_live
from recollect.cli.run.text import StreamDrawer
from recollect.launch.client_process import Complaint, Told
from recollect.launch.stream_session import StreamSession
from recollect.reader import StreamItem
from recollect.render.terminal import safe_text
from recollect.render.terminal.canvas import Canvas
from recollect.render.terminal.look import Look

DRAW_SECONDS: Final = 0.1
DRAW_SHARE: Final = 5
"""Drawing takes at most a fifth of the time, however long the conversation is."""


class Printer(Protocol):
    """Hears a run from its start to its end."""

    def start(self, pid: int) -> None:
        """The client runs."""

    def hear(self, told: Told | Complaint | None) -> None:
        """The client said something; None is a moment in which it did not."""

    def finish(self, code: int) -> None:
        """The client has ended."""


class JsonPrinter:
    """Prints what the client says, each message on a line."""

    def __init__(self, session: StreamSession, arguments: tuple[str, ...]) -> None:
        self._session = session
        self._arguments = arguments

    def start(self, pid: int) -> None:
        """Print who was started."""
        click.echo(format_line(describe_start(pid, self._arguments)))

    def hear(self, told: Told | Complaint | None) -> None:
        """Print it."""
        if isinstance(told, Told):
            self._session.hear(told.item)
        document = describe_told(told) if told is not None else None
        if document is not None:
            click.echo(format_line(document))

    def finish(self, code: int) -> None:
        """Print what it took."""
        click.echo(format_line(describe_end(self._session, code)))


class TextPrinter:
    """Shows a conversation as it grows: whole steps, and on a terminal the one being written."""

    def __init__(self, session: StreamSession, prompt: str | None, look: Look) -> None:
        self._session = session
        self._drawer = StreamDrawer(Canvas(look), session)
        self._screen = Screen()
        self._is_live = is_live()
        self._prompt = prompt
        self._due = 0.0

    def start(self, pid: int) -> None:  # noqa: ARG002 - nothing that a reader wants to know
        """Show the prompt."""
        if self._prompt is not None:
            self._show(self._drawer.hear(self._session.open(self._prompt)))
        self.flush()

    def hear(self, told: Told | Complaint | None) -> None:
        """Show it, now or in a moment."""
        if isinstance(told, Told):
            self.add(told.item)
        elif told is not None:
            self._screen.show(())
            click.echo(f"claude: {safe_text(told.text)}", err=True)
        if told is None or time.monotonic() >= self._due:
            self.flush()

    def add(self, item: StreamItem) -> None:
        """Take in a message."""
        self._show(self._drawer.hear(self._session.hear(item)))

    def flush(self) -> None:
        """Show all that came so far."""
        start = time.monotonic()
        lines = list(self._drawer.flush())
        growing = self._drawer.draw_growing() if self._is_live else []
        if lines:
            self._screen.show(())
            self._screen.print(lines)
        self._screen.show(growing)
        took = time.monotonic() - start
        self._due = start + max(DRAW_SECONDS, DRAW_SHARE * took)

    def finish(self, code: int = 0) -> None:
        """Show the rest, and what it took."""
        self._screen.show(())
        self._show(self._drawer.finish(code))

    def _show(self, lines: Iterator[str]) -> None:
        self._screen.print(list(lines))
