"""Print long output through the user's pager in a terminal, and directly to stdout elsewhere."""

import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import chain, islice

import click

from recollect.cli.tables import wants_colour

_CHUNK = 200
"""Lines per write: every write is flushed, which has a cost."""

pager_option = click.option(
    "--pager/--no-pager", "paged", default=True, help="Use a pager for long output in a terminal."
)


_always: ContextVar[bool] = ContextVar("always", default=False)


@contextmanager
def always_paged() -> Iterator[None]:
    """Show output in the pager however short it is, and until the pager is left."""
    token = _always.set(True)
    try:
        yield
    finally:
        _always.reset(token)


def show_text(text: str, *, is_paged: bool = True) -> None:
    """Print `text`, through the user's pager if it is longer than the terminal.

    The pager is taken from PAGER. `less` gets FRX unless LESS is set: colours are kept, and the
    text stays on the screen afterwards.
    """
    show_lines(text.split("\n"), is_paged=is_paged)


def show_lines(lines: Iterable[str], *, is_paged: bool = True, start: str | None = None) -> None:
    """Print `lines` as they are produced, through the pager like `show_text`.

    The first page is shown as soon as it is complete, however long the rest takes. `less` starts at
    the first line with `start`, which is a sign of ours.
    """
    colour = wants_colour()
    remaining = iter(lines)
    if is_paged and _is_terminal():
        height = shutil.get_terminal_size().lines
        first = list(islice(remaining, height))
        remaining = chain(first, remaining)
        if len(first) >= height or _always.get():
            with _less_options(start):
                click.echo_via_pager(_iter_joined(remaining), color=colour)
            if _always.get() and not _has_pager():
                click.pause(err=True)
            return
    for chunk in _iter_chunks(remaining):
        click.echo(chunk, color=colour)


@contextmanager
def _less_options(start: str | None) -> Iterator[None]:
    """Set the options of `less` while it runs, on top of those of the user."""
    given = os.environ.get("LESS")
    options = given if given is not None else "RX" if _always.get() else "FRX"
    # A little below the top, so that what comes before it is seen too.
    os.environ["LESS"] = options if start is None else f"{options} -j.3$ +/{start}"
    try:
        yield
    finally:
        if given is None:
            del os.environ["LESS"]
        else:
            os.environ["LESS"] = given


def _has_pager() -> bool:
    """Return whether there is a pager, which stays until it is left."""
    wanted = os.environ.get("PAGER", "").split()[:1]
    return any(shutil.which(name) for name in wanted or ("pager", "less", "more"))


def _iter_joined(lines: Iterator[str]) -> Iterator[str]:
    """Yield chunks of one text; click adds the final newline."""
    for number, chunk in enumerate(_iter_chunks(lines)):
        yield f"\n{chunk}" if number else chunk


def _iter_chunks(lines: Iterator[str]) -> Iterator[str]:
    while chunk := list(islice(lines, _CHUNK)):
        yield "\n".join(chunk)


def _is_terminal() -> bool:
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
