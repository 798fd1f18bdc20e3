"""`recollect star`: mark sessions to find them again."""

from pathlib import Path

import click

from recollect.cli.command_workspace import command_workspace
from recollect.cli.options import SessionName, claude_dir_option


@click.command("star")
@click.argument("names", nargs=-1, required=True, type=SessionName(), metavar="SESSION...")
@click.option("--remove", is_flag=True, help="Remove the star.")
@claude_dir_option
def command(names: tuple[str, ...], *, remove: bool, claude_dirs: tuple[Path, ...]) -> int:
    """Star sessions, to find them again.

    See `recollect show` for how to specify SESSION. Stars are kept in Recollect's own data
    directory, never in the Claude directory; `recollect list --starred` lists them.

    \b
      recollect star latest
      recollect star 8facb961 --remove

    Exits with 3 if there is no such session.
    """
    with command_workspace(claude_dirs) as workspace:
        for name in names:
            workspace.mark(name, starred=not remove)
    return 0
