"""Every question about sessions reads those that Claude Code has deleted from the archive."""

from collections.abc import Sequence
from pathlib import Path

from recollect.archive.archive_directory import find_archive_directory, has_archive


def use_archive(roots: Sequence[Path]) -> None:
    """Read what is missing in Claude directories from the archive, if there is one."""
    directory = find_archive_directory()
    # Only those who have an archive load what reads it.
    if has_archive(directory):
        from recollect.archive.archive import Archive
        from recollect.archive.archive_source import mount_archive

        mount_archive(Archive(directory), roots)
