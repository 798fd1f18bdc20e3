"""`recollect archive`: copies of sessions that stay when Claude Code deletes the originals."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, Unpack

import click

from recollect.cli import archive_encryption, write_targets
from recollect.cli.clock import read_clock
from recollect.cli.command_workspace import progress_line
from recollect.cli.options import claude_dir_option, json_option
from recollect.cli.terminal_output import count_columns, count_table_columns
from recollect.errors import NothingFound, UnreadableInput, UsageError
from recollect.locations import resolve_roots

if TYPE_CHECKING:
    from recollect.documents.archive_reports import ArchiveRemoval
    from recollect.documents.session_listing import SessionListing


RESTORED: Final = "restored-sessions"

dry_run_option = click.option(
    "--dry-run", is_flag=True, help="Show what would be removed, without removing it."
)


@click.group("archive", invoke_without_command=True)
@click.pass_context
def archive_command(ctx: click.Context) -> int:
    """Keep sessions that Claude Code would delete.

    The archive stores compressed, verified copies of your sessions and everything that belongs to
    them. They stay when Claude Code deletes the originals, and can be restored byte for byte.
    Nothing is copied until you agree (`archive enable`, or the first `archive sync`). Without a
    subcommand, runs `archive status`.

    \b
      recollect archive enable
      recollect archive sync
      recollect archive restore 7aa5fa93
    """
    if ctx.invoked_subcommand is not None:
        return 0
    code = ctx.invoke(status, claude_dirs=(), as_json=False)
    return code if isinstance(code, int) else 0


@archive_command.command("enable")
@write_targets.yes_option
@click.option("--hook", is_flag=True, help="Print snippets that run `archive sync` automatically.")
@claude_dir_option
@json_option
def enable(*, yes: bool, hook: bool, claude_dirs: tuple[Path, ...], as_json: bool) -> int:
    """Turn on the archive.

    Shows where it will be and how much space it needs, then asks for confirmation. Nothing is
    copied yet: run `recollect archive sync` regularly, or let a hook or timer do it. `--hook`
    prints snippets for Claude Code, systemd, launchd, Task Scheduler and cron, but installs none of
    them.

    \b
      recollect archive enable
      recollect archive enable --yes --hook
    """
    from recollect.archive.archive_tasks import describe_status, set_enabled
    from recollect.cli.archive_text import iter_snippets, iter_status, make_command

    if hook and as_json:
        raise UsageError("--hook cannot be used with --json.")
    roots = resolve_roots(claude_dirs)
    archive = archive_encryption.open_archive(roots)
    if not archive.is_enabled:
        from recollect.cli.archive_text import ask_for_consent

        ask_for_consent(archive, roots, yes=yes)
        set_enabled(archive, enabled=True)
    document = describe_status(archive, roots)
    archive_encryption.print_document(
        document, iter_status(document, count_columns()), as_json=as_json
    )
    for heading, snippet in iter_snippets(make_command(claude_dirs)) if hook else ():
        click.echo(f"\n# {heading}\n{snippet}")
    return 0


@archive_command.command("disable")
@json_option
def disable(*, as_json: bool) -> int:
    """Stop archiving; existing copies stay.

    \b
      recollect archive disable
    """
    from recollect.archive.archive_tasks import describe_status, set_enabled
    from recollect.cli.archive_text import iter_status

    archive = archive_encryption.open_existing()
    set_enabled(archive, enabled=False)
    document = describe_status(archive, ())
    archive_encryption.print_document(
        document, iter_status(document, count_columns()), as_json=as_json
    )
    return 0


@archive_command.command("sync")
@click.option("-q", "--quiet", is_flag=True, help="Print only what could not be archived.")
@claude_dir_option
@json_option
def sync(*, quiet: bool, claude_dirs: tuple[Path, ...], as_json: bool) -> int:
    """Copy new and changed sessions to the archive.

    Only bytes that are not in the archive yet are stored. Nothing is removed from the archive
    when a file shrinks or is deleted. Links and special files are skipped and listed. In a
    terminal, the first sync asks whether to keep copies, as `archive enable` does.

    Exits with 4 if a file could not be read and with 6 if the archive cannot be written; everything
    else is still archived, and the next sync continues.

    \b
      recollect archive sync
      recollect archive sync --quiet
    """
    from recollect.archive.archive_tasks import run_sync, set_enabled
    from recollect.cli.archive_text import iter_sync, iter_sync_problems

    roots = resolve_roots(claude_dirs)
    archive = archive_encryption.open_archive(roots)
    if archive.settings is None and not quiet and sys.stdin.isatty():
        from recollect.cli.archive_text import ask_for_consent

        ask_for_consent(archive, roots, yes=False)
        set_enabled(archive, enabled=True)
    with progress_line("files") as show_progress:
        document = run_sync(archive, roots, show_progress)
    is_complete = not (document.vanished or document.unreadable)
    if quiet:
        for text in () if is_complete else iter_sync_problems(document, count_columns()):
            click.echo(text, err=True)
    else:
        archive_encryption.print_document(
            document, iter_sync(document, count_columns()), as_json=as_json
        )
    return 0 if is_complete else UnreadableInput.exit_code


@archive_command.command("status")
@claude_dir_option
@json_option
def status(*, claude_dirs: tuple[Path, ...], as_json: bool) -> int:
    """Show the status and size of the archive.

    \b
      recollect archive status
    """
    from recollect.archive.archive_tasks import describe_status
    from recollect.cli.archive_text import iter_status

    try:
        roots = resolve_roots(claude_dirs)
    except NothingFound:
        # Without a Claude directory, there may still be an archive.
        roots = ()
    document = describe_status(archive_encryption.open_archive(roots), roots)
    archive_encryption.print_document(
        document, iter_status(document, count_columns()), as_json=as_json
    )
    return UnreadableInput.exit_code if document.damaged_manifests else 0


@archive_command.command("list")
@json_option
def list_archived(*, as_json: bool) -> int:
    """List archived sessions, most recently active first.

    \b
      recollect archive list
      recollect archive list --json
    """
    from recollect.archive.archive_tasks import describe_sessions
    from recollect.cli.archive_text import iter_sessions

    archive = archive_encryption.open_existing()
    document = describe_sessions(archive, _list_cached())
    if not document.sessions and not as_json:
        raise NothingFound("The archive is empty. Run `recollect archive sync` first.")
    archive_encryption.print_document(
        document, iter_sessions(document, read_clock(), count_table_columns()), as_json=as_json
    )
    return 0


@archive_command.command("verify")
@click.option("--deep", is_flag=True, help="Also rebuild every version of every file.")
@json_option
def verify(*, deep: bool, as_json: bool) -> int:
    """Check that everything in the archive is intact.

    Reads every object and every manifest and checks its SHA-256, so that a single changed bit is
    found. If anything is damaged, lists it with the files that need it and exits with 4.

    \b
      recollect archive verify
      recollect archive verify --deep
    """
    from recollect.archive.archive_tasks import run_verification
    from recollect.cli.archive_text import iter_verification

    with progress_line("objects") as show_progress:
        document = run_verification(archive_encryption.open_existing(), show_progress, deep=deep)
    archive_encryption.print_document(
        document, iter_verification(document, count_columns()), as_json=as_json
    )
    return UnreadableInput.exit_code if document.damaged else 0


@archive_command.command("restore")
@click.argument("sessions", nargs=-1, metavar="[SESSION]...")
@click.option("--all", "everything", is_flag=True, help="Restore everything in the archive.")
@write_targets.target_options
@json_option
def restore(
    sessions: tuple[str, ...],
    *,
    everything: bool,
    as_json: bool,
    **options: Unpack[write_targets.TargetOptions],
) -> int:
    """Restore archived sessions byte for byte.

    SESSION is the id of an archived session, or the start of it. Files are written to the directory
    `restored-sessions`, or the one given by `--to`, in the layout of a Claude directory. An
    existing file is never overwritten; if one is different, nothing is restored.

    Use `--into-claude-dir` to write to a Claude directory instead. Files restored there get the
    current time, so that Claude Code does not delete them again at its next start. Use
    `--keep-times` to keep the original times.

    \b
      recollect archive restore 7aa5fa93
      recollect archive restore --all --to /tmp/sessions
    """
    from recollect.archive.archive_tasks import run_restore
    from recollect.cli.archive_text import iter_written

    if bool(sessions) == everything:
        raise UsageError("Specify the sessions to restore, or use --all.")
    base = write_targets.choose_target(options, RESTORED)
    document = run_restore(
        archive_encryption.open_existing(),
        sessions,
        base,
        keep_times=write_targets.keeps_times(options),
    )
    lines = iter_written(document.files, document.directory, dry_run=False)
    archive_encryption.print_document(document, lines, as_json=as_json)
    return 0


@archive_command.command("prune")
@click.option(
    "--older-than",
    metavar="DATE",
    help="Remove sessions last active before DATE: 2026-11-15, 2026-11, 90d, 52w.",
)
@dry_run_option
@write_targets.yes_option
@json_option
def prune(*, older_than: str | None, dry_run: bool, yes: bool, as_json: bool) -> int:
    """Remove old sessions from the archive.

    Removes unused objects and, with `--older-than`, sessions that were last active before that date
    and are no longer in a Claude directory. This cannot be undone.

    \b
      recollect archive prune --older-than 52w --dry-run
    """
    from recollect.archive.archive_tasks import prune_archive
    from recollect.session.times import parse_range

    before, _ = parse_range(older_than, None, read_clock())
    archive = archive_encryption.open_existing()
    if older_than and not dry_run:
        planned = prune_archive(archive, before, dry_run=True)
        write_targets.confirm(
            f"Remove {len(planned.sessions):,} archived sessions for good?", yes=yes
        )
    _print_removal(prune_archive(archive, before, dry_run=dry_run), as_json=as_json)
    return 0


@archive_command.command("forget")
@click.argument("session", metavar="SESSION")
@click.option(
    "--undo",
    is_flag=True,
    help="Allow a forgotten session to be archived again; needs the full id.",
)
@dry_run_option
@write_targets.yes_option
@json_option
def forget(session: str, *, undo: bool, dry_run: bool, yes: bool, as_json: bool) -> int:
    """Remove a session from the archive for good.

    Deletes every version of its files and every object that no other session needs, and does not
    archive it again. This cannot be undone; `--undo` only allows the session to be archived again.
    The original in the Claude directory is left alone, and so is `history.jsonl`, which contains
    the prompts of all sessions.

    \b
      recollect archive forget 7aa5fa93
    """
    from recollect.archive.archive_tasks import allow_again, describe_status, forget_session
    from recollect.cli.archive_text import iter_status

    archive = archive_encryption.open_existing()
    if undo:
        allow_again(archive, session)
        document = describe_status(archive, ())
        archive_encryption.print_document(
            document, iter_status(document, count_columns()), as_json=as_json
        )
        return 0
    if not dry_run:
        planned = forget_session(archive, session, dry_run=True)
        write_targets.confirm(f"Remove {planned.sessions[0]} from the archive for good?", yes=yes)
    _print_removal(forget_session(archive, session, dry_run=dry_run), as_json=as_json)
    return 0


def _list_cached() -> dict[str, "SessionListing"]:
    """Return the sessions that lists show, by path."""
    from recollect.cli.command_workspace import command_workspace

    try:
        with command_workspace() as workspace:
            found = workspace.sessions().sessions
    except NothingFound:
        # Without a Claude directory, there may still be an archive.
        return {}
    return {each.path: each for each in found}


def _print_removal(document: "ArchiveRemoval", *, as_json: bool) -> None:
    from recollect.cli.archive_text import iter_removal

    archive_encryption.print_document(
        document, iter_removal(document, count_columns()), as_json=as_json
    )


for each in (archive_encryption.export, archive_encryption.encrypt, archive_encryption.decrypt):
    archive_command.add_command(each)
