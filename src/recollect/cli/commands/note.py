"""`recollect note`: a private note on a session."""

from pathlib import Path

import click

from recollect.cli.command_workspace import command_workspace
from recollect.cli.options import SessionName, claude_dir_option
from recollect.errors import UsageError
from recollect.render.terminal import safe_text


@click.command("note")
@click.argument("name", type=SessionName(), metavar="SESSION")
@click.argument("text", required=False)
@click.option("--remove", is_flag=True, help="Remove the note.")
@claude_dir_option
def command(name: str, text: str | None, *, remove: bool, claude_dirs: tuple[Path, ...]) -> int:
    """Print your note on a session, or set it to TEXT.

    See `recollect show` for how to specify SESSION. Notes are private: they are kept in Recollect's
    own data directory, never in the Claude directory, and are part of no export.

    \b
      recollect note latest "the approach that worked"
      recollect note latest
      recollect note latest --remove

    Exits with 3 if there is no such session.
    """
    if remove and text is not None:
        raise UsageError("Use either TEXT or --remove.")
    with command_workspace(claude_dirs) as workspace:
        mark = workspace.mark(name, note="" if remove else text)
    if text is None and not remove and mark.note:
        click.echo(safe_text(mark.note))
    return 0
