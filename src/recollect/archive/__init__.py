"""Copies of sessions that are kept when Claude Code deletes the originals.

Works on files and bytes only: copies, verifies and restores them unchanged. Does not interpret
records, and never writes to a Claude directory unless it is the target of a restore. The format is
described in docs/archive.md, so that a copy can be read without this program.
"""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from recollect.store.data_directory import find_data_directory, refuse_claude_directory

VARIABLE: Final = "RECOLLECT_ARCHIVE_DIR"
SETTINGS_NAME: Final = "archive.json"


def find_archive_directory(
    claude_directories: Iterable[Path] = (), environment: Mapping[str, str] = os.environ
) -> Path:
    """Return the archive's directory, which need not exist; never inside a Claude directory."""
    path = find_archive_in(None, environment)
    refuse_claude_directory(path, claude_directories)
    return path


def find_archive_in(
    data_directory: Path | None, environment: Mapping[str, str] = os.environ
) -> Path:
    """Return the archive of a data directory, unless the environment sets another one."""
    chosen = environment.get(VARIABLE)
    if chosen:
        return Path(chosen).absolute()
    return (data_directory or find_data_directory(environment)) / "archive"


def has_archive(directory: Path) -> bool:
    """Return whether a directory contains an archive."""
    return (directory / SETTINGS_NAME).is_file()
