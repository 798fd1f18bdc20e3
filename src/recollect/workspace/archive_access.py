"""Sessions that Claude Code has deleted: read from the archive, or made of what is left of them."""

from collections.abc import Sequence
from pathlib import Path

from recollect.archive.archive_directory import find_archive_directory, has_archive
from recollect.archive.partial_sessions import update_partial_sessions
from recollect.errors import ArchiveFailure
from recollect.sources.source import list_mounts
from recollect.sources.stamps import find_stamp


def use_archive(roots: Sequence[Path], *, is_server: bool = False) -> str | None:
    """Read what is missing in Claude directories from the archive, if there is one.

    A server also sees one that is made later. Returns why the archive cannot be read: an encrypted
    one may be without its key here.
    """
    directory = find_archive_directory()
    # Only those who have an archive load what reads it.
    if is_server or has_archive(directory):
        from recollect.archive.archive import Archive
        from recollect.archive.archive_source import mount_archive

        archive = Archive(directory)
        try:
            archive.require_keys()
        except ArchiveFailure as error:
            return f"Deleted sessions are left out. {error}"
        mount_archive(archive, roots)
    return None


def add_partial_sessions(roots: Sequence[Path], data_directory: Path) -> tuple[Path, ...]:
    """Return these Claude directories, and directories with what is left of deleted sessions."""
    forgotten, archive = _list_forgotten(), find_stamp(str(find_archive_directory() / "snapshots"))
    mounted = list_mounts()
    found = (
        update_partial_sessions(
            root, data_directory, forgotten, archive if str(root.absolute()) in mounted else None
        )
        for root in roots
    )
    try:
        return (*roots, *(each for each in found if each))
    except OSError:
        # Whatever keeps our own files from being written is reported by those who need the index.
        return tuple(roots)


def _list_forgotten() -> tuple[str, ...]:
    """Return the sessions that were removed from the archive on purpose."""
    directory = find_archive_directory()
    if not has_archive(directory):
        return ()
    from recollect.archive.archive import Archive

    settings = Archive(directory).settings
    return settings.forgotten if settings else ()
