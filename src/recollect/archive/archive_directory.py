"""Where the archive is, and whether there is one: all that most commands have to know of it."""

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


def has_archive(directory: Path) -> bool:
    """Whether there is an archive in a directory."""
    return (directory / SETTINGS_NAME).is_file()
