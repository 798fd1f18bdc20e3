"""Colours and layout of terminal output: styles, tables, wrapped sentences.

Colours are off unless output goes to a terminal. NO_COLOR takes precedence over everything;
FORCE_COLOR and CLICOLOR_FORCE turn colours on elsewhere. `--color` is written to the environment,
so that a pager and other child processes follow it.

Tables know only widths: their text must already be safe and on a single line. When a line gets too
long, the last column is cut.
"""

import os
import shutil
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence

import click

from recollect.render.terminal import measure, shorten


def wants_colour(environment: Mapping[str, str] = os.environ) -> bool:
    """Return whether standard output should be coloured."""
    if environment.get("NO_COLOR"):
        return False
    forced = (environment.get("FORCE_COLOR"), environment.get("CLICOLOR_FORCE"))
    if any(value not in (None, "", "0") for value in forced):
        return True
    if environment.get("CLICOLOR") == "0" or environment.get("TERM") == "dumb":
        return False
    return sys.stdout.isatty()


def _apply_color(ctx: click.Context, param: click.Parameter, value: str) -> None:  # noqa: ARG001 - click callback
    """Write `--color` to the environment."""
    if value == "auto":
        return
    for name in ("NO_COLOR", "FORCE_COLOR"):
        os.environ.pop(name, None)
    os.environ["FORCE_COLOR" if value == "always" else "NO_COLOR"] = "1"


colour_option = click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    expose_value=False,
    callback=_apply_color,
    help="When to use colours; auto depends on the terminal and the environment.",
)


def strong(text: str) -> str:
    """Style a heading or an important line."""
    return click.style(text, bold=True)


def faint(text: str) -> str:
    """Style text of minor importance."""
    return click.style(text, dim=True)


Row = Sequence[str]

GAP = "  "
INDENT = "  "
MIN_COLUMNS = 40
UNLIMITED = 10_000
"""Columns of a table whose cells are not cut."""


def count_columns() -> int:
    """Return the width of the terminal, but at least `MIN_COLUMNS`."""
    return max(shutil.get_terminal_size().columns, MIN_COLUMNS)


def count_table_columns() -> int:
    """Return the width of tables: that of the terminal, and no limit in a pipe or a file.

    COLUMNS limits them everywhere.
    """
    is_limited = sys.stdout.isatty() or os.environ.get("COLUMNS")
    return count_columns() if is_limited else UNLIMITED


def iter_table(
    rows: Sequence[Row], alignment: str, columns: int, indent: str = INDENT
) -> Iterator[str]:
    """Yield one line per row; `alignment` has `<` (left) or `>` (right) for each column."""
    widths = [max(map(measure, cells)) for cells in zip(*rows, strict=True)]
    used = len(indent) + sum(widths[:-1]) + len(GAP) * len(widths[:-1])
    for row in rows:
        cells = [*row[:-1], shorten(row[-1], max(columns - used, 1))]
        padded = map(pad, cells, widths, alignment)
        yield (indent + GAP.join(padded)).rstrip()


def pad(cell: str, width: int, side: str) -> str:
    """Pad `cell` to `width` columns: on the right for `<`, on the left for `>`."""
    space = " " * (width - measure(cell))
    return space + cell if side == ">" else cell + space


def wrap(sentence: str, columns: int, indent: str = INDENT) -> list[str]:
    """Wrap a sentence into lines."""
    return textwrap.wrap(sentence, columns, initial_indent=indent, subsequent_indent=indent)
