"""Update or rebuild the index, report its status, and check files, directories and index; and, for
front ends other than its commands, list the sessions that are not in the archive and archive them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from recollect.archive import has_archive
from recollect.errors import ArchiveFailure, NothingFound, RecollectError
from recollect.locations import Transcript
from recollect.store.data_directory import refuse_claude_directory
from recollect.workspace.resources import NoSessions

if TYPE_CHECKING:
    from recollect.documents.command_reports import TextStatus
    from recollect.documents.health_report import ArchiveReport, HealthReport
    from recollect.store import IndexStatus
    from recollect.workspace.workspace import Workspace


class SyncOptions(Struct, frozen=True, kw_only=True):
    """How to update the index."""

    rebuild: bool = False
    """Read all transcripts again."""
    texts: bool = False
    """Also update the full-text index."""


class IndexUpdate(Struct, frozen=True, kw_only=True):
    """The status of the index, and what was read to update it."""

    status: IndexStatus
    texts: TextStatus
    is_current: bool
    files_read: int = 0
    bytes_read: int = 0


def update_index(workspace: Workspace, options: SyncOptions | None) -> IndexUpdate:
    """Update the index if `options` are given, and return its status."""
    from recollect.search import ANALYZER_VERSION
    from recollect.store import find_index_status
    from recollect.sync import find_text_status, is_current

    directory, prices = workspace.data_directory, workspace.prices
    transcripts = workspace.find_transcripts()
    files_read, bytes_read = _sync(workspace, transcripts, options) if options else (0, 0)
    return IndexUpdate(
        status=find_index_status(directory),
        texts=find_text_status(directory, ANALYZER_VERSION, transcripts),
        is_current=is_current(directory, transcripts, prices=prices),
        files_read=files_read,
        bytes_read=bytes_read,
    )


def _sync(
    workspace: Workspace, transcripts: Sequence[Transcript], options: SyncOptions
) -> tuple[int, int]:
    """Update the index; return the number of files and bytes read."""
    from recollect.sync import SyncProgress, sync

    def show_progress(at: SyncProgress) -> None:
        workspace.count_files(at.files_done, at.files)

    report = sync(
        workspace.data_directory,
        transcripts,
        prices=workspace.prices,
        rebuild=options.rebuild,
        on_progress=show_progress,
    )
    if options.texts:
        from recollect.store import delete_texts
        from recollect.workspace.searching import update_text_index

        if options.rebuild:
            delete_texts(workspace.data_directory)
        update_text_index(workspace, transcripts)
    return report.files_read, report.bytes_read


def check_health(workspace: Workspace, paths: Sequence[Path]) -> HealthReport:
    """Read every file and report what is damaged or unknown.

    Without `paths` the Claude directories and the index are checked too.
    """
    from recollect.health.file_checks import check_files, list_inputs

    checked = paths or workspace.roots
    try:
        inputs = list_inputs(checked)
    except NothingFound as error:
        raise NoSessions(str(error)) from error
    if not inputs.sources and not inputs.refused:
        searched = "".join(f"\n  {path}" for path in checked)
        raise NoSessions(f"No transcripts found. Looked in:{searched}")
    report = check_files(workspace.track_files(inputs.sources), inputs.refused)
    return report if paths else add_local_checks(workspace, report)


def add_local_checks(workspace: Workspace, report: HealthReport) -> HealthReport:
    """Return a report with the checks of the Claude directories, the archive and the index."""
    from msgspec.structs import replace

    from recollect.health.root_checks import examine_index, examine_roots
    from recollect.store import SQLITE_VERSION

    # The index includes archived sessions; the checks before it only cover files on disk.
    examined = examine_roots(workspace.roots, workspace.now)
    archive = _examine_archive(workspace.roots)
    transcripts = workspace.find_transcripts()
    return replace(
        report,
        roots=examined,
        index=examine_index(workspace.data_directory, transcripts, workspace.prices),
        sqlite=SQLITE_VERSION,
        archive=archive,
    )


def _examine_archive(roots: Sequence[Path]) -> ArchiveReport:
    """Return a summary of the archive's state."""
    from recollect.archive import find_archive_directory, has_archive
    from recollect.documents.health_report import ArchiveReport
    from recollect.render.terminal import display_path

    directory = find_archive_directory()
    path = display_path(directory)
    if not has_archive(directory):
        return ArchiveReport(path=path, is_enabled=False)
    from recollect.archive.archive import Archive
    from recollect.archive.archive_tasks import describe_status

    try:
        status = describe_status(Archive(directory), roots)
    except ArchiveFailure as error:
        return ArchiveReport(path=path, is_enabled=True, problem=str(error))
    return ArchiveReport(
        path=path,
        is_enabled=status.is_enabled,
        sessions=status.sessions,
        sessions_gone=status.sessions_gone,
        files_behind=status.files_behind,
        last_sync=status.last_sync,
    )


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
