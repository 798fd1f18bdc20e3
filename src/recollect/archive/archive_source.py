"""An overlay on a Claude directory: deleted files are read from the archive.

An `ArchiveSource` mounted at a Claude directory reads from disk, and adds files that are only in
the archive under their original names. Lists, searches and figures are therefore the same before
and after Claude Code deletes a session. Files on disk always take precedence.
"""

import io
import os
import stat
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from recollect.archive import archive_sync, archived_files, encryption, manifests, object_store
from recollect.archive.archive import Archive, KnownFile
from recollect.errors import UnreadableInput
from recollect.sources import source

_MISSING = (FileNotFoundError, NotADirectoryError)


def mount_archive(archive: Archive, roots: Iterable[Path]) -> None:
    """Read files missing from Claude directories from the archive, in this process.

    The archive may be created while the process runs.
    """
    for root in roots:
        for point in {str(root.absolute()), os.path.realpath(root)} - set(source.list_mounts()):
            source.mount(point, ArchiveSource(archive, point, archive_sync.identify_root(root)))


class ArchiveSource(source.DirectorySource):
    """A directory on disk, with archived files where files on disk are missing."""

    def __init__(self, archive: Archive, point: str, root: str) -> None:
        self._archive = archive
        self._point = point
        self._root = root
        self._listing = _Listing(None, {}, {})

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        """Pickle the arguments for another process, which reads the list and cannot prompt."""
        identities = self._archive.find_identities()
        return _open_source, (str(self._archive.directory), identities, self._point, self._root)

    def has_on_disk(self, name: str) -> bool:
        """Return whether there is an entry of this name on disk."""
        return os.path.lexists(name)

    def open(self, name: str) -> source.SourceFile:
        """Open the file on disk or, if it does not exist, the archived one."""
        try:
            return source.DIRECTORY.open(name)
        except _MISSING:
            found = self._find_listing().entries.get(name)
            if found is None or found.version is None:
                raise
            return _ArchivedFile(self._archive.objects, found.version, found.status)

    def find_status(self, name: str) -> os.stat_result:
        """Return the status of the entry on disk or, if it does not exist, of the archived one."""
        try:
            return source.DIRECTORY.find_status(name)
        except _MISSING:
            found = self._find_listing().entries.get(name)
            if found is None:
                raise
            return found.status

    def list_directory(self, name: str) -> list[source.Entry]:
        """Return the entries on disk, and those that exist only in the archive."""
        archived = self._find_listing().children.get(name, ())
        try:
            entries = source.DIRECTORY.list_directory(name)
        except _MISSING:
            if not archived:
                raise
            entries = []
        present = {entry.name for entry in entries}
        return [*entries, *(each for each in archived if each.name not in present)]

    def _find_listing(self) -> "_Listing":
        """Return the current state of the archive, which may change while a server runs."""
        stamp = self._archive.find_stamp()
        if stamp is None:
            return _Listing(None, {}, {})
        if self._listing.stamp != stamp:
            self._listing = self._read_listing(stamp)
        return self._listing

    def _read_listing(self, stamp: int) -> "_Listing":
        archive = self._archive.reopen()
        # Another manifest may give the directory the same mtime: then it is read again.
        reliable = None if source.is_racy(stamp) else stamp
        try:
            known = list(archive.load_known().values())
        except encryption.KeyMissing:
            # The archive was encrypted while this process runs; a missing key is reported at the
            # start of a process.
            known = []
        entries = self._make_entries(known)
        children: dict[str, list[_ArchivedEntry]] = {}
        for name, entry in entries.items():
            children.setdefault(os.path.dirname(name), []).append(entry)
        self._archive = archive
        return _Listing(reliable, entries, children)

    def _make_entries(self, known: Iterable[KnownFile]) -> dict[str, "_ArchivedEntry"]:
        """Return all archived files and their parent directories by name."""
        ours = [each for each in known if each.version.root == self._root]
        entries: dict[str, _ArchivedEntry] = {}
        for each in _drop_moved(ours, self._point):
            parts = manifests.decode_path(each.version.path)
            name = os.path.join(self._point, *parts)
            entries[name] = _ArchivedEntry(parts[-1], name, _make_status(each), each.version)
            for depth in range(len(parts) - 1, -1, -1):
                above = os.path.join(self._point, *parts[:depth]).rstrip(os.sep)
                if above in entries:
                    break
                entries[above] = _ArchivedEntry(
                    os.path.basename(above), above, _DIRECTORY_STATUS, None
                )
        return entries


