"""Copy new and changed files of Claude directories to the archive.

Only appended bytes are stored: a version shares the pieces of the previous one up to the first
difference, followed by new pieces. All new bytes of a session are packed into objects together,
which compresses better than file by file and keeps sessions apart, so that one can be forgotten
without touching another. Nothing is removed from the archive when a file shrinks or is deleted.

A manifest is written after every `BATCH` of bytes, so an interrupted first sync can continue from
there.
"""

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import Final, NamedTuple

from msgspec import Struct, structs

from recollect.archive import manifests
from recollect.archive.archive import Archive, KnownFile
from recollect.archive.archived_files import ClaudeFile, list_claude_files
from recollect.errors import UnreadableInput
from recollect.locations import Refused
from recollect.locations.claude_directories import decode_id, encode_name
from recollect.sources import growth, safe_files, source
from recollect.store.data_directory import Lock

BATCH: Final = 256 * 2**20
"""Bytes to read before a manifest is written."""

_WORKERS: Final = 2
_CHUNK: Final = 1 << 20
_SLUG: Final = re.compile(rb'"slug":"([0-9A-Za-z_-]{1,200})"')

OnProgress = Callable[[int, int], None]
"""Called with the number of changed files that are done, and the number of all changed files."""


class SyncReport(Struct, kw_only=True):
    """The result of a sync."""

    files: int = 0
    """Number of files that were checked."""
    added: int = 0
    grown: int = 0
    rewritten: int = 0
    """Number of files changed other than by appending; the earlier version is kept too."""
    bytes_read: int = 0
    bytes_stored: int = 0
    vanished: list[str] = []
    """Files that were deleted before they could be copied, and were never archived."""
    unreadable: dict[str, str] = {}
    refused: list[Refused] = []

    @property
    def is_complete(self) -> bool:
        """Whether all files that should be archived now are."""
        return not (self.vanished or self.unreadable)


class _Changed(NamedTuple):
    file: ClaudeFile
    root: str
    session: str | None


class _Copied(NamedTuple):
    """A version whose last pieces may not be stored yet."""

    version: manifests.FileVersion
    pending: list[manifests.PendingPiece]
    state: growth.FileState
    slug: str | None


def identify_root(root: Path) -> str:
    """Return the name of a Claude directory in manifests: its real path as text."""
    return encode_name(os.path.realpath(root))


def sync_archive(
    archive: Archive, roots: Iterable[Path], on_progress: OnProgress = lambda _done, _count: None
) -> SyncReport:
    """Copy everything that is new or has changed; raise UsageError if archiving is off."""
    archive.require_enabled()
    with archive.lock() as lock, ThreadPoolExecutor(_WORKERS) as pool:
        run = _Run(archive, manifests.Packer(archive.objects, pool), lock)
        changed = [each for root in roots for each in run.list_changed(root)]
        run.copy_all(changed, on_progress)
        return run.report


def count_changed(archive: Archive, roots: Iterable[Path]) -> int:
    """Return how many files a sync would copy; needs no write access."""
    settings = archive.settings
    if settings is None:
        return 0
    known, forgotten = archive.load_known(), {*settings.forgotten, *settings.forgotten_plans}
    return sum(
        forgotten.isdisjoint((_read_session(each), each.path))
        for root in roots
        for each in iter_changed(known, identify_root(root), list_claude_files(root).found)
    )


def find_unarchived(archive: Archive, roots: Iterable[Path], paths: Iterable[str]) -> set[str]:
    """Return those of `paths`, files in the Claude directories, that are new or have changed."""
    known = archive.load_known()
    names = {root: identify_root(root) for root in roots}

    def is_archived(path: Path, stamp: source.Stamp) -> bool:
        keys = (
            (name, manifests.encode_path(path.relative_to(root).parts))
            for root, name in names.items()
            if path.is_relative_to(root)
        )
        return any(known[key].state.is_current(stamp) for key in keys if key in known)

    stamps = {path: source.find_stamp(path) for path in paths}
    return {
        path for path, stamp in stamps.items() if not (stamp and is_archived(Path(path), stamp))
    }


