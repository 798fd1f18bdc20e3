"""`recollect` without a command: the picker in a terminal, the list elsewhere.

The first time, before there is an index, it also prints an overview of the sessions found.
"""

import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from recollect.cli.clock import read_clock
from recollect.cli.command_workspace import command_workspace
from recollect.cli.commands.list_command import list_command
from recollect.cli.terminal_output import count_columns, is_terminal, label_id, label_title, wrap
from recollect.health.retention import SETTING, SETTINGS_NAME, SOON
from recollect.quantities import format_bytes, format_count, format_date, format_deletion
from recollect.render.terminal import clip
from recollect.store.data_directory import INDEX_NAME, find_data_directory

if TYPE_CHECKING:
    # The session model, which the picker does not need to show its list.
    from recollect.health.root_checks import ExpiringSession, FirstRunOverview

_INDENT: Final = "  "
_MINUTE: Final = 60


def iter_overview(found: "FirstRunOverview", columns: int, now: datetime) -> Iterator[str]:
    """Yield the sessions found, those to be deleted soon, and the time that indexing takes."""
    since = f"; the oldest is from {format_date(found.oldest)}" if found.oldest else ""
    projects = format_count(found.projects, "project")
    yield from wrap(
        f"Found {format_count(found.sessions, 'session')} in {projects}, "
        f"{format_bytes(found.bytes)}{since}.",
        columns,
        "",
    )
    if found.expiring:
        yield from wrap(
            f"Claude Code deletes sessions {found.retention_days:g} days after their last change, "
            f"{found.expiring:,} of them within {SOON.days} days. Next to be deleted:",
            columns,
            "",
        )
        for each in found.next_expiring:
            yield _describe_expiring(each, columns, now)
        yield from wrap(
            "To keep them: recollect archive enable, or set a larger "
            f"{SETTING} in Claude Code's {SETTINGS_NAME}.",
            columns,
            "",
        )
    yield from wrap(
        f"The first search indexes everything, which takes {_show_seconds(found.index_seconds)}; "
        "later ones only what is new.",
        columns,
        "",
    )


def _describe_expiring(each: "ExpiringSession", columns: int, now: datetime) -> str:
    title = label_title(each.title, None)
    return clip(f"{_INDENT}{label_id(each.id)}  {format_deletion(each.at, now)}  {title}", columns)


def _show_seconds(seconds: float) -> str:
    if seconds < 1:
        return "less than a second"
    if seconds < 2 * _MINUTE:
        return f"about {format_count(round(seconds), 'second')}"
    return f"about {format_count(round(seconds / _MINUTE), 'minute')}"


def run(ctx: click.Context) -> int:
    """Open the picker or list the sessions, preceded by an overview the first time."""
    with list_command.make_context("list", [], parent=ctx) as inner:
        claude_dirs: tuple[Path, ...] = inner.params["claude_dirs"]
        is_first = not (find_data_directory() / INDEX_NAME).exists()
        if is_first:
            welcome(claude_dirs)
        if _is_at_terminal():
            return _pick(ctx, claude_dirs, is_first=is_first)
        code = list_command.invoke(inner)
    return code if isinstance(code, int) else 0


def _is_at_terminal() -> bool:
    """Return whether stdin and stdout are terminals, as a picker needs."""
    return sys.stdin.isatty() and is_terminal()


def _pick(ctx: click.Context, claude_dirs: tuple[Path, ...], *, is_first: bool) -> int:
    from recollect.cli.picker_screen import do_pick, make_picker, wait_for_enter  # 0.1 s
    from recollect.cli.picker_state import PickAction

    # The picker fills the screen and would hide the overview before it is read.
    typed = wait_for_enter() if is_first else ""
    with command_workspace(claude_dirs) as workspace:
        picker = make_picker(workspace)
        pick = picker.run(typed)
        # After reading a session, the picker has the same query and row.
        while pick is not None and pick.action is PickAction.SHOW:
            do_pick(ctx, pick)
            pick = picker.run()
    return do_pick(ctx, pick) if pick else 0


def welcome(claude_dirs: tuple[Path, ...]) -> None:
    """Print the overview to stderr; raise NothingFound if there are no sessions."""
    now = read_clock()
    with command_workspace(claude_dirs) as workspace:
        found = workspace.first_run_overview()
    lines = iter_overview(found, count_columns(), now)
    click.echo("\n".join([*lines, ""]), err=True)
