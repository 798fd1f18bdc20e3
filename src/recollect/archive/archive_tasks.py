"""The questions and tasks that surfaces have for the archive, answered with documents."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType

from msgspec import structs

from recollect.archive.archive import Archive, ArchiveSettings
from recollect.archive.archive_sync import count_changed, sync_archive
from recollect.archive.manifests import FileKind, FileVersion, encode_path, parse_taken
from recollect.archive.restoring import Target
from recollect.archive.session_copies import (
    ArchivedSession,
    count_stored,
    find_session,
    list_sessions,
    locate,
    restore_files,
)
from recollect.archive.verifying import remove_sessions, verify_archive
from recollect.documents.archive_reports import (
    ArchivedSessionRow,
    ArchiveList,
    ArchiveRemoval,
    ArchiveRestore,
    ArchiveStatus,
    ArchiveSync,
    ArchiveVerification,
    DamagedPart,
    WrittenFile,
)
from recollect.errors import NothingFound
from recollect.locations.project_names import decode_id

Watch = Callable[[int, int], None]


def set_enabled(archive: Archive, *, enabled: bool) -> None:
    """Record the user's consent, or its end; what is archived stays."""
    settings = archive.settings or ArchiveSettings(created=_show(datetime.now(UTC)))
    archive.save_settings(structs.replace(settings, is_enabled=enabled))


def describe_status(archive: Archive, roots: Iterable[Path]) -> ArchiveStatus:
    """Return the state of an archive, which need not exist."""
    stored, settings = archive.load(), archive.settings
    sessions, newest = list_sessions(stored), stored.newest().values()
    names = archive.list_manifests()
    return ArchiveStatus(
        path=str(archive.directory),
        is_enabled=archive.is_enabled,
        sessions=len(sessions),
        sessions_gone=sum(each.is_gone for each in sessions),
        files=len(newest),
        bytes=sum(each.size for each in newest),
        stored_bytes=sum(size for _, size in archive.objects.iter_names()),
        last_sync=_show(parse_taken(names[-1].taken)) if names else None,
        files_behind=count_changed(archive, roots),
        forgotten=len(settings.forgotten) if settings else 0,
        damaged_manifests=sorted(stored.damaged),
        recipients=list(settings.recipients) if settings else [],
        has_passphrase=archive.has_passphrase,
        is_rewriting=settings is not None and settings.is_rewriting,
    )


def run_sync(archive: Archive, roots: Iterable[Path], watch: Watch) -> ArchiveSync:
    """Copy what is new, and return what was done."""
    report = sync_archive(archive, roots, watch)
    return ArchiveSync(
        files=report.files,
        added=report.added,
        grown=report.grown,
        rewritten=report.rewritten,
        bytes_read=report.bytes_read,
        bytes_stored=report.bytes_stored,
        skipped=sorted(map(str, report.refused)),
        vanished=sorted(report.vanished),
        unreadable=report.unreadable,
    )


def describe_sessions(
    archive: Archive, activities: Mapping[str, float] = MappingProxyType({})
) -> ArchiveList:
    """Return all archived sessions, most recently active first.

    `activities` is when something last happened in a transcript, by path; without it, the time of
    the file has to do, which a copy may have changed.
    """
    sizes = dict(archive.objects.iter_names())
    rows = [
        ArchivedSessionRow(
            id=each.id,
            project=each.project,
            claude_dir=decode_id(each.root),
            files=len(each.files),
            bytes=each.size,
            stored_bytes=count_stored(each, sizes),
            modified=each.mtime_ns / 1e9,
            activity=_find_activity(each, activities),
            is_gone=each.is_gone,
        )
        for each in list_sessions(archive.load())
    ]
    return ArchiveList(sessions=sorted(rows, key=lambda row: (-row.activity, row.id)))


def _find_activity(session: ArchivedSession, activities: Mapping[str, float]) -> float:
    paths = [locate(file) for file in session.files if file.kind is FileKind.TRANSCRIPT]
    known = [activities[path] for path in paths if path in activities]
    return max(known, default=session.mtime_ns / 1e9)


def run_verification(archive: Archive, watch: Watch, *, deep: bool) -> ArchiveVerification:
    """Check everything, and return all damage."""
    found = verify_archive(archive, deep=deep, watch=watch)
    return ArchiveVerification(
        is_deep=deep,
        manifests=found.manifests,
        objects=found.objects,
        bytes=found.bytes,
        versions=found.versions,
        damaged=[DamagedPart(each.name, each.reason, list(each.files)) for each in found.damaged],
        unused=found.unused,
        unused_bytes=found.unused_bytes,
    )


