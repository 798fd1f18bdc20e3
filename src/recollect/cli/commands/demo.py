"""`recollect demo`: any command, on made-up sessions in a temporary place."""

import os
import shutil
import tempfile
from pathlib import Path

import click

from recollect.cli.clock import NOW_VARIABLE
from recollect.demo import CLAUDE_DIRECTORY
from recollect.library.sessions import iter_sessions
from recollect.locations.roots import CONFIG_VARIABLE
from recollect.store.place import VARIABLE

NOW = "2026-11-13T12:00:00Z"
"""The day after the last of the made-up sessions, so that "today" and "7d" find something."""


@click.command(
    "demo",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[COMMAND] [ARGUMENTS]...")
@click.pass_context
def command(ctx: click.Context, arguments: tuple[str, ...]) -> int:
    """Try any command on made-up sessions.

    COMMAND, which is `list` if there is none, runs on a copy of the sessions that come with
    Recollect. Your own are neither read nor written, and nothing is left behind. The clock stands
    at the day after the last of them.

    \b
      recollect demo
      recollect demo show latest
      recollect demo usage --breakdown
      recollect demo search harbour
    """
    program = ctx.find_root().command
    with tempfile.TemporaryDirectory(prefix="recollect-demo-") as folder:
        os.environ[CONFIG_VARIABLE] = str(copy_demo(Path(folder) / "claude"))
        os.environ[VARIABLE] = str(Path(folder) / "data")
        os.environ.setdefault(NOW_VARIABLE, NOW)
        with program.make_context("recollect demo", list(arguments or ("list",))) as inner:
            code = program.invoke(inner)
    return code if isinstance(code, int) else 0


def copy_demo(target: Path) -> Path:
    """Copy the made-up Claude directory to `target`, each transcript as old as what it tells."""
    shutil.copytree(CLAUDE_DIRECTORY, target)
    for listing in iter_sessions(include_subagents=True, root=target):
        os.utime(listing.path, (listing.activity, listing.activity))
    return target
