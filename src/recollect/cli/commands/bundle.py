"""`recollect bundle`: sessions with everything that belongs to them, in one file."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click

from recollect.cli.archive_keys import LockOptions, choose_lock, lock_options
from recollect.cli.command_workspace import command_workspace
from recollect.cli.json_output import format_document
from recollect.cli.options import SessionName, claude_dir_option, json_option
from recollect.cli.progress import progress_line
from recollect.quantities import format_bytes, format_count
from recollect.render.terminal import safe_text

if TYPE_CHECKING:
    from recollect.archive.bundles import RedactionReport
    from recollect.locations import Transcript


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
    lock = choose_lock(options)
    with progress_line("files") as show_progress:
        redaction = _search_secrets(named, show_progress)
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
        click.echo(format_document(document))
        return 0
    packed = format_count(len(document.sessions), "session")
    files, size = format_count(document.files, "file"), format_bytes(document.stored_bytes)
    name = safe_text(str(output), single_line=True)
    click.echo(f"Packed {packed}, {files}, into {name} ({size}).")
    return 0


def _search_secrets(
    transcripts: "Sequence[Transcript]", show_progress: Callable[[int, int], None]
) -> "RedactionReport":
    """Count the secrets in sessions and their subagents, by kind."""
    from recollect.archive.bundles import RedactionReport
    from recollect.health.secret_scan import add_subagents, scan_transcripts

    report = scan_transcripts(add_subagents(transcripts), show_progress)
    kinds: Counter[str] = Counter()
    for finding in report.findings:
        kinds[finding.kind] += finding.count
    return RedactionReport(transcripts=report.files, secrets=dict(sorted(kinds.items())))
