"""Every question about sessions reads those that Claude Code has deleted from the archive."""

from collections.abc import Sequence
from pathlib import Path

from recollect.archive.archive_directory import find_archive_directory, has_archive
from recollect.errors import ArchiveFailure


def use_archive(roots: Sequence[Path]) -> str | None:
    """Read what is missing in Claude directories from the archive, if there is one.

    Returns why that is impossible: an encrypted archive may be without its key here.
    """
    directory = find_archive_directory()
    # Only those who have an archive load what reads it.
    if has_archive(directory):
        from recollect.archive.archive import Archive
        from recollect.archive.archive_source import mount_archive

        archive = Archive(directory)
        try:
            archive.require_keys()
        except ArchiveFailure as error:
            return f"Deleted sessions are left out. {error}"
        mount_archive(archive, roots)
    return None
