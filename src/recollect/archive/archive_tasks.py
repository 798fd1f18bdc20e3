"""The archive operations of all front ends, which return documents: list, find, sync, restore,
verify, and export to a tar file, which every system can unpack.

The tar file is written entry by entry while the archive is read, so it may be larger than memory.
"""

import tarfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Final

from msgspec import Struct, structs

from recollect.archive import (
    archive_maintenance,
    archive_sync,
    archived_files,
    bundles,
    manifests,
    object_store,
)
from recollect.archive.archive import Archive, ArchiveSettings, Stored
from recollect.documents import archive_reports
from recollect.documents.session_listing import SessionListing
from recollect.errors import AmbiguousSession, Candidate, NothingFound
from recollect.locations.claude_directories import decode_id
from recollect.locations.place_names import read_place
from recollect.quantities import format_utc
from recollect.redact.quick_masks import mask_path
from recollect.sources.source import is_only_archived, is_present


class ArchivedSession(Struct, frozen=True, kw_only=True):
    """The newest versions of the files of one session."""

    id: str
    root: str
    project: str | None
    """The name of its project directory; None if its transcript was never archived."""
    files: tuple[manifests.FileVersion, ...]

    @property
    def size(self) -> int:
        """Return the size of all files in bytes."""
        return sum(file.size for file in self.files)

    @property
    def mtime_ns(self) -> int:
        """Return when the transcript, or any file if there is none, was last modified."""
        transcripts = [file for file in self.files if file.kind is manifests.FileKind.TRANSCRIPT]
        return max(file.mtime_ns for file in transcripts or self.files)

    @property
    def is_gone(self) -> bool:
        """Whether its transcript is no longer in the Claude directory."""
        places = [locate(file) for file in self.files if file.kind is manifests.FileKind.TRANSCRIPT]
        # In a directory with a mounted archive, deleted files appear to exist.
        return not any(is_present(each) and not is_only_archived(each) for each in places)


def locate(version: manifests.FileVersion) -> str:
    """Return the original path of an archived file."""
    return str(Path(decode_id(version.root)).joinpath(*manifests.decode_path(version.path)))


def list_sessions(stored: Stored) -> list[ArchivedSession]:
    """Return all archived sessions, most recently active first."""
    groups: dict[tuple[str, str], list[manifests.FileVersion]] = {}
    for version in stored.newest().values():
        if version.session is not None:
            groups.setdefault((version.root, version.session), []).append(version)
    sessions = [_describe(root, name, files) for (root, name), files in groups.items()]
    return sorted(sessions, key=lambda each: (-each.mtime_ns, each.id))


def find_session(sessions: Iterable[ArchivedSession], ref: str) -> ArchivedSession:
    """Return the session with this id or id prefix; `ref` may also refer to a part of it."""
    listed = list(sessions)
    names = [place.session for place in read_place(ref) if place.session]
    matches = [each for each in listed if each.id in names]
    matches = matches or [each for each in listed if each.id.startswith(tuple(names))]
    if not matches:
        raise NothingFound(
            f"No archived session has the id {ref!r}. `recollect archive list` shows all of them."
        )
    if len(matches) > 1:
        raise AmbiguousSession(
            ref, [Candidate(each.id, None, each.project, each.mtime_ns / 1e9) for each in matches]
        )
    return matches[0]


def count_stored(session: ArchivedSession, sizes: Mapping[str, int]) -> int:
    """Return the stored size of a session's objects."""
    return sum(sizes.get(name, 0) for name in set(manifests.iter_objects(session.files)))


def restore_files(
    archive: Archive, files: Sequence[manifests.FileVersion], base: Path, *, keep_times: bool = True
) -> list[archived_files.Target]:
    """Restore archived files to `base`; raise UsageError if different files exist there."""
    targets = [
        archived_files.find_target(
            base,
            archived_files.parse_archived(file.path),
            manifests.iter_checked(archive.objects, file),
        )
        for file in files
    ]
    archived_files.refuse_conflicts(targets)
    for file, target in zip(files, targets, strict=True):
        if target.outcome is archived_files.Outcome.RESTORED:
            content = manifests.iter_checked(archive.objects, file)
            archived_files.write_new(target.path, content, file, keep_time=keep_times)
    return targets


def _describe(root: str, name: str, files: list[manifests.FileVersion]) -> ArchivedSession:
    places = (file.path.split("/") for file in files if file.path.startswith("projects/"))
    project = next((parts[1] for parts in places), None)
    ordered = tuple(sorted(files, key=lambda file: file.path))
    return ArchivedSession(id=name, root=root, project=project, files=ordered)


OnProgress = Callable[[int, int], None]


