"""Checks before a command writes: a Claude directory must be named explicitly as the target, and
irreversible actions need confirmation.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypedDict, TypeVar

import click

from recollect.errors import NothingFound, RecollectError, UsageError
from recollect.locations import resolve_roots
from recollect.locations.claude_directories import is_inside

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS: Final = (
    click.option(
        "--to", "target", metavar="DIR", type=click.Path(path_type=Path), help="Write to DIR."
    ),
    click.option(
        "--into-claude-dir",
        metavar="DIR",
        type=click.Path(path_type=Path),
        help="Write to this Claude directory, so that Claude Code can resume the session.",
    ),
    click.option(
        "--keep-times",
        is_flag=True,
        help="Keep the original modification times, even with --into-claude-dir.",
    ),
)


class TargetOptions(TypedDict):
    """The values of the options for the target."""

    target: Path | None
    into_claude_dir: Path | None
    keep_times: bool


def keeps_times(options: TargetOptions) -> bool:
    """Whether to keep original times; Claude Code would delete such files in its directory."""
    return options["keep_times"] or options["into_claude_dir"] is None


def target_options(function: F) -> F:
    """Add the options of `choose_target`, and `--keep-times`."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def choose_target(options: TargetOptions, default: str) -> Path:
    """Return the target directory; a Claude directory only if named explicitly."""
    target, claude_dir = options["target"], options["into_claude_dir"]
    if target and claude_dir:
        raise UsageError("Use only one of --to and --into-claude-dir.")
    if claude_dir:
        return resolve_roots([claude_dir])[0]
    base = Path(target or default).absolute()
    try:
        roots = resolve_roots()
    except NothingFound:
        return base
    for root in roots:
        if is_inside(base, root):
            raise UsageError(
                f"{base} belongs to Claude Code. To write there, use --into-claude-dir {root}."
            )
    return base


yes_option = click.option("-y", "--yes", is_flag=True, help="Skip the confirmation prompt.")
DECLINED: Final = "Nothing was done."


def confirm(question: str, *, yes: bool) -> None:
    """Ask unless `yes`; raise RecollectError (exit code 1) if the answer is no."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise UsageError("Nothing was done: confirmation needs a terminal. Use --yes to skip it.")
    if not click.confirm(question, err=True):
        raise RecollectError(DECLINED)
