"""The archive that the commands about it work on."""

from collections.abc import Iterable
from pathlib import Path

import click

from recollect.archive.archive import Archive
from recollect.archive.archive_directory import find_archive_directory
from recollect.cli.archive_keys import use_configured_keys
from recollect.cli.json_output import format_document
from recollect.errors import NothingFound


def open_archive(roots: Iterable[Path]) -> Archive:
    """Return the archive, which need not exist."""
    use_configured_keys()
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
    """Print a document for a program, or lines for a person."""
    click.echo(format_document(document) if as_json else "\n".join(lines))
