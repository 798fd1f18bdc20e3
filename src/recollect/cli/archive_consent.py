"""What the user agrees to before anything is archived: what will be deleted, copied and kept."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path

import click

from recollect.archive.archive import Archive
from recollect.archive.claude_files import list_claude_files
from recollect.archive.manifests import FileKind
from recollect.cli.archive_text import show_path
from recollect.cli.clock import read_clock
from recollect.cli.confirming import confirm
from recollect.cli.tables import count_columns, iter_table, wrap
from recollect.health.retention import (
    SETTING,
    SETTINGS_NAME,
    SOON,
    find_deletion_time,
    read_retention,
)
from recollect.quantities import format_bytes, format_count

ESTIMATED_RATIO = 4
"""Roughly how many times smaller sessions get; it was 4.6 times for generated ones."""


def ask_for_consent(archive: Archive, roots: Iterable[Path], *, yes: bool) -> None:
    """Say what would be kept and what would be deleted otherwise, and ask."""
    listed = {root: list_claude_files(root).found for root in roots}
    retentions = {root: read_retention(root) for root in listed}
    deletions = [
        find_deletion_time(file.stamp[2] / 1e9, retentions[root])
        for root, files in listed.items()
        for file in files
        if file.kind is FileKind.TRANSCRIPT
    ]
    days = min((each.days for each in retentions.values()), default=0)
    sizes = [file.stamp[1] for files in listed.values() for file in files]
    columns = count_columns()
    for line in (
        *iter_deletions(days, deletions, read_clock(), columns),
        *iter_consent(archive.directory, len(sizes), sum(sizes), columns),
    ):
        click.echo(line, err=True)
    confirm("Keep copies of your sessions?", yes=yes)


def iter_deletions(
    days: float, deletions: Sequence[datetime], now: datetime, columns: int
) -> Iterator[str]:
    """Yield what Claude Code will delete soon, and the setting that would change that."""
    soon = [each for each in deletions if each <= now + SOON]
    overdue = sum(each <= now for each in soon)
    count = (
        f" {format_count(len(soon), 'session')} will be deleted within {SOON.days} days"
        if soon
        else ""
    )
    due = f", {overdue:,} of them the next time it starts" if overdue else ""
    yield from wrap(
        f"Claude Code deletes sessions {days:g} days after their last change ({SETTING} in its "
        f"{SETTINGS_NAME}).{count}{due}{'.' if soon else ''}",
        columns,
        "",
    )


def iter_consent(path: Path, files: int, size: int, columns: int) -> Iterator[str]:
    """Yield what the user agrees to."""
    rows = [
        ("Where", show_path(path)),
        ("Now", f"{format_count(files, 'file')}, {format_bytes(size)}"),
        ("Space", f"about {format_bytes(size // ESTIMATED_RATIO)}, growing as you work"),
    ]
    yield "The archive keeps a copy of every session, with everything that belongs to it."
    yield from iter_table(rows, "<<", columns)
    yield from wrap(
        "When Claude Code deletes a session, the copy stays until you remove it with `recollect "
        "archive forget` or `prune`. Sessions contain whatever Claude has read, including "
        "passwords: only your user can read the copies, but they are not encrypted. `recollect "
        "archive encrypt` changes that.",
        columns,
        "",
    )
    yield from wrap("Nothing in the Claude directory is changed.", columns, "")
