"""Long text to the terminal, page by page; anything else straight to stdout."""

import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from itertools import chain, islice

import click

from recollect.cli.colours import wants_colour

_CHUNK = 200
"""Lines that are written at once: each write is seen at once, and takes its time."""

pager_option = click.option(
    "--pager/--no-pager", "paged", default=True, help="Page long output in a terminal."
)


def show_text(text: str, *, is_paged: bool = True) -> None:
    """Print `text`, through the user's pager if it is longer than the terminal.

    The pager is the one in PAGER. `less` gets FRX unless LESS says otherwise: colours pass, and
    the text stays on the screen afterwards.
    """
    show_lines(text.split("\n"), is_paged=is_paged)


def show_lines(lines: Iterable[str], *, is_paged: bool = True) -> None:
    """Print `lines` as they come, through the pager as `show_text` does.

    The first page is shown when it is there, however long it takes to make the rest.
    """
    colour = wants_colour()
    remaining = iter(lines)
    if is_paged and _is_terminal():
        height = shutil.get_terminal_size().lines
        first = list(islice(remaining, height))
        remaining = chain(first, remaining)
        if len(first) >= height:
            os.environ.setdefault("LESS", "FRX")
            click.echo_via_pager(_iter_joined(remaining), color=colour)
            return
    for chunk in _iter_chunks(remaining):
        click.echo(chunk, color=colour)


def _iter_joined(lines: Iterator[str]) -> Iterator[str]:
    """Yield chunks that make up one text; click itself ends the last line."""
    for number, chunk in enumerate(_iter_chunks(lines)):
        yield f"\n{chunk}" if number else chunk


def _iter_chunks(lines: Iterator[str]) -> Iterator[str]:
    while chunk := list(islice(lines, _CHUNK)):
        yield "\n".join(chunk)


def _is_terminal() -> bool:
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
