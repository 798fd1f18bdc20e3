"""Asking before something is done that cannot be undone."""

import sys
from typing import Final

import click

from recollect.errors import RecollectError, UsageError

yes_option = click.option("--yes", is_flag=True, help="Skip the confirmation prompt.")
DECLINED: Final = "Nothing was done."


def confirm(question: str, *, yes: bool) -> None:
    """Ask unless `yes`; raise RecollectError (exit code 1) if the answer is no."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise UsageError("Nothing was done, because nobody can be asked here. Add --yes to agree.")
    if not click.confirm(question, err=True):
        raise RecollectError(DECLINED)
