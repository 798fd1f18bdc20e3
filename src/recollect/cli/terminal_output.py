"""Terminal output: styles, tables, wrapped sentences, short labels of sessions, and the pager.

Colours are off unless output goes to a terminal. NO_COLOR takes precedence over everything;
FORCE_COLOR and CLICOLOR_FORCE turn colours on elsewhere. `--color` is written to the environment,
so that a pager and other child processes follow it.

Tables know only widths: their text must already be safe and on a single line. When a line gets too
long, the last column is cut.

All labels are safe for a terminal and on a single line.
"""

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import chain, islice
from typing import Final

import click

from recollect.locations.claude_directories import AGENT_PREFIX, split_directory
from recollect.render.terminal import measure, safe_line, shorten


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
    from shutil import get_terminal_size  # only in a terminal

    return max(get_terminal_size().columns, MIN_COLUMNS)


def count_table_columns() -> int:
    """Return the width of tables: the terminal width, or unlimited in a pipe or file.

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
    from textwrap import wrap as wrap_text  # most tables have no sentences

    return wrap_text(sentence, columns, initial_indent=indent, subsequent_indent=indent)


_CHUNK = 200
"""Lines per write, because every write is flushed."""

pager_option = click.option(
    "--pager/--no-pager", "paged", default=True, help="Use a pager for long output in a terminal."
)


_always: ContextVar[bool] = ContextVar("always", default=False)


@contextmanager
def force_pager() -> Iterator[None]:
    """Show output in the pager, however short it is, until the user quits the pager."""
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
    the first line that contains `start`, one of our own markers.
    """
    colour = wants_colour()
    remaining = iter(lines)
    if is_paged and is_terminal():
        from shutil import get_terminal_size  # only in a terminal

        height = get_terminal_size().lines
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
    """Add our options for `less` to the user's while it runs."""
    given = os.environ.get("LESS")
    options = given if given is not None else "RX" if _always.get() else "FRX"
    # A little below the top, so that the lines before it are visible too.
    wanted = {"LESS": options if start is None else f"{options} -j.3$ +/{start}"}
    if "LESSCHARSET" not in os.environ and (sys.stdout.encoding or "").lower() == "utf-8":
        # We write UTF-8 even if the locale is not installed, where less would show bytes.
        wanted["LESSCHARSET"] = "utf-8"
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _has_pager() -> bool:
    """Return whether there is a pager that stays open until the user quits it."""
    from shutil import which  # only in a terminal

    wanted = os.environ.get("PAGER", "").split()[:1]
    return any(which(name) for name in wanted or ("pager", "less", "more"))


def _iter_joined(lines: Iterator[str]) -> Iterator[str]:
    """Yield chunks of one text; click adds the final newline."""
    for number, chunk in enumerate(_iter_chunks(lines)):
        yield f"\n{chunk}" if number else chunk


def _iter_chunks(lines: Iterator[str]) -> Iterator[str]:
    while chunk := list(islice(lines, _CHUNK)):
        yield "\n".join(chunk)


def is_terminal() -> bool:
    """Return whether standard output is a terminal that can redraw lines."""
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


NO_TITLE: Final = "(no prompt)"
_ID_LENGTH: Final = 8


def label_id(session_id: str) -> str:
    """Return the start of an id, without the prefix that all ids of subagents share."""
    return safe_line(session_id.removeprefix(AGENT_PREFIX)[:_ID_LENGTH])


def label_project(path: str) -> str:
    """Return the name of a working directory of any system."""
    return join_lines(split_directory(path)[-1] or path)


def label_title(title: str | None, first_prompt: str | None) -> str:
    """Return the title, or else the first prompt."""
    return join_lines(title or first_prompt or NO_TITLE)


def join_lines(text: str) -> str:
    """Collapse whitespace, including line breaks, to single spaces."""
    return safe_line(" ".join(text.split()))
