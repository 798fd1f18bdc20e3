"""The workspace of a command: its Claude directories, prices, clock and progress line.

Progress is shown on stderr, only in a terminal and only for work that takes over a second.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from recollect.cli.archive_keys import prepare_archive
from recollect.cli.clock import read_clock
from recollect.errors import NothingFound
from recollect.render.terminal import safe_text
from recollect.workspace.workspace import NoSessions, Workspace

if TYPE_CHECKING:
    from recollect.redact import RedactionPolicy

TIP: Final = "To try it with sample sessions: recollect demo"

DELAY_SECONDS = 1.0
STEP_SECONDS = 0.1
_ERASE_LINE: Final = "\r\x1b[K"


class ProgressLine:
    """A single line with the number of items done, shown after a delay."""

    def __init__(self) -> None:
        self._due = time.monotonic() + DELAY_SECONDS
        self._is_watched = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._is_shown = False

    def show(self, noun: str, done: int, total: int) -> None:
        """Update the line, at most every `STEP_SECONDS`."""
        if self._is_watched and time.monotonic() >= self._due:
            self._due = time.monotonic() + STEP_SECONDS
            self._is_shown = True
            self._write(f"{_ERASE_LINE}Reading {noun}: {done:,} of {total:,}")

    def clear(self) -> None:
        """Erase the line."""
        if self._is_shown:
            self._is_shown = False
            self._write(_ERASE_LINE)

    def _write(self, text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()


@contextmanager
def progress_line(noun: str) -> Iterator[Callable[[int, int], None]]:
    """Return a callback that shows how much of `noun` is done; the line is erased at the end."""
    line = ProgressLine()
    try:
        yield partial(line.show, noun)
    finally:
        line.clear()


@contextmanager
def command_workspace(
    claude_dirs: Sequence[Path] = (),
    *,
    prices: Path | None = None,
    is_demo: bool = False,
    tip: str = TIP,
) -> Iterator[Workspace]:
    """Open a workspace that shows its progress; without any sessions, `tip` says what to try.

    The progress line is erased at the end, so print the answer after the `with` statement.
    """
    line = ProgressLine()
    prepare_archive()
    workspace = Workspace(_find_roots(claude_dirs, is_demo), None, prices, read_clock, line.show)
    workspace.load_redaction = _load_policy
    try:
        with workspace:
            if is_demo:
                workspace.use_temporary_index()
            yield workspace
            if workspace.archive_failure:
                line.clear()
                click.echo(f"recollect: {safe_text(workspace.archive_failure)}", err=True)
    except NoSessions as error:
        raise NothingFound(f"{error}\n{tip}") from error
    finally:
        line.clear()


def _find_roots(claude_dirs: Sequence[Path], is_demo: bool) -> Sequence[Path]:
    if not is_demo:
        return claude_dirs
    from recollect.demo import CLAUDE_DIRECTORY  # rarely needed

    return (CLAUDE_DIRECTORY,)


def _load_policy() -> RedactionPolicy:
    from recollect.cli.effective_settings import load_policy  # the rules, rarely needed

    return load_policy()