def set_enabled(archive: Archive, *, enabled: bool) -> None:
    """Record or withdraw the user's consent; archived sessions are kept."""
    settings = archive.settings or ArchiveSettings(created=format_utc(datetime.now(UTC)))
    archive.save_settings(structs.replace(settings, is_enabled=enabled))


def describe_status(archive: Archive, roots: Iterable[Path]) -> archive_reports.ArchiveStatus:
    """Return the status of an archive, which need not exist."""
    stored, settings = archive.load(), archive.settings
    sessions, newest = list_sessions(stored), stored.newest().values()
    names = archive.list_manifests()
    return archive_reports.ArchiveStatus(
        path=str(archive.directory),
        is_enabled=archive.is_enabled,
        sessions=len(sessions),
        sessions_gone=sum(each.is_gone for each in sessions),
        files=len(newest),
        bytes=sum(each.size for each in newest),
        stored_bytes=sum(size for _, size in archive.objects.iter_names()),
        last_sync=format_utc(manifests.parse_taken(names[-1].taken)) if names else None,
        files_behind=archive_sync.count_changed(archive, roots),
        forgotten=len(settings.forgotten) if settings else 0,
        damaged_manifests=sorted(stored.damaged),
        recipients=list(settings.recipients) if settings else [],
        has_passphrase=archive.has_passphrase,
        is_rewriting=settings is not None and settings.is_rewriting,
    )


def run_sync(
    archive: Archive, roots: Iterable[Path], on_progress: OnProgress
) -> archive_reports.ArchiveSync:
    """Copy new and changed files, and return a report."""
    report = archive_sync.sync_archive(archive, roots, on_progress)
    return archive_reports.ArchiveSync(
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
    archive: Archive, listings: Mapping[str, SessionListing] = MappingProxyType({})
) -> archive_reports.ArchiveList:
    """Return all archived sessions, most recently active first.

    `listings` has the data of the index, by path of the transcript. Without it, the working
    directory of a session is missing, and its time is that of the file, which a copy may have
    changed.
    """
    sizes = dict(archive.objects.iter_names())
    rows = [
        _describe_row(each, count_stored(each, sizes), listings)
        for each in list_sessions(archive.load())
    ]
    return archive_reports.ArchiveList(
        sessions=sorted(rows, key=lambda row: (-row.activity, row.id))
    )


def _describe_row(
    session: ArchivedSession, stored_bytes: int, listings: Mapping[str, SessionListing]
) -> archive_reports.ArchivedSessionRow:
    paths = [locate(file) for file in session.files if file.kind is manifests.FileKind.TRANSCRIPT]
    known = [listings[path] for path in paths if path in listings]
    modified = session.mtime_ns / 1e9
    return archive_reports.ArchivedSessionRow(
        id=session.id,
        project=session.project and mask_path(session.project),
        cwd=next((each.cwd for each in known if each.cwd), None),
        claude_dir=decode_id(session.root),
        files=len(session.files),
        bytes=session.size,
        stored_bytes=stored_bytes,
        modified=modified,
        activity=max((each.activity for each in known), default=modified),
        is_gone=session.is_gone,
    )


def run_verification(
    archive: Archive, on_progress: OnProgress, *, deep: bool
) -> archive_reports.ArchiveVerification:
    """Check the whole archive, and return all damage."""
    found = archive_maintenance.verify_archive(archive, deep=deep, on_progress=on_progress)
    return archive_reports.ArchiveVerification(
        is_deep=deep,
        manifests=found.manifests,
        objects=found.objects,
        bytes=found.bytes,
        versions=found.versions,
        damaged=[
            archive_reports.DamagedPart(each.name, each.reason, list(each.files))
            for each in found.damaged
        ],
        unused=found.unused,
        unused_bytes=found.unused_bytes,
    )


def run_restore(
    archive: Archive, refs: Sequence[str], base: Path, *, keep_times: bool
) -> archive_reports.ArchiveRestore:
    """Restore sessions by id, or all if no id is given."""
    chosen, files = choose_files(archive, refs)
    targets = restore_files(archive, files, base, keep_times=keep_times)
    return archive_reports.ArchiveRestore(
        directory=str(base), sessions=[each.id for each in chosen], files=list_written(targets)
    )


def choose_files(
    archive: Archive, refs: Sequence[str]
) -> tuple[list[ArchivedSession], list[manifests.FileVersion]]:
    """Return sessions and their files by id, or all if no id is given."""
    stored = archive.load()
    sessions = list_sessions(stored)
    chosen = [find_session(sessions, ref) for ref in refs] or sessions
    files = [file for session in chosen for file in session.files]
    if not refs:
        files += [file for file in stored.newest().values() if file.session is None]
    if not files:
        raise NothingFound("The archive is empty. Run `recollect archive sync` first.")
    return chosen, files


