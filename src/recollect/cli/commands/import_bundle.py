"""`recollect import`: check a bundle and write its sessions to disk."""

from pathlib import Path
from typing import Unpack

import click

from recollect.cli.archive_keys import use_configured_keys
from recollect.cli.archive_text import iter_written
from recollect.cli.json_output import format_document
from recollect.cli.options import json_option
from recollect.cli.write_targets import TargetOptions, choose_target, keeps_times, target_options
from recollect.errors import UsageError

IMPORTED = "imported-sessions"


@click.command("import")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--dry-run", is_flag=True, help="Check everything, and write nothing.")
@click.option(
    "--map",
    "maps",
    multiple=True,
    metavar="OLD=NEW",
    help="Treat directory OLD in the bundle as NEW on this machine. Can be repeated.",
)
@click.option(
    "-i",
    "--identity",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The age identity that opens an encrypted bundle.",
)
@target_options
@json_option
def command(
    file: Path,
    *,
    identity: Path | None,
    dry_run: bool,
    maps: tuple[str, ...],
    as_json: bool,
    **options: Unpack[TargetOptions],
) -> int:
    """Unpack the sessions of a bundle.

    FILE was made by `recollect bundle`. All of it is checked before anything is written, and an
    existing file is never overwritten. An encrypted bundle needs `--identity`, or asks for its
    passphrase. Files are written to the directory `imported-sessions`
    unless `--to` names another, laid out like a Claude directory, so that other commands can read
    it with `--claude-dir`.

    With `--into-claude-dir` the sessions can be resumed by Claude Code, from the same path as on
    the other machine, or the one given by `--map`. Exits with 4 if the bundle is damaged or is not
    what it claims to be.

    \b
      recollect import tide.recollect --dry-run
      recollect import tide.recollect --map /home/mina=/Users/mina --into-claude-dir ~/.claude
    """
    from recollect.archive.bundle_tasks import import_bundle  # loads the archive

    use_configured_keys()
    base = choose_target(options, IMPORTED)
    document = import_bundle(
        file,
        base,
        dict(map(_parse_map, maps)),
        dry_run=dry_run,
        keep_times=keeps_times(options),
        identity=identity,
    )
    lines = iter_written(document.files, document.directory, dry_run=dry_run)
    click.echo(format_document(document) if as_json else "\n".join(lines))
    return 0


def _parse_map(text: str) -> tuple[str, str]:
    old, separator, new = text.partition("=")
    if not (old and separator and new):
        raise UsageError(f"--map takes OLD=NEW, two directories, and not {text!r}.")
    return old, new
