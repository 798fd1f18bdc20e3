"""A progress line on stderr, only in a terminal and only for work that takes over a second."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Final

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