def list_written(targets: Iterable[archived_files.Target]) -> list[archive_reports.WrittenFile]:
    """Return the result for each file."""
    return [
        archive_reports.WrittenFile(
            mask_path(manifests.encode_path(each.parts)), each.outcome.value
        )
        for each in targets
    ]


def forget_session(archive: Archive, ref: str, *, dry_run: bool) -> archive_reports.ArchiveRemoval:
    """Remove a session permanently, and do not archive it again.

    A session that was already forgotten is processed again: an interrupted removal may have left
    unused objects.
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
    """Return the forgotten session that `ref` refers to, unless it refers to an archived one."""
    if ref in forgotten and ref not in archived:
        return ref
    matches = [each for each in forgotten if ref and each.startswith(ref)]
    is_archived = any(each.startswith(ref) for each in archived)
    return matches[0] if len(matches) == 1 and not is_archived else None


def allow_again(archive: Archive, session_id: str) -> None:
    """Allow a forgotten session to be archived again by the next sync."""
    archive.require_settings()
    with archive.lock():
        settings = archive.require_settings()
        if session_id not in settings.forgotten:
            raise NothingFound(f"{session_id!r} is not the full id of a forgotten session.")
        kept = tuple(each for each in settings.forgotten if each != session_id)
        # The session of each plan is no longer known.
        archive.save_settings(structs.replace(settings, forgotten=kept, forgotten_plans=()))


def prune_archive(
    archive: Archive, before: datetime | None, *, dry_run: bool
) -> archive_reports.ArchiveRemoval:
    """Remove sessions that were last active before a time, and unused objects.

    Sessions that are still in a Claude directory are kept: the next sync would archive them again.
    """
    limit = before.timestamp() * 1e9 if before else 0
    matching = [each for each in list_sessions(archive.load()) if each.mtime_ns < limit]
    gone = [each for each in matching if each.is_gone]
    kept = [each.id for each in matching if not each.is_gone]
    return _remove(archive, gone, kept, dry_run=dry_run)


def _exclude(archive: Archive, session: ArchivedSession) -> None:
    plans = [each.path for each in session.files if each.kind is manifests.FileKind.PLAN]
    with archive.lock():
        settings = archive.settings or ArchiveSettings(created=format_utc(datetime.now(UTC)))
        archive.save_settings(
            structs.replace(
                settings,
                forgotten=tuple(sorted({*settings.forgotten, session.id})),
                forgotten_plans=tuple(sorted({*settings.forgotten_plans, *plans})),
            )
        )


def _remove(
    archive: Archive, sessions: Collection[ArchivedSession], kept: list[str], *, dry_run: bool
) -> archive_reports.ArchiveRemoval:
    archive.require_settings()
    wanted = {(each.root, each.id) for each in sessions}
    removal = archive_maintenance.remove_sessions(archive, wanted, dry_run=dry_run)
    return archive_reports.ArchiveRemoval(
        is_dry_run=dry_run,
        sessions=[each.id for each in sessions],
        kept=kept,
        versions=removal.versions,
        objects=removal.objects,
        bytes=removal.bytes,
    )


_PLAIN_SUFFIX: Final = ".tar"


def export_sessions(
    archive: Archive, refs: Sequence[str], output: Path, lock: bundles.FileLock = bundles.UNLOCKED
) -> archive_reports.ArchiveExport:
    """Write sessions by id, or all if no id is given, to a new tar file."""
    chosen, files = choose_files(archive, refs)
    content = iter_tar(archive.objects, files)
    is_plain = output.name.endswith(_PLAIN_SUFFIX)
    bundles.write_locked(
        output, content if is_plain else object_store.compress_stream(content), lock
    )
    return archive_reports.ArchiveExport(
        path=str(output),
        sessions=[each.id for each in chosen],
        files=len(files),
        bytes=sum(each.size for each in files),
        stored_bytes=output.stat().st_size,
        is_encrypted=lock != bundles.UNLOCKED,
    )


def iter_tar(
    objects: object_store.ObjectStore, files: Iterable[manifests.FileVersion]
) -> Iterator[bytes]:
    """Yield the bytes of a tar file in the pax format; every file is verified on the way."""
    for file in files:
        entry = tarfile.TarInfo("/".join(archived_files.parse_archived(file.path)))
        entry.size, entry.mode = file.size, archived_files.parse_mode(file.mode)
        seconds, rest = divmod(file.mtime_ns, 10**9)
        entry.pax_headers = {"mtime": f"{seconds}.{rest:09}"}
        yield entry.tobuf(tarfile.PAX_FORMAT, "utf-8", "surrogateescape")
        yield from manifests.iter_checked(objects, file)
        yield bytes(-file.size % tarfile.BLOCKSIZE)
    yield bytes(2 * tarfile.BLOCKSIZE)
