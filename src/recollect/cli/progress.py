"""Shows on stderr how far long work is; short work, and work nobody watches, is silent."""

import os
import sys
import time
from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")

PATIENCE_SECONDS = 1.0
STEP_SECONDS = 0.1
_ERASE_LINE = "\r\x1b[K"


def show_progress(items: Sequence[T], noun: str) -> Iterator[T]:
    """Yield `items`, and after a second of waiting keep saying how many of them are done."""
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield from items
        return
    due = time.monotonic() + PATIENCE_SECONDS
    is_shown = False
    try:
        for number, item in enumerate(items):
            if time.monotonic() >= due:
                due = time.monotonic() + STEP_SECONDS
                is_shown = True
                sys.stderr.write(f"{_ERASE_LINE}Reading {noun}: {number:,} of {len(items):,}")
                sys.stderr.flush()
            yield item
    finally:
        if is_shown:
            sys.stderr.write(_ERASE_LINE)
            sys.stderr.flush()
