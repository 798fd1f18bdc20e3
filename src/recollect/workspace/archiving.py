"""The archive for front ends other than its commands: list the sessions that are not in it yet, and
archive everything.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from recollect.archive import has_archive
from recollect.errors import RecollectError
from recollect.store.data_directory import refuse_claude_directory

if TYPE_CHECKING:
    from recollect.archive.archive import Archive
    from recollect.documents.archive_reports import ArchiveSync
    from recollect.documents.session_listing import SessionListing
    from recollect.workspace.workspace import Workspace


def can_archive(workspace: Workspace) -> bool:
    """Return whether the user has turned on the archive, and it can be read."""
    try:
        return has_archive(workspace.archive_directory) and _open(workspace).is_enabled
    except (RecollectError, OSError):
        return False


def list_unarchived(
    workspace: Workspace, listings: Iterable[SessionListing]
) -> list[SessionListing]:
    """Return the sessions whose current transcripts are not archived.

    All of them, if the archive cannot be read.
    """
    listed = list(listings)
    if not listed or not has_archive(workspace.archive_directory):
        return listed
    from recollect.archive.archive_sync import find_unarchived

    paths = [each.path for each in listed]
    try:
        missing = find_unarchived(_open(workspace), workspace.roots, paths)
    except (RecollectError, OSError):
        return listed
    return [each for each in listed if each.path in missing]


def archive_all(workspace: Workspace) -> ArchiveSync:
    """Copy everything that is new or has changed; raise UsageError if the archive is off."""
    from recollect.archive.archive_tasks import run_sync

    refuse_claude_directory(workspace.archive_directory, workspace.roots)
    return run_sync(_open(workspace), workspace.roots, lambda _done, _count: None)


def _open(workspace: Workspace) -> Archive:
    from recollect.archive.archive import Archive

    if workspace.unlock_archive is not None:
        workspace.unlock_archive()
    return Archive(workspace.archive_directory)