def run_restore(
    archive: Archive, refs: Sequence[str], base: Path, *, keep_times: bool
) -> ArchiveRestore:
    """Restore sessions by id, or everything if none is named."""
    chosen, files = choose_files(archive, refs)
    targets = restore_files(archive, files, base, keep_times=keep_times)
    return ArchiveRestore(
        directory=str(base), sessions=[each.id for each in chosen], files=list_written(targets)
    )


def choose_files(
    archive: Archive, refs: Sequence[str]
) -> tuple[list[ArchivedSession], list[FileVersion]]:
    """Return sessions and their files by id, or everything if none is named."""
    stored = archive.load()
    sessions = list_sessions(stored)
    chosen = [find_session(sessions, ref) for ref in refs] or sessions
    files = [file for session in chosen for file in session.files]
    if not refs:
        files += [file for file in stored.newest().values() if file.session is None]
    if not files:
        raise NothingFound("The archive is empty. Run `recollect archive sync` first.")
    return chosen, files


def list_written(targets: Iterable[Target]) -> list[WrittenFile]:
    """Describe what became of each file."""
    return [WrittenFile(encode_path(each.parts), each.outcome.value) for each in targets]


def forget_session(archive: Archive, ref: str, *, dry_run: bool) -> ArchiveRemoval:
    """Remove a session for good, and do not archive it again.

    One that was removed before is removed again: what nothing needs may have been left if that was
    interrupted.
    """
    settings = archive.require_settings()
    sessions = list_sessions(archive.load())
    if removed := _find_removed(settings.forgotten, [each.id for each in sessions], ref):
        return structs.replace(_remove(archive, [], [], dry_run=dry_run), sessions=[removed])
    session = find_session(sessions, ref)
    if not dry_run:
        _exclude(archive, session)
    return _remove(archive, [session], [], dry_run=dry_run)


def _find_removed(forgotten: Sequence[str], archived: Sequence[str], ref: str) -> str | None:
    """Return the forgotten session that is meant, unless one that is archived is."""
    if ref in forgotten and ref not in archived:
        return ref
    matches = [each for each in forgotten if ref and each.startswith(ref)]
    is_archived = any(each.startswith(ref) for each in archived)
    return matches[0] if len(matches) == 1 and not is_archived else None


def allow_again(archive: Archive, session_id: str) -> None:
    """Archive a forgotten session again from the next sync on."""
    archive.require_settings()
    with archive.lock():
        settings = archive.require_settings()
        if session_id not in settings.forgotten:
            raise NothingFound(f"{session_id!r} is not the full id of a forgotten session.")
        kept = tuple(each for each in settings.forgotten if each != session_id)
        # To which of them a plan belonged is not known any more.
        archive.save_settings(structs.replace(settings, forgotten=kept, forgotten_plans=()))


def prune_archive(archive: Archive, before: datetime | None, *, dry_run: bool) -> ArchiveRemoval:
    """Remove sessions that were last active before a time, and what nothing needs.

    Those that are still in a Claude directory stay: the next sync would archive them again.
    """
    limit = before.timestamp() * 1e9 if before else 0
    matching = [each for each in list_sessions(archive.load()) if each.mtime_ns < limit]
    gone = [each for each in matching if each.is_gone]
    kept = [each.id for each in matching if not each.is_gone]
    return _remove(archive, gone, kept, dry_run=dry_run)


def _exclude(archive: Archive, session: ArchivedSession) -> None:
    plans = [each.path for each in session.files if each.kind is FileKind.PLAN]
    with archive.lock():
        settings = archive.settings or ArchiveSettings(created=_show(datetime.now(UTC)))
        archive.save_settings(
            structs.replace(
                settings,
                forgotten=tuple(sorted({*settings.forgotten, session.id})),
                forgotten_plans=tuple(sorted({*settings.forgotten_plans, *plans})),
            )
        )


def _remove(
    archive: Archive, sessions: Collection[ArchivedSession], kept: list[str], *, dry_run: bool
) -> ArchiveRemoval:
    archive.require_settings()
    wanted = {(each.root, each.id) for each in sessions}
    removal = remove_sessions(archive, wanted, dry_run=dry_run)
    return ArchiveRemoval(
        is_dry_run=dry_run,
        sessions=[each.id for each in sessions],
        kept=kept,
        versions=removal.versions,
        objects=removal.objects,
        bytes=removal.bytes,
    )


def _show(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")