def iter_changed(
    known: Mapping[tuple[str, str], KnownFile], root: str, files: Iterable[ClaudeFile]
) -> Iterator[ClaudeFile]:
    """Yield the files whose current state is not archived."""
    for file in files:
        found = known.get((root, file.path))
        if found is None or not found.state.is_current(file.stamp):
            yield file


def _read_session(file: ClaudeFile) -> str | None:
    """Return the session of a file; old clients store subagents beside transcripts of sessions."""
    if file.session is None and file.kind is manifests.FileKind.SUBAGENT:
        # Loads the full reader, for such files only.
        from recollect.library.transcript_ends import find_session_id

        return find_session_id(Path(file.file))
    return file.session


class _Run:
    """A run of the sync."""

    def __init__(self, archive: Archive, packer: manifests.Packer, lock: Lock) -> None:
        self.report = SyncReport()
        self._archive = archive
        self._packer = packer
        self._lock = lock
        settings = archive.require_enabled()
        self._forgotten = frozenset((*settings.forgotten, *settings.forgotten_plans))
        self._known = archive.load_known()
        self._copied: list[_Copied] = []
        self._batch = 0

    def list_changed(self, root: Path) -> list[_Changed]:
        """Return the files of a Claude directory whose current state is not archived."""
        name, listing = identify_root(root), list_claude_files(root)
        self.report.files += len(listing.found)
        self.report.refused += listing.refused
        changed = [
            _Changed(each, name, self._find_session(name, each))
            for each in iter_changed(self._known, name, listing.found)
        ]
        # Plans come last, because the session's transcript names its plan.
        changed.sort(
            key=lambda each: (each.file.kind is manifests.FileKind.PLAN, each.session or "")
        )
        return [each for each in changed if not self._is_forgotten(each)]

    def copy_all(self, changed: Sequence[_Changed], on_progress: OnProgress) -> None:
        """Store the files, session by session."""
        done = 0
        for _, group in groupby(changed, key=_choose_object):
            for each in group:
                self._copy(each)
                done += 1
                on_progress(done, len(changed))
            self._packer.end_object()
            if self._batch >= BATCH:
                self._commit()
        self._commit()

    def _is_forgotten(self, changed: _Changed) -> bool:
        return not self._forgotten.isdisjoint((changed.session, changed.file.path))

    def _find_session(self, root: str, file: ClaudeFile) -> str | None:
        if file.session is not None or file.kind is manifests.FileKind.HISTORY:
            return file.session
        known = self._known.get((root, file.path))
        if known is not None and known.version.session is not None:
            return known.version.session
        return _read_session(file)

    def _copy(self, changed: _Changed) -> None:
        """Copy one file, or record why that failed."""
        file = changed.file
        known = self._known.get((changed.root, file.path))
        try:
            with safe_files.open_file(file.file) as opened:
                seen = growth.capture_state(opened)
                if (
                    known
                    and growth.find_growth(opened, known.state, seen) is growth.Growth.UNCHANGED
                ):
                    return
                copied = self._read(opened, seen, changed, known)
        except (UnreadableInput, OSError) as error:
            self._note_failure(file, known, error)
            return
        self._batch += seen.size
        self._copied.append(copied)

    def _note_failure(self, file: ClaudeFile, known: KnownFile | None, error: Exception) -> None:
        if source.is_present(file.file):
            self.report.unreadable[file.path] = str(error)
        elif known is None and file.stamp[1]:
            self.report.vanished.append(file.path)

    def _read(
        self,
        file: source.SourceFile,
        seen: growth.FileState,
        changed: _Changed,
        known: KnownFile | None,
    ) -> _Copied:
        version = known.version if known else None
        shared = self._count_known(file, seen.size, version) if version else 0
        digest, pending, slug = (
            sha256(),
            list[manifests.PendingPiece](),
            known.slug if known else None,
        )
        for start, chunk in _iter_chunks(file, seen.size):
            self._lock.signal_progress()
            digest.update(chunk)
            if slug is None and changed.file.kind is manifests.FileKind.TRANSCRIPT:
                slug = _find_slug(chunk)
            if start + len(chunk) > shared:
                pending += self._packer.add(chunk[max(shared - start, 0) :])
        size = file.tell()
        self.report.bytes_read += size
        return _Copied(
            manifests.FileVersion(
                root=changed.root,
                path=changed.file.path,
                session=changed.session or self._find_plan_owner(changed),
                kind=changed.file.kind,
                size=size,
                mtime_ns=seen.mtime_ns,
                mode=f"{stat.S_IMODE(file.find_status().st_mode):o}",
                sha256=digest.hexdigest(),
                pieces=_cut(version.pieces if version else (), min(shared, size)),
            ),
            pending,
            growth.record_state(file, seen, size),
            slug,
        )

    def _count_known(
        self, file: source.SourceFile, size: int, version: manifests.FileVersion
    ) -> int:
        """Return how many bytes at the start of the file are already archived."""
        if version.size <= size:
            digest = sha256()
            for _, chunk in _iter_chunks(file, version.size):
                digest.update(chunk)
            if digest.hexdigest() == version.sha256:
                return version.size
        return manifests.count_shared(self._archive.objects, version, file)

    def _find_plan_owner(self, changed: _Changed) -> str | None:
        if changed.file.kind is not manifests.FileKind.PLAN:
            return None
        slug = decode_id(changed.file.path.rpartition("/")[2]).removesuffix(".md")
        copied = ((each.slug, each.version.session) for each in self._copied)
        known = ((each.slug, each.version.session) for each in self._known.values())
        return next((session for name, session in (*copied, *known) if name == slug), None)

    def _commit(self) -> None:
        """Wait for the objects of all copied files, then list the files in a manifest."""
        self._packer.end_object()
        fresh: list[manifests.FileVersion] = []
        for copied in self._copied:
            added = manifests.join_pieces(each.resolve() for each in copied.pending)
            version = structs.replace(copied.version, pieces=copied.version.pieces + added)
            known = self._known.get(version.key)
            if known is None or known.version != version:
                fresh.append(version)
                self._count(version, known)
            self._known[version.key] = KnownFile(
                version=version, state=copied.state, slug=copied.slug
            )
        self.report.bytes_stored += self._packer.take_written()
        if fresh:
            self._archive.add_manifest(fresh)
        if self._copied:
            self._archive.save_known(self._known.values())
        self._copied, self._batch = [], 0

    def _count(self, version: manifests.FileVersion, known: KnownFile | None) -> None:
        if known is None:
            self.report.added += 1
        elif version.pieces[: len(known.version.pieces)] == known.version.pieces:
            self.report.grown += version.size > known.version.size
        else:
            self.report.rewritten += 1


def _choose_object(changed: _Changed) -> tuple[str, str | None, str]:
    """Return a key that is equal for files that may share objects: those of one session.

    The session of a plan becomes known only when it is copied, so each plan has its own objects.
    """
    file = changed.file
    return changed.root, changed.session, file.path if file.kind is manifests.FileKind.PLAN else ""


def _iter_chunks(file: source.SourceFile, size: int) -> Iterator[tuple[int, bytes]]:
    """Yield the first `size` bytes with their offsets; fewer if the file has shrunk meanwhile."""
    file.seek(0)
    start = 0
    while start < size and (chunk := file.read(min(_CHUNK, size - start))):
        yield start, chunk
        start += len(chunk)


def _find_slug(chunk: bytes) -> str | None:
    found = _SLUG.search(chunk)
    return found[1].decode() if found else None


def _cut(pieces: Sequence[manifests.Piece], length: int) -> tuple[manifests.Piece, ...]:
    """Return the pieces of the first `length` bytes."""
    kept: list[manifests.Piece] = []
    for piece in pieces:
        if length <= 0:
            break
        kept.append(structs.replace(piece, length=min(piece.length, length)))
        length -= piece.length
    return tuple(kept)
