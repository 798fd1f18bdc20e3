"""`recollect restore`: bring back a version of a file, or all files of a checkpoint."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click

from recollect.cli.clock import read_clock
from recollect.cli.file_text import (
    SearchOptions,
    all_projects_option,
    iter_diff,
    load_history,
    moved_from_option,
    name_version,
)
from recollect.cli.options import check_reveal, claude_dir_option, reveal_option
from recollect.cli.tables import colour_option
from recollect.errors import RecollectError, UsageError
from recollect.quantities import format_count
from recollect.render.terminal import safe_text

if TYPE_CHECKING:
    from recollect.versions.file_restore import RestorePlan
    from recollect.versions.session_checkpoints import FileState


class _Options(SearchOptions):
    at: str | None
    output: Path | None
    checkpoint: int | None
    to: Path | None
    dry_run: bool
    yes: bool
    reveal: bool


@click.command("restore")
@click.argument("target", metavar="PATH|SESSION")
@click.option("--at", metavar="VERSION", help="The version to restore, as for `recollect file`.")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write to FILE instead of PATH.",
)
@click.option(
    "--checkpoint",
    type=int,
    metavar="N",
    help="Restore the files of a session to the state at its prompt N.",
)
@click.option(
    "--to",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="With --checkpoint, write below DIR instead of the session's directory.",
)
@click.option("--dry-run", is_flag=True, help="Show what would be written, and write nothing.")
@click.option("-y", "--yes", is_flag=True, help="Skip the confirmation prompt.")
@reveal_option
@moved_from_option
@all_projects_option
@colour_option
@claude_dir_option
def command(target: str, **options: Unpack[_Options]) -> None:
    """Bring back a version of a file, or the files of a checkpoint.

    Shows a diff against the current file first, with secrets masked, then asks for confirmation. A
    file that is replaced is kept beside it as NAME.before-restore. Exact and replayed versions are
    restored, inferred ones with a warning, partial ones never. Line endings, byte order mark and
    encoding are those of Claude Code's backup, of the current file, or of the last commit.

    With --checkpoint, files outside the session's directory and files that did not exist at the
    prompt are left alone.

    \b
      recollect restore src/app.py --at 3
      recollect restore src/app.py --at 2h -o old.py
      recollect restore latest --checkpoint 4 --dry-run
      recollect restore latest --checkpoint 4 --to /tmp/before

    Exits with 1 if you decline, or if a file cannot be written; that file is left unchanged.
    """
    check_reveal(reveal=options["reveal"])
    if (options["at"] is None) == (options["checkpoint"] is None):
        raise UsageError("Specify either --at or --checkpoint.")
    if options["checkpoint"] is None:
        if options["to"]:
            raise UsageError("--to needs --checkpoint; use -o for a single file.")
        _restore_file(target, options)
    else:
        if options["output"]:
            raise UsageError("-o needs --at; use --to for a checkpoint.")
        _restore_checkpoint(target, options["checkpoint"], options)


def _restore_file(target: str, options: _Options) -> None:
    from recollect.versions.file_restore import plan_restore
    from recollect.versions.version_names import find_version

    path = Path(target)
    found = load_history(path, options)
    version = find_version(options["at"] or "", found.history.versions, read_clock())
    backup = found.history.read_backup(version)
    committed = found.git.read_newest() if found.git else None
    plan = plan_restore(version, options["output"] or path, backup, committed)
    if plan.changes_nothing:
        click.echo(f"{_show(plan.target)} already has the content of version {version.number}.")
        return
    if _show_plan(plan, name_version(version), reveal=options["reveal"]):
        click.echo(f"recollect: {name_version(version)} may differ from what was there.", err=True)
    _write([plan], options)


def _restore_checkpoint(session: str, number: int, options: _Options) -> None:
    from recollect.cli.commands.checkpoints import load_checkpoints
    from recollect.versions.file_restore import find_target, plan_restore

    found, backups = load_checkpoints(session, options["claude_dirs"])
    directory = options["to"] or _find_here(found.directory)
    plans: list[RestorePlan] = []
    for state in found.find(number).files:
        place = find_target(state.path, found.directory, directory)
        reason = _find_obstacle(state, place)
        if reason is not None or place is None or state.version is None:
            click.echo(f"recollect: {_show(state.path)} is left alone: {reason}.", err=True)
            continue
        name = state.version.backup
        backup = backups.read(*name) if name else None
        plan = plan_restore(state.version, place, backup)
        if not plan.changes_nothing:
            _show_plan(plan, name_version(state.version), reveal=options["reveal"])
            plans.append(plan)
    if plans:
        _write(plans, options)
    else:
        click.echo("Nothing to restore: all known files are as they were.")


def _find_here(directory: str) -> Path:
    """Return the session's directory, if it is the current one or below it.

    A transcript may claim to have worked anywhere, so its word alone is not enough.
    """
    here = Path.cwd()
    if directory and Path(directory).is_relative_to(here):
        return Path(directory)
    raise UsageError(
        f"The session worked in {_show(directory) or 'an unknown directory'}. Run the command "
        "there, or name a directory with --to."
    )


def _find_obstacle(state: FileState, place: Path | None) -> str | None:
    if place is None:
        return "it is outside the session's directory, or not a plain file"
    if not state.exists:
        return "it did not exist at that prompt"
    if state.version is None or state.version.text is None:
        return "its content at that prompt is not known"
    return None


def _show_plan(plan: RestorePlan, name: str, *, reveal: bool) -> bool:
    """Print a diff against the current file; return whether the content is uncertain."""
    from recollect.versions.file_texts import decode_file

    present, wanted = decode_file(plan.present or b""), decode_file(plan.data)
    if present is None or wanted is None:
        click.echo(f"{_show(plan.target)} is not text now and would be replaced.")
    else:
        old, new = (str(plan.target), present.text), (name, wanted.text)
        for line in iter_diff(old, new, reveal=reveal):
            click.echo(line)
        if present.text == wanted.text:
            click.echo(f"{_show(plan.target)}: only line ends or encoding differ.")
    return plan.grade == "inferred"


def _write(plans: list[RestorePlan], options: _Options) -> None:
    from recollect.versions.file_restore import write_restored

    doubtful = sum(plan.grade == "inferred" for plan in plans)
    if doubtful:
        click.echo(f"recollect: {format_count(doubtful, 'file')} of uncertain content.", err=True)
    if options["dry_run"]:
        click.echo(f"Would write {format_count(len(plans), 'file')}.")
        return
    if not options["yes"]:
        question = f"Write {format_count(len(plans), 'file')}?"
        if not click.confirm(question, err=True):
            raise RecollectError("Nothing was written.")
    for plan in plans:
        copy = write_restored(plan)
        kept = f"; the previous content is in {_show(copy)}" if copy else ""
        click.echo(f"Restored {_show(plan.target)}{kept}.")


def _show(path: Path | str) -> str:
    return safe_text(str(path), single_line=True)
