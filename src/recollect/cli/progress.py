"""Progress on stderr, shown only in a terminal and only for work that takes over a second."""

import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from recollect.sync import TextWatch

T = TypeVar("T")

DELAY_SECONDS = 1.0
STEP_SECONDS = 0.1
_MEGABYTE = 1_000_000
_ERASE_LINE = "\r\x1b[K"


class ProgressLine:
    """A single line with the number of items done, shown after a delay."""

    def __init__(self, noun: str) -> None:
        self._noun = noun
        self._due = time.monotonic() + DELAY_SECONDS
        self._is_watched = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._is_shown = False

    def show(self, done: int, total: int) -> None:
        """Update the line, at most every `STEP_SECONDS`."""
        if self._is_watched and time.monotonic() >= self._due:
            self._due = time.monotonic() + STEP_SECONDS
            self._is_shown = True
            self._write(f"{_ERASE_LINE}Reading {self._noun}: {done:,} of {total:,}")

    def clear(self) -> None:
        """Erase the line."""
        if self._is_shown:
            self._write(_ERASE_LINE)

    def _write(self, text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()


@contextmanager
def progress_line(noun: str) -> Iterator[ProgressLine]:
    """Show a progress line that is erased when the work is done or fails."""
    line = ProgressLine(noun)
    try:
        yield line
    finally:
        line.clear()


@contextmanager
def watch_texts() -> "Iterator[TextWatch]":
    """Return a callback that shows the progress of full-text indexing."""
    with progress_line("megabytes of text") as line:
        yield lambda at: line.show(at.bytes_done // _MEGABYTE, at.bytes // _MEGABYTE)


def show_progress(items: Sequence[T], noun: str) -> Iterator[T]:
    """Iterate over `items` while showing how many of them are done."""
    with progress_line(noun) as line:
        for number, item in enumerate(items):
            line.show(number, len(items))
            yield item
