"""`recollect archive encrypt`, `decrypt` and `export`: keys and tar files; and how all archive
commands open the archive.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Unpack

import click

from recollect.archive import find_archive_directory
from recollect.archive.archive import Archive
from recollect.cli import command_workspace, json_output, terminal_output, write_targets
from recollect.cli.options import json_option
from recollect.errors import NothingFound, UsageError


def open_archive(roots: Iterable[Path]) -> Archive:
    """Return the archive, whether or not it exists yet."""
    command_workspace.use_configured_keys()
    return Archive(find_archive_directory(roots))


def open_existing() -> Archive:
    """Return the archive; raise NothingFound if there is none."""
    archive = open_archive(())
    if archive.settings is None:
        raise NothingFound(
            f"There is no archive in {archive.directory}. Run `recollect archive enable` first."
        )
    return archive


def print_document(document: object, lines: Iterable[str], *, as_json: bool) -> None:
    """Print a document as JSON or as text."""
    click.echo(json_output.format_document(document) if as_json else "\n".join(lines))


OnProgress = Callable[[int, int], None]


@click.command("export")
@click.argument("sessions", nargs=-1, metavar="[SESSION]...")
@click.option("--all", "everything", is_flag=True, help="Export everything in the archive.")
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write to FILE, which must not exist: a .tar or .tar.zst.",
)
@command_workspace.lock_options
@json_option
def export(
    sessions: tuple[str, ...],
    *,
    everything: bool,
    output: Path,
    as_json: bool,
    **options: Unpack[command_workspace.LockOptions],
) -> int:
    """Write archived sessions to a tar file.

    The file has the layout of a Claude directory and contains the newest version of every file,
    with its permissions and time; any tar program can unpack it. It is compressed with zstd unless
    its name ends in .tar, and encrypted with `--recipient` or `--passphrase`.

    \b
      recollect archive export --all -o sessions.tar.zst
      recollect archive export 7aa5fa93 -o one.tar
    """
    from recollect.archive.archive_tasks import export_sessions
    from recollect.cli.archive_text import iter_export

    if bool(sessions) == everything:
        raise UsageError("Specify the sessions to export, or use --all.")
    archive = open_existing()
    document = export_sessions(
        archive, sessions, output.absolute(), command_workspace.choose_lock(options)
    )
    print_document(document, iter_export(document), as_json=as_json)
    return 0


@click.command("encrypt")
@command_workspace.recipient_option
@command_workspace.passphrase_option
@click.option(
    "--new-key",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Create a new age identity in FILE and encrypt to it.",
)
@write_targets.yes_option
@json_option
def encrypt(
    *,
    recipients: tuple[str, ...],
    asks_passphrase: bool,
    new_key: Path | None,
    yes: bool,
    as_json: bool,
) -> int:
    """Encrypt the archive, or change who can read it.

    Everything in the archive is encrypted in the age format: to one or more recipients, to a new
    key, or with a passphrase. If the key is lost, so is the archive; you are asked first.

    From then on, commands need the key to read archived sessions: the identity file set by
    RECOLLECT_ARCHIVE_IDENTITY or by `archive_identity` in the config file, or the passphrase, from
    RECOLLECT_ARCHIVE_PASSPHRASE or typed in. Needs pip install 'recollect[encryption]'.

    \b
      recollect archive encrypt --new-key ~/recollect-key.txt
      recollect archive encrypt --recipient age1KEY
      recollect archive encrypt --passphrase
    """
    from recollect.archive.archive_maintenance import protect_with_passphrase
    from recollect.cli.archive_text import iter_key_advice, iter_key_warning

    if sum(map(bool, (recipients, asks_passphrase, new_key))) != 1:
        raise UsageError("Use one of --recipient, --passphrase and --new-key.")
    archive = open_existing()
    for line in iter_key_warning(terminal_output.count_columns(), has_passphrase=asks_passphrase):
        click.echo(line, err=True)
    write_targets.confirm("Encrypt the archive?", yes=yes)
    if new_key:
        recipients = _make_key(archive, new_key.absolute())
        for line in iter_key_advice(new_key.absolute(), terminal_output.count_columns()):
            click.echo(line, err=True)
    with command_workspace.progress_line("objects") as show_progress:
        if asks_passphrase:
            keys = protect_with_passphrase(
                archive, command_workspace.ask_new_passphrase(), show_progress
            )
        else:
            keys = _encrypt_to_keys(archive, recipients, new_key, show_progress)
    return _report_status(Archive(archive.directory, keys), as_json=as_json)


@click.command("decrypt")
@write_targets.yes_option
@json_option
def decrypt(*, yes: bool, as_json: bool) -> int:
    """Decrypt the archive.

    \b
      recollect archive decrypt
    """
    from recollect.archive.archive_maintenance import encrypt_to

    archive = open_existing()
    settings = archive.require_settings()
    if settings.recipients or settings.is_rewriting:
        write_targets.confirm("Store the archive without encryption?", yes=yes)
        with command_workspace.progress_line("objects") as show_progress:
            encrypt_to(archive, (), show_progress)
    else:
        click.echo("The archive is not encrypted.", err=True)
    return _report_status(archive.reopen(), as_json=as_json)


def _make_key(archive: Archive, path: Path) -> tuple[str, ...]:
    """Make a new key in a file; return its recipient.

    If an earlier encryption was interrupted, its key is used again, so that repeating the command
    finishes it.
    """
    from recollect.archive.archive_maintenance import make_identity_file, require_matching_identity
    from recollect.archive.encryption import KeyMissing, get_key_finder

    settings = archive.require_settings()
    if settings.is_rewriting and settings.recipients:
        with suppress(KeyMissing):
            identities = get_key_finder().read_identities(path)
            require_matching_identity(settings.recipients, identities)
            return settings.recipients
    return (make_identity_file(path),)


def _encrypt_to_keys(
    archive: Archive, recipients: Sequence[str], key: Path | None, on_progress: OnProgress
) -> Sequence[str]:
    """Encrypt to recipients whose key is on this machine; return the identities."""
    from recollect.archive.archive_maintenance import encrypt_to, require_matching_identity
    from recollect.archive.encryption import IDENTITY_VARIABLE, get_key_finder

    finder = get_key_finder()
    identities = finder.read_identities(key.absolute()) if key else finder.read_identity_file()
    if not identities:
        raise UsageError(
            f"Set {IDENTITY_VARIABLE}, or `{command_workspace.SETTING}` in the config file, to the "
            "identity file of a recipient first: without it you could not read your own archive."
        )
    require_matching_identity(recipients, identities)
    encrypt_to(Archive(archive.directory, identities), recipients, on_progress)
    return identities


def _report_status(archive: Archive, *, as_json: bool) -> int:
    from recollect.archive.archive_tasks import describe_status
    from recollect.cli.archive_text import iter_status

    document = describe_status(archive, ())
    print_document(
        document, iter_status(document, terminal_output.count_columns()), as_json=as_json
    )
    return 0
