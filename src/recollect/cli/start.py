"""`recollect` alone: the picker on a terminal, the list in a pipe, and a welcome the first time."""

import os
import sys
from pathlib import Path

import click

from recollect.cli.clock import read_clock
from recollect.cli.commands.list import command as list_command
from recollect.cli.roots import find_roots, require_transcripts
from recollect.cli.tables import count_columns
from recollect.store.place import INDEX_NAME, find_data_directory


def run(ctx: click.Context) -> int:
    """Let a person pick a session, or list them; the first time, say first what was found."""
    with list_command.make_context("list", [], parent=ctx) as inner:
        claude_dirs: tuple[Path, ...] = inner.params["claude_dirs"]
        is_first = not (find_data_directory() / INDEX_NAME).exists()
        if is_first:
            welcome(claude_dirs)
        if _is_at_terminal():
            return _pick(ctx, claude_dirs, is_first=is_first)
        code = list_command.invoke(inner)
    return code if isinstance(code, int) else 0


def _is_at_terminal() -> bool:
    """Whether somebody can see a picker and press its keys."""
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def _pick(ctx: click.Context, claude_dirs: tuple[Path, ...], *, is_first: bool) -> int:
    from recollect.cli.picker.opening import do_pick, pick_session  # noqa: PLC0415 - 0.1 s

    if is_first:
        # The picker takes the whole screen, and the welcome would be gone before it was read.
        click.pause("Press any key to see them.", err=True)
    pick = pick_session(require_transcripts(find_roots(claude_dirs)))
    return do_pick(ctx, pick) if pick else 0


def welcome(claude_dirs: tuple[Path, ...]) -> None:
    """Say on stderr what was found; raises NothingFound, with the places, when there is nothing."""
    from recollect.cli.first_look_text import iter_first_look  # noqa: PLC0415 - once
    from recollect.health.first_look import look_first  # noqa: PLC0415

    roots = find_roots(claude_dirs)
    now = read_clock()
    look = look_first(roots, require_transcripts(roots), now)
    lines = iter_first_look(look, count_columns(), now)
    click.echo("\n".join([*lines, ""]), err=True)
