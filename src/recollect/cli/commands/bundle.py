"""`recollect bundle`: sessions with everything that belongs to them, in one file."""

from pathlib import Path
from typing import Unpack

import click

from recollect.cli.archive_keys import LockOptions, choose_lock, lock_options
from recollect.cli.command_workspace import command_workspace
from recollect.cli.json_output import format_document
from recollect.cli.options import SessionName, claude_dir_option, json_option
from recollect.quantities import format_bytes, format_count
from recollect.render.terminal import safe_text


@click.command("bundle")
@click.argument("sessions", nargs=-1, required=True, type=SessionName(), metavar="SESSION...")
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write the bundle to FILE, which must not exist.",
)
@lock_options
@claude_dir_option
@json_option
def command(
    sessions: tuple[str, ...],
    *,
    output: Path,
    claude_dirs: tuple[Path, ...],
    as_json: bool,
    **options: Unpack[LockOptions],
) -> int:
    """Pack sessions into one file for another machine or person.

    The file contains the transcripts, subagents, tool results, task lists, plans and saved files of
    the sessions, unchanged. Run `recollect secrets scan` before you share it. The file is created
    readable only by you, and is encrypted with `--recipient` or `--passphrase`. `recollect import`
    unpacks it.

    \b
      recollect bundle latest -o tide.recollect
      recollect bundle 7aa5fa93 94791a87 -o two.recollect
      recollect bundle latest -o tide.recollect --recipient age1KEY
    """
    from recollect.archive.bundle_tasks import make_bundle  # loads the archive

    with command_workspace(claude_dirs) as workspace:
        named = [workspace.find(name) for name in sessions]
    document = make_bundle(named, output.absolute(), choose_lock(options))
    if as_json:
        click.echo(format_document(document))
        return 0
    packed = format_count(len(document.sessions), "session")
    files, size = format_count(document.files, "file"), format_bytes(document.stored_bytes)
    name = safe_text(str(output), single_line=True)
    click.echo(f"Packed {packed}, {files}, into {name} ({size}).")
    return 0
