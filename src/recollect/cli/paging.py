"""Long text to the terminal, page by page; anything else straight to stdout."""

import os
import shutil
import sys

import click

from recollect.cli.colours import wants_colour


def show_text(text: str, *, is_paged: bool = True) -> None:
    """Print `text`, through the user's pager if it is longer than the terminal.

    The pager is the one in PAGER. `less` gets FRX unless LESS says otherwise: colours pass, and
    the text stays on the screen afterwards.
    """
    colour = wants_colour()
    if is_paged and _is_too_long(text):
        os.environ.setdefault("LESS", "FRX")
        click.echo_via_pager(text, color=colour)
    else:
        click.echo(text, color=colour)


def _is_too_long(text: str) -> bool:
    if not sys.stdout.isatty() or os.environ.get("TERM") == "dumb":
        return False
    return text.count("\n") + 1 >= shutil.get_terminal_size().lines
