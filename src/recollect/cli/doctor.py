"""`recollect doctor`: what is on disk, how much of it this version knows, and what is broken."""

from collections.abc import Sequence
from pathlib import Path

import click
import msgspec

from recollect.cli.doctor_text import iter_report
from recollect.cli.options import claude_dir_option, json_option
from recollect.cli.progress import show_progress
from recollect.cli.tables import count_columns
from recollect.demo import CLAUDE_DIRECTORY
from recollect.errors import NothingFound, UnreadableInput, UsageError
from recollect.health import Report, describe_place, survey, take_inventory
from recollect.locations import resolve_roots

TIP = "To see what a report looks like: recollect doctor --demo"


@click.command("doctor")
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path(path_type=Path))
@click.option("--demo", is_flag=True, help="Check the sessions that come with Recollect.")
@claude_dir_option
@json_option
def command(
    paths: tuple[Path, ...], *, demo: bool, claude_dirs: tuple[Path, ...], as_json: bool
) -> int:
    """Check what is on disk: what it holds, what is new, what is broken.

    PATH is a transcript, a directory with transcripts, or a Claude directory; without one, your
    Claude directories are checked. Nothing is changed. The report holds names and counts and
    nothing that was said, so that it can be shown to others.

    Exits with 4 if something is damaged and with 3 if there is nothing to check.
    """
    if sum(map(bool, (paths, claude_dirs, demo))) > 1:
        raise UsageError("Give paths, or --claude-dir, or --demo: each says what to check.")
    try:
        places = (CLAUDE_DIRECTORY,) if demo else paths or resolve_roots(claude_dirs)
        report = _survey(places)
    except NothingFound as error:
        raise NothingFound(f"{error}\n{TIP}") from error
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(report), indent=2))
    else:
        title = "the demo data" if demo else ", ".join(map(describe_place, places))
        click.echo("\n".join(iter_report(report, title, count_columns())))
    return 0 if report.is_complete else UnreadableInput.exit_code


def _survey(places: Sequence[Path]) -> Report:
    inventory = take_inventory(places)
    if not inventory.sources and not inventory.refused:
        looked_at = "".join(f"\n  {place}" for place in places)
        raise NothingFound(f"No transcripts found. Looked at:{looked_at}")
    return survey(show_progress(inventory.sources, "files"), inventory.refused)
