"""`recollect doctor`: check transcripts, Claude directories and the index."""

from pathlib import Path

import click

from recollect.cli.command_workspace import command_workspace
from recollect.cli.doctor_text import iter_report
from recollect.cli.effective_settings import find_prices
from recollect.cli.json_output import format_document
from recollect.cli.options import claude_dir_option, json_option
from recollect.cli.paging import pager_option, show_lines
from recollect.cli.program import is_given
from recollect.cli.tables import count_columns
from recollect.demo import CLAUDE_DIRECTORY
from recollect.errors import UnreadableInput, UsageError
from recollect.health.survey import display_path

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
    checked = (CLAUDE_DIRECTORY,) if demo else paths
    with command_workspace(claude_dirs, prices=find_prices(), tip=TIP) as workspace:
        report = workspace.health(checked)
        shown = checked or workspace.roots
    if as_json:
        click.echo(format_document(report))
    else:
        title = "the demo data" if demo else ", ".join(map(display_path, shown))
        show_lines(iter_report(report, title, count_columns()), is_paged=paged)
    return 0 if report.is_complete else UnreadableInput.exit_code
