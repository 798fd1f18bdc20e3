"""Keys of encrypted archives and bundles: from options, the environment, the config file, a person.

A passphrase is never an argument: other users of the machine could see it in the list of processes.
"""

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypedDict, TypeVar

import click

from recollect.errors import UsageError

if TYPE_CHECKING:
    from recollect.archive.locked_files import FileLock

F = TypeVar("F", bound=Callable[..., Any])

SETTING: Final = "archive_identity"

recipient_option = click.option(
    "-r",
    "--recipient",
    "recipients",
    multiple=True,
    metavar="KEY",
    help="Encrypt to KEY: an age recipient (age1...) or an SSH public key. Can be repeated.",
)
passphrase_option = click.option(
    "-p", "--passphrase", "asks_passphrase", is_flag=True, help="Encrypt with a passphrase."
)


class LockOptions(TypedDict):
    """The values of the options that encrypt a file."""

    recipients: tuple[str, ...]
    asks_passphrase: bool


def lock_options(function: F) -> F:
    """Add the options of `choose_lock`."""
    return recipient_option(passphrase_option(function))


def choose_lock(options: LockOptions) -> "FileLock":
    """Return how to encrypt a file; asks for a passphrase if it needs one."""
    from recollect.archive.encryption import check_recipient
    from recollect.archive.locked_files import FileLock

    if options["recipients"] and options["asks_passphrase"]:
        raise UsageError("Use only one of --recipient and --passphrase.")
    if options["asks_passphrase"]:
        return FileLock(passphrase=ask_new_passphrase())
    return FileLock(tuple(map(check_recipient, options["recipients"])))


def ask_new_passphrase() -> str:
    """Return a passphrase from the environment, or ask for one twice."""
    import os

    from recollect.archive.keys import PASSPHRASE_VARIABLE

    found = os.environ.get(PASSPHRASE_VARIABLE)
    if not found and not sys.stdin.isatty():
        raise UsageError(f"Nobody can be asked for a passphrase here. Set {PASSPHRASE_VARIABLE}.")
    found = found or click.prompt(
        "New passphrase", hide_input=True, confirmation_prompt=True, err=True
    )
    return str(found)


def use_configured_keys() -> None:
    """Let encrypted archives find their key in the config file, or ask for a passphrase."""
    from recollect.archive.keys import KeyFinder, set_key_finder

    set_key_finder(KeyFinder(find_identity_file, _ask))


def prepare_archive() -> None:
    """Do the same if there is an archive at all; all others need not load what knows keys."""
    from recollect.archive.archive_directory import find_archive_directory, has_archive

    if has_archive(find_archive_directory()):
        use_configured_keys()


def find_identity_file() -> Path | None:
    """Return the identity file that the config file names."""
    from recollect.cli.config_file import load_stated

    stated = load_stated().get(SETTING)
    return Path(str(stated.value)) if stated else None


@cache
def _ask(prompt: str) -> str | None:
    """Ask once per run, and only in a terminal."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    return str(click.prompt(prompt, hide_input=True, err=True))
