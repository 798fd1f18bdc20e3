"""`recollect doctor`: check transcripts, Claude directories and the index."""

from collections.abc import Sequence
from pathlib import Path

import click
from msgspec.structs import replace

from recollect.archive.archive_directory import find_archive_directory, has_archive
from recollect.cli.archive_access import use_archive
from recollect.cli.clock import read_clock
from recollect.cli.doctor_text import iter_report
from recollect.cli.effective_settings import find_prices
from recollect.cli.json_output import format_document
from recollect.cli.options import claude_dir_option, json_option
from recollect.cli.paging import pager_option, show_lines
from recollect.cli.program import is_given
from recollect.cli.progress import show_progress
from recollect.cli.tables import count_columns
from recollect.demo import CLAUDE_DIRECTORY
from recollect.documents.health_report import ArchiveReport, HealthReport
from recollect.errors import NothingFound, UnreadableInput, UsageError
from recollect.health.root_checks import examine_index, examine_roots
from recollect.health.survey import display_path, survey, take_inventory
from recollect.locations import resolve_roots
from recollect.store import SQLITE_VERSION
from recollect.store.data_directory import find_data_directory
from recollect.sync import find_transcripts

TIP = "To see a sample report: recollect doctor --demo"


@click.command("doctor")
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path(path_type=Path))
@click.option("--demo", is_flag=True, help="Use the sample sessions that come with Recollect.")
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
    """Check sessions for damage, unknown data and pending deletion.

    PATH is a transcript, a directory of transcripts, or a Claude directory; the default is your
    Claude directories. Nothing is changed. The report contains names and counts but no conversation
    text, so it is safe to share.

    For your Claude directories it also reports who can read them, which sessions Claude Code will
    delete soon, leftovers of deleted sessions, and the state of the index.

    \b
      recollect doctor
      recollect doctor --json ~/.claude/projects/-home-mina-tidepool

    Exits with 4 if something is damaged and with 3 if there is nothing to check.
    """
    if sum(map(bool, (paths, is_given("claude_dirs"), demo))) > 1:
        raise UsageError("Use only one of PATH, --claude-dir and --demo.")
    try:
        sources = (CLAUDE_DIRECTORY,) if demo else paths or resolve_roots(claude_dirs)
        report = _survey(sources)
    except NothingFound as error:
        raise NothingFound(f"{error}\n{TIP}") from error
    if not demo and not paths:
        report = _add_local_checks(report, sources)
    if as_json:
        click.echo(format_document(report))
    else:
        title = "the demo data" if demo else ", ".join(map(display_path, sources))
        show_lines(iter_report(report, title, count_columns()), is_paged=paged)
    return 0 if report.is_complete else UnreadableInput.exit_code


def _survey(sources: Sequence[Path]) -> HealthReport:
    inventory = take_inventory(sources)
    if not inventory.sources and not inventory.refused:
        looked_at = "".join(f"\n  {source}" for source in sources)
        raise NothingFound(f"No transcripts found. Looked in:{looked_at}")
    return survey(show_progress(inventory.sources, "files"), inventory.refused)


def _add_local_checks(report: HealthReport, roots: Sequence[Path]) -> HealthReport:
    """Add the checks of the Claude directories and the index of this machine."""
    examined = examine_roots(roots, read_clock())
    archive = _examine_archive(roots)
    # The index knows archived sessions too; the checks above are about what is on disk.
    use_archive(roots)
    return replace(
        report,
        roots=examined,
        index=examine_index(find_data_directory(), find_transcripts(roots), find_prices()),
        sqlite=SQLITE_VERSION,
        archive=archive,
    )


def _examine_archive(roots: Sequence[Path]) -> ArchiveReport:
    """Return the state of the archive in short."""
    directory = find_archive_directory()
    path = display_path(directory)
    if not has_archive(directory):
        return ArchiveReport(path=path, is_enabled=False)
    from recollect.archive.archive import Archive
    from recollect.archive.archive_tasks import describe_status

    status = describe_status(Archive(directory), roots)
    return ArchiveReport(
        path=path,
        is_enabled=status.is_enabled,
        sessions=status.sessions,
        sessions_gone=status.sessions_gone,
        files_behind=status.files_behind,
        last_sync=status.last_sync,
    )