def _open_source(directory: str, identities: Sequence[str], point: str, root: str) -> ArchiveSource:
    return ArchiveSource(Archive(Path(directory), identities), point, root)


class _Listing(NamedTuple):
    """A state of the archive: its files by name, and the entries of each directory."""

    stamp: int | None
    entries: dict[str, "_ArchivedEntry"]
    children: dict[str, list["_ArchivedEntry"]]


class _ArchivedEntry(NamedTuple):
    """An archived file, or one of its parent directories."""

    name: str
    path: str
    status: os.stat_result
    version: manifests.FileVersion | None

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        """Return whether it is a file; there are no links to follow."""
        return self.version is not None

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        """Return whether it is a directory."""
        return self.version is None

    def is_symlink(self) -> bool:
        """Return False: links are not archived."""
        return False

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        """Return the status that the file had."""
        return self.status


class _ArchivedFile(io.RawIOBase):
    """Reads an archived version from any offset; keeps one object in memory."""

    def __init__(
        self,
        objects: object_store.ObjectStore,
        version: manifests.FileVersion,
        status: os.stat_result,
    ) -> None:
        super().__init__()
        self._objects = objects
        self._version = version
        self._status = status
        self._position = 0
        self._name = ""
        self._content = b""

    def find_status(self) -> os.stat_result:
        """Return the status that the file had."""
        return self._status

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def tell(self) -> int:
        """Return the offset of the next read."""
        return self._position

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Move to an offset and return it."""
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._version.size}
        self._position = max(start[whence] + offset, 0)
        return self._position

    def readinto(self, buffer: bytearray | memoryview, /) -> int:  # type: ignore[override]
        """Fill the buffer from one piece, and return the number of bytes."""
        start = 0
        for piece in self._version.pieces:
            if start <= self._position < start + piece.length:
                skipped = self._position - start
                count = min(len(buffer), piece.length - skipped)
                offset = piece.offset + skipped
                part = self._load(piece.object)[offset : offset + count]
                if len(part) != count:
                    raise UnreadableInput(f"{self._version.path} is damaged in the archive.")
                buffer[:count] = part
                self._position += count
                return count
            start += piece.length
        return 0

    def _load(self, name: str) -> bytes:
        if name != self._name:
            self._content, self._name = self._objects.read(name), name
        return self._content


def _drop_moved(known: Sequence[KnownFile], point: str) -> list[KnownFile]:
    """Leave out files in a project directory if their session has moved to another one."""
    homes = {
        each.version.session: each.version.path.split("/")[1]
        for each in known
        if each.version.kind is manifests.FileKind.TRANSCRIPT
        and os.path.lexists(os.path.join(point, *manifests.decode_path(each.version.path)))
    }

    def is_stale(version: manifests.FileVersion) -> bool:
        tree, project = (*version.path.split("/"), "")[:2]
        return tree == "projects" and homes.get(version.session, project) != project

    return [each for each in known if not is_stale(each.version)]


def _make_status(known: KnownFile) -> os.stat_result:
    """Return the status that the file had, with the inode that the index may have recorded."""
    version, state = known.version, known.state
    seconds = version.mtime_ns // 10**9
    mode = stat.S_IFREG | archived_files.parse_mode(version.mode)
    values = (mode, state.inode, state.device, 1, 0, 0, version.size, seconds, seconds, seconds)
    return os.stat_result(values, {"st_mtime_ns": version.mtime_ns})


_DIRECTORY_STATUS = os.stat_result(
    (stat.S_IFDIR | stat.S_IRWXU, 0, 0, 1, 0, 0, 0, 0, 0, 0), {"st_mtime_ns": 0}
)
