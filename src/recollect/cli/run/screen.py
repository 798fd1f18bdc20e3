"""A few lines at the end of a terminal that are drawn anew while something grows.

They are never more than the terminal has, because what has scrolled away cannot be taken back.
"""

import os
import shutil
import sys
from collections.abc import Sequence

import click

_MARGIN = 2
"""Lines of the terminal that are left alone, for the line of the cursor and one above."""


def is_live() -> bool:
    """Whether lines on standard output can be drawn anew."""
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


class Screen:
    """Prints lines that stay above lines that do not."""

    def __init__(self) -> None:
        self._passing: list[str] = []

    def print(self, lines: Sequence[str]) -> None:
        """Print lines that stay."""
        if lines:
            passing = self._passing
            self.show(())
            click.echo("\n".join(lines), color=True)
            self.show(passing)

    def show(self, lines: Sequence[str]) -> None:
        """Draw `lines` in place of those that were drawn last."""
        room = max(shutil.get_terminal_size().lines - _MARGIN, 1)
        shown = list(lines)[-room:]
        if shown == self._passing:
            return
        wipe = f"\x1b[{len(self._passing)}A\r\x1b[J" if self._passing else ""
        click.echo(wipe + "".join(f"{line}\n" for line in shown), nl=False, color=True)
        self._passing = shown
