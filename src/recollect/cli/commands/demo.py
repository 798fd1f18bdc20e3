"""`recollect demo`: any command on sample sessions in a temporary directory."""

import os
import shutil
import tempfile
from pathlib import Path

import click

from recollect.cli.clock import NOW_VARIABLE
from recollect.demo import CLAUDE_DIRECTORY
from recollect.library.sessions import iter_sessions
from recollect.locations.roots import CONFIG_VARIABLE
from recollect.store.data_directory import VARIABLE

NOW = "2026-11-13T12:00:00Z"
"""The day after the last sample session, so that "today" and "7d" have results."""


@click.command(
    "demo",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[COMMAND] [ARGUMENTS]...")
@click.pass_context
def command(ctx: click.Context, arguments: tuple[str, ...]) -> int:
    """Try any command on sample sessions.

    Runs COMMAND (default: list) on a copy of the sample sessions that come with Recollect. Your own
    sessions are neither read nor changed, and nothing is left behind. The clock is set to the day
    after the last sample session.

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
    """Copy the sample sessions to `target`, with modification times that match their records."""
    shutil.copytree(CLAUDE_DIRECTORY, target)
    for listing in iter_sessions(include_subagents=True, root=target):
        os.utime(listing.path, (listing.activity, listing.activity))
    return target
