"""`recollect bundle` and `recollect import`: pack sessions with all their files into one file,
check it, and unpack it.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click

from recollect.cli import archive_text, json_output, write_targets
from recollect.cli.command_workspace import (
    LockOptions,
    choose_lock,
    command_workspace,
    lock_options,
    progress_line,
    use_configured_keys,
)
from recollect.cli.options import SessionName, claude_dir_option, json_option
from recollect.errors import UsageError
from recollect.quantities import format_bytes, format_count
from recollect.render.terminal import safe_line

if TYPE_CHECKING:
    from recollect.archive.bundles import RedactionReport
    from recollect.locations import Transcript
    from recollect.redact.findings import RedactionPolicy


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
def bundle_command(
    sessions: tuple[str, ...],
    *,
    output: Path,
    claude_dirs: tuple[Path, ...],
    as_json: bool,
    **options: Unpack[LockOptions],
) -> int:
    """Pack sessions into one file for another machine or person.

    The file contains the transcripts, subagents, tool results, task lists, plans and saved files of
    the sessions, unchanged, and a report of how many secrets were found in them, which is also
    printed. `recollect secrets scan` shows where they are. The file is created
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
        policy = workspace.redaction.for_records
    lock = choose_lock(options)
    with progress_line("files") as show_progress:
        redaction = _search_secrets(named, show_progress, policy)
    document = make_bundle(named, output.absolute(), lock, redaction)
    if document.secrets:
        kinds = ", ".join(f"{kind} {count:,}" for kind, count in document.secrets.items())
        found = format_count(sum(document.secrets.values()), "possible secret")
        click.echo(
            f"recollect: The bundle contains {found}, not masked ({kinds}). To see where: "
            "recollect secrets scan SESSION",
            err=True,
        )
    if as_json:
        click.echo(json_output.format_document(document))
        return 0
    packed = format_count(len(document.sessions), "session")
    files, size = format_count(document.files, "file"), format_bytes(document.stored_bytes)
    name = safe_line(str(output))
    click.echo(f"Packed {packed}, {files}, into {name} ({size}).")
    return 0


def _search_secrets(
    transcripts: "Sequence[Transcript]",
    show_progress: Callable[[int, int], None],
    policy: "RedactionPolicy",
) -> "RedactionReport":
    """Count the secrets in sessions and their subagents, by kind."""
    from recollect.archive.bundles import RedactionReport
    from recollect.health.secret_scan import add_subagents, scan_transcripts

    report = scan_transcripts(add_subagents(transcripts), show_progress, policy=policy)
    kinds: Counter[str] = Counter()
    for finding in report.findings:
        kinds[finding.kind] += finding.count
    return RedactionReport(transcripts=report.files, secrets=dict(sorted(kinds.items())))


IMPORTED = "imported-sessions"


@click.command("import")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--dry-run", is_flag=True, help="Check everything without writing anything.")
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
    help="Age identity file that decrypts the bundle.",
)
@write_targets.target_options
@json_option
def import_command(
    file: Path,
    *,
    identity: Path | None,
    dry_run: bool,
    maps: tuple[str, ...],
    as_json: bool,
    **options: Unpack[write_targets.TargetOptions],
) -> int:
    """Unpack the sessions of a bundle.

    FILE is a bundle made by `recollect bundle`. All of it is checked before anything is written,
    and existing files are never overwritten. An encrypted bundle needs `--identity`, or asks for
    its passphrase. Files are written to the directory `imported-sessions`, or the one given by
    `--to`, in the layout of a Claude directory, so that other commands can read it with
    `--claude-dir`.

    With `--into-claude-dir`, Claude Code can resume the sessions, in the same directory as on the
    other machine or in the one given by `--map`. Exits with 4 if the bundle is damaged or invalid.

    \b
      recollect import tide.recollect --dry-run
      recollect import tide.recollect --map /home/mina=/Users/mina --into-claude-dir ~/.claude
    """
    from recollect.archive.bundle_tasks import import_bundle  # loads the archive

    use_configured_keys()
    base = write_targets.choose_target(options, IMPORTED)
    document = import_bundle(
        file,
        base,
        dict(map(_parse_map, maps)),
        dry_run=dry_run,
        keep_times=write_targets.keeps_times(options),
        identity=identity,
    )
    lines = archive_text.iter_written(document.files, document.directory, dry_run=dry_run)
    click.echo(json_output.format_document(document) if as_json else "\n".join(lines))
    return 0


def _parse_map(text: str) -> tuple[str, str]:
    old, separator, new = text.partition("=")
    if not (old and separator and new):
        raise UsageError(f"--map takes OLD=NEW, two directories, not {text!r}.")
    return old, new
