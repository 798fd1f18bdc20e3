"""Archived sessions as one tar file, which every system can unpack without Recollect.

The tar is written entry by entry while the archive is read, so its size does not matter.
"""

import tarfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from recollect.archive.archive import Archive
from recollect.archive.archive_tasks import choose_files
from recollect.archive.compressed import compress_stream
from recollect.archive.locked_files import UNLOCKED, FileLock, write_locked
from recollect.archive.manifests import FileVersion
from recollect.archive.object_store import ObjectStore
from recollect.archive.reading import iter_checked
from recollect.archive.restoring import parse_archived, parse_mode
from recollect.documents.archive_reports import ArchiveExport

_PLAIN_SUFFIX: Final = ".tar"


def export_sessions(
    archive: Archive, refs: Sequence[str], output: Path, lock: FileLock = UNLOCKED
) -> ArchiveExport:
    """Write sessions by id, or everything if none is named, to a new tar file."""
    chosen, files = choose_files(archive, refs)
    content = iter_tar(archive.objects, files)
    is_plain = output.name.endswith(_PLAIN_SUFFIX)
    write_locked(output, content if is_plain else compress_stream(content), lock)
    return ArchiveExport(
        path=str(output),
        sessions=[each.id for each in chosen],
        files=len(files),
        bytes=sum(each.size for each in files),
        stored_bytes=output.stat().st_size,
        is_encrypted=lock != UNLOCKED,
    )


def iter_tar(objects: ObjectStore, files: Iterable[FileVersion]) -> Iterator[bytes]:
    """Yield the bytes of a tar in the pax format, with every file checked on the way."""
    for file in files:
        entry = tarfile.TarInfo("/".join(parse_archived(file.path)))
        entry.size, entry.mode = file.size, parse_mode(file.mode)
        seconds, rest = divmod(file.mtime_ns, 10**9)
        entry.pax_headers = {"mtime": f"{seconds}.{rest:09}"}
        yield entry.tobuf(tarfile.PAX_FORMAT, "utf-8", "surrogateescape")
        yield from iter_checked(objects, file)
        yield bytes(-file.size % tarfile.BLOCKSIZE)
    yield bytes(2 * tarfile.BLOCKSIZE)
