"""Shows on stderr how far long work is; short work, and work nobody watches, is silent."""

import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from recollect.sync.texts import TextWatch

T = TypeVar("T")

PATIENCE_SECONDS = 1.0
STEP_SECONDS = 0.1
_MEGABYTE = 1_000_000
_ERASE_LINE = "\r\x1b[K"


class ProgressLine:
    """The one line that says how many of how many are done, from a second of waiting on."""

    def __init__(self, noun: str) -> None:
        self._noun = noun
        self._due = time.monotonic() + PATIENCE_SECONDS
        self._is_watched = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._is_shown = False

    def show(self, done: int, total: int) -> None:
        """Say how far the work is, if it is time to."""
        if self._is_watched and time.monotonic() >= self._due:
            self._due = time.monotonic() + STEP_SECONDS
            self._is_shown = True
            self._write(f"{_ERASE_LINE}Reading {self._noun}: {done:,} of {total:,}")

    def wipe(self) -> None:
        """Leave no trace."""
        if self._is_shown:
            self._write(_ERASE_LINE)

    def _write(self, text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()


@contextmanager
def progress_line(noun: str) -> Iterator[ProgressLine]:
    """A line that is gone when the work is done, or fails."""
    line = ProgressLine(noun)
    try:
        yield line
    finally:
        line.wipe()


@contextmanager
def watch_texts() -> "Iterator[TextWatch]":
    """What to tell how far the indexing of texts is."""
    with progress_line("megabytes of text") as line:
        yield lambda at: line.show(at.bytes_done // _MEGABYTE, at.bytes // _MEGABYTE)


def show_progress(items: Sequence[T], noun: str) -> Iterator[T]:
    """Yield `items`, and after a second of waiting keep saying how many of them are done."""
    with progress_line(noun) as line:
        for number, item in enumerate(items):
            line.show(number, len(items))
            yield item
