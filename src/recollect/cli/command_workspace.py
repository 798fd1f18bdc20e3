"""The workspace of a command: its Claude directories, prices, clock and progress line, and the keys
of an encrypted archive.

A passphrase is never an argument: other users of the machine could see it in the list of processes.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypedDict, TypeVar

import click

from recollect.cli.clock import read_clock
from recollect.errors import NothingFound, UsageError
from recollect.reader.line_blocks import mask_by_default
from recollect.render.terminal import safe_text
from recollect.workspace.config_file import load_policy
from recollect.workspace.resources import NoSessions
from recollect.workspace.workspace import Workspace

if TYPE_CHECKING:
    from recollect.archive.bundles import FileLock


DELAY_SECONDS = 1.0
STEP_SECONDS = 0.1
_ERASE_LINE: Final = "\r\x1b[K"


class ProgressLine:
    """A single line with the number of items done, shown after a delay."""

    def __init__(self) -> None:
        self._due = time.monotonic() + DELAY_SECONDS
        self._is_watched = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._is_shown = False

    def show(self, noun: str, done: int, total: int) -> None:
        """Update the line, at most every `STEP_SECONDS`."""
        if self._is_watched and time.monotonic() >= self._due:
            self._due = time.monotonic() + STEP_SECONDS
            self._is_shown = True
            self._write(f"{_ERASE_LINE}Reading {noun}: {done:,} of {total:,}")

    def clear(self) -> None:
        """Erase the line."""
        if self._is_shown:
            self._is_shown = False
            self._write(_ERASE_LINE)

    def _write(self, text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()


@contextmanager
def progress_line(noun: str) -> Iterator[Callable[[int, int], None]]:
    """Return a callback that shows progress in `noun`; the line is erased at the end."""
    line = ProgressLine()
    try:
        yield partial(line.show, noun)
    finally:
        line.clear()


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


def choose_lock(options: LockOptions) -> FileLock:
    """Return how to encrypt a file; asks for a passphrase if it needs one."""
    from recollect.archive.bundles import FileLock
    from recollect.archive.encryption import check_recipient

    if options["recipients"] and options["asks_passphrase"]:
        raise UsageError("Use only one of --recipient and --passphrase.")
    if options["asks_passphrase"]:
        return FileLock(passphrase=ask_new_passphrase())
    return FileLock(tuple(map(check_recipient, options["recipients"])))


def ask_new_passphrase() -> str:
    """Return a passphrase from the environment, or ask for one twice."""
    import os

    from recollect.archive.encryption import PASSPHRASE_VARIABLE

    found = os.environ.get(PASSPHRASE_VARIABLE)
    if not found and not sys.stdin.isatty():
        raise UsageError(
            f"Cannot ask for a passphrase without a terminal. Set {PASSPHRASE_VARIABLE}."
        )
    found = found or click.prompt(
        "New passphrase", hide_input=True, confirmation_prompt=True, err=True
    )
    return str(found)


def use_configured_keys() -> None:
    """Let encrypted archives find their key in the config file, or ask for a passphrase."""
    from recollect.archive.encryption import KeyFinder, set_key_finder

    set_key_finder(KeyFinder(find_identity_file, _ask))


def find_identity_file() -> Path | None:
    """Return the identity file set in the config file."""
    from recollect.workspace.config_file import load_config_values

    stated = load_config_values().get(SETTING)
    return Path(str(stated.value)) if stated else None


@cache
def _ask(prompt: str) -> str | None:
    """Ask once per run, and only in a terminal."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    return str(click.prompt(prompt, hide_input=True, err=True))


TIP: Final = "To try it with sample sessions: recollect demo"


@contextmanager
def command_workspace(
    claude_dirs: Sequence[Path] = (),
    *,
    prices: Path | None = None,
    is_demo: bool = False,
    tip: str = TIP,
) -> Iterator[Workspace]:
    """Open a workspace that shows its progress; `tip` is the hint if there are no sessions.

    The progress line is erased at the end, so print the result after the `with` statement.
    """
    line = ProgressLine()
    workspace = Workspace(_find_roots(claude_dirs, is_demo), None, prices, read_clock, line.show)
    workspace.load_redaction = load_policy
    workspace.unlock_archive = use_configured_keys
    mask_by_default(workspace.mask_block, workspace.preload_masks)
    try:
        with workspace:
            if is_demo:
                workspace.use_temporary_index()
            yield workspace
            if workspace.archive_failure:
                line.clear()
                click.echo(f"recollect: {safe_text(workspace.archive_failure)}", err=True)
    except NoSessions as error:
        raise NothingFound(f"{error}\n{tip}") from error
    finally:
        line.clear()


def _find_roots(claude_dirs: Sequence[Path], is_demo: bool) -> Sequence[Path]:
    if not is_demo:
        return claude_dirs
    from recollect.demo import CLAUDE_DIRECTORY  # rarely needed

    return (CLAUDE_DIRECTORY,)


def mask_stream(*, reveal: bool) -> None:
    """Mask the client's output from now on, unless the user wants to see secrets."""
    workspace = Workspace()
    workspace.load_redaction = load_policy
    mask_by_default(None if reveal else workspace.mask_block)
