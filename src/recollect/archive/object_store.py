"""Write-once objects, each a compressed block of bytes in a file named by its SHA-256.

A name is that of the stored bytes, so `sha256sum` alone can check an object, and a single flipped
bit anywhere in it is noticed. Objects appear under their names only when they are complete and on
disk: written elsewhere, flushed and renamed.
"""

import errno
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from recollect.archive.compressed import compress, decompress, hash_bytes
from recollect.archive.encryption import PLAIN, Cipher
from recollect.atomic_files import open_atomic
from recollect.errors import ArchiveFailure, UnreadableInput
from recollect.sources.safe_files import open_file

MAX_CONTENT: Final = 16 * 2**20
"""Bytes of content of an object."""

_SUFFIX: Final = ".zst"
_NAME: Final = re.compile("[0-9a-f]{64}")
_FULL: Final = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class ObjectStore:
    """The objects of an archive, and how its files are written."""

    def __init__(self, directory: Path, find_cipher: Callable[[], Cipher] = lambda: PLAIN) -> None:
        self._find_cipher = find_cipher
        self._objects = directory / "objects"
        self._temporary = directory / "tmp"
        self._touched: set[Path] = set()

    def put(self, content: bytes | bytearray) -> tuple[str, int]:
        """Store up to `MAX_CONTENT` bytes; return the name and the number of bytes written."""
        return self.put_compressed(compress(content))

    def put_compressed(self, data: bytes) -> tuple[str, int]:
        """Store content that is compressed already, encrypted if the archive is."""
        stored = self._find_cipher().seal(data)
        name = hash_bytes(stored)
        path = self._path(name)
        if _holds(path, stored):
            return name, 0
        self._touched.add(path.parent)
        self.write_file(path, stored)
        return name, len(stored)

    def flush(self) -> None:
        """Make sure that the names of all stored objects survive a power failure."""
        touched, self._touched = self._touched, set()
        for directory in (*touched, self._objects) if touched else ():
            sync_directory(directory)

    def write_file(self, path: Path, data: bytes) -> None:
        """Write a file that is either complete or not there, readable by its owner only."""
        with explain_failures(path):
            for directory in (self._temporary, path.parent):
                directory.mkdir(mode=0o700, exist_ok=True)
            with open_atomic(path, overwrite=True, temporary_directory=self._temporary) as file:
                file.write(data)

    def read(self, name: str) -> bytes:
        """Return the content of an object; raise UnreadableInput if a bit of it has changed."""
        return decompress(self.read_compressed(name), MAX_CONTENT)

    def read_compressed(self, name: str) -> bytes:
        """Return the content of an object as it was before it was encrypted, checked."""
        stored = self.read_stored(name)
        if hash_bytes(stored) != name:
            raise UnreadableInput(f"The object {name} is damaged: its SHA-256 is not its name.")
        return self._find_cipher().unseal(stored)

    def read_stored(self, name: str) -> bytes:
        """Return the bytes of an object as they are stored, unchecked."""
        if _NAME.fullmatch(name) is None:
            raise UnreadableInput(f"{name!r} is not the name of an object.")
        with open_file(self._path(name)) as file:
            return file.read()

    def iter_names(self) -> Iterator[tuple[str, int]]:
        """Yield the name and the stored size of each object."""
        for directory in sorted(self._objects.glob("??")):
            for path in sorted(directory.glob(f"*{_SUFFIX}")):
                yield path.name.removesuffix(_SUFFIX), path.lstat().st_size

    def remove(self, name: str) -> int:
        """Delete an object; return how many bytes that frees."""
        path = self._path(name)
        with explain_failures(path):
            size = path.lstat().st_size
            path.unlink()
        return size

    def remove_temporary_files(self) -> None:
        """Delete what interrupted writes have left; only for whoever holds the lock."""
        for path in self._temporary.glob("*"):
            path.unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        return self._objects / name[:2] / f"{name}{_SUFFIX}"


@contextmanager
def explain_failures(path: Path) -> Iterator[None]:
    """Turn an error of the system into a message that says what to do."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise ArchiveFailure(
                f"No space left to write {path}. What was written before is intact: free some "
                "space and run the command again."
            ) from error
        raise ArchiveFailure(
            f"Cannot write {path}: {error.strerror}. Check the permissions of that directory."
        ) from error


def sync_directory(directory: Path) -> None:
    """Flush the entries of a directory, where the system can do that."""
    if os.name == "nt":
        return
    with explain_failures(directory):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _holds(path: Path, stored: bytes) -> bool:
    """Whether a file has this content; one that is damaged is written again."""
    try:
        return path.lstat().st_size == len(stored) and path.read_bytes() == stored
    except OSError:
        return False
