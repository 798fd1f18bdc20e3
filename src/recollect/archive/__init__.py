"""Copies of sessions that stay when Claude Code deletes the originals.

Knows files and bytes: copies them, checks them and gives them back unchanged. Refuses to know what
a record means, and never writes below a Claude directory unless a restore names that directory.
The format is described in docs/archive.md, so that a copy can be read without this program.
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
    """Return the directory of the archive, which need not exist; never below a Claude directory."""
    chosen = environment.get(VARIABLE)
    path = Path(chosen).absolute() if chosen else find_data_directory(environment) / "archive"
    refuse_claude_directory(path, claude_directories)
    return path


def has_archive(directory: Path | None = None) -> bool:
    """Whether there is an archive in a directory, by default in the one that is configured."""
    return ((directory or find_archive_directory()) / SETTINGS_NAME).is_file()
