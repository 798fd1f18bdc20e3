"""`recollect doctor`: what is on disk, how much of it this version knows, and what is broken."""

from collections.abc import Sequence
from pathlib import Path

import click
from msgspec.structs import replace

from recollect.cli.clock import read_clock
from recollect.cli.config.defaults import is_given
from recollect.cli.config.values import find_prices
from recollect.cli.doctor.text import iter_report
from recollect.cli.documents import format_document
from recollect.cli.options import claude_dir_option, json_option
from recollect.cli.paging import pager_option, show_lines
from recollect.cli.progress import show_progress
from recollect.cli.tables import count_columns
from recollect.demo import CLAUDE_DIRECTORY
from recollect.errors import NothingFound, UnreadableInput, UsageError
from recollect.health.index_state import examine_index
from recollect.health.report import Report
from recollect.health.roots import examine_roots
from recollect.health.sources import describe_place, take_inventory
from recollect.health.survey import survey
from recollect.locations import resolve_roots
from recollect.store.place import find_data_directory
from recollect.store.versions import SQLITE_VERSION
from recollect.sync.level import find_transcripts

TIP = "To see what a report looks like: recollect doctor --demo"


@click.command("doctor")
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path(path_type=Path))
@click.option("--demo", is_flag=True, help="Check the sessions that come with Recollect.")
@pager_option
@claude_dir_option
@json_option
def command(
    paths: tuple[Path, ...],
    *,
    demo: bool,
    paged: bool,
    claude_dirs: tuple[Path, ...],
    as_json: bool,
) -> int:
    """Check what is on disk: what is new, broken or about to go.

    PATH is a transcript, a directory with transcripts, or a Claude directory; without one, your
    Claude directories are checked. Nothing is changed. The report holds names and counts and
    nothing that was said, so that it can be shown to others.

    Your Claude directories are looked at as such too: who may read them, which sessions Claude Code
    is about to delete, what deleted ones left behind, and the state of Recollect's own index.

    \b
      recollect doctor
      recollect doctor --json ~/.claude/projects/-home-mina-tidepool

    Exits with 4 if something is damaged and with 3 if there is nothing to check.
    """
    if sum(map(bool, (paths, is_given("claude_dirs"), demo))) > 1:
        raise UsageError("Give paths, or --claude-dir, or --demo: each says what to check.")
    try:
        places = (CLAUDE_DIRECTORY,) if demo else paths or resolve_roots(claude_dirs)
        report = _survey(places)
    except NothingFound as error:
        raise NothingFound(f"{error}\n{TIP}") from error
    if not demo and not paths:
        report = _add_machine(report, places)
    if as_json:
        click.echo(format_document(report))
    else:
        title = "the demo data" if demo else ", ".join(map(describe_place, places))
        show_lines(iter_report(report, title, count_columns()), is_paged=paged)
    return 0 if report.is_complete else UnreadableInput.exit_code


def _survey(places: Sequence[Path]) -> Report:
    inventory = take_inventory(places)
    if not inventory.sources and not inventory.refused:
        looked_at = "".join(f"\n  {place}" for place in places)
        raise NothingFound(f"No transcripts found. Looked at:{looked_at}")
    return survey(show_progress(inventory.sources, "files"), inventory.refused)


def _add_machine(report: Report, roots: Sequence[Path]) -> Report:
    """The report with what is to be said of the directories and of the index of this machine."""
    return replace(
        report,
        roots=examine_roots(roots, read_clock()),
        index=examine_index(find_data_directory(), find_transcripts(roots), find_prices()),
        sqlite=SQLITE_VERSION,
    )
