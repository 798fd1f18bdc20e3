"""Single files that may be encrypted: bundles and exports, to be handed to others.

Written to recipients or with a passphrase in the age format, so `age -d` reads them too. With
recipients memory stays constant; what a passphrase locks is held in memory as a whole, since
pyrage has no other way.
"""

import io
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final, NamedTuple, Protocol

from recollect.archive.encryption import (
    MAGIC,
    KeyMissing,
    decrypt_stream,
    encrypt_stream,
    is_encrypted,
    lock_with_passphrase,
    needs_passphrase,
    unlock_with_passphrase,
)
from recollect.archive.keys import IDENTITY_VARIABLE, get_key_finder
from recollect.archive.restoring import write_private
from recollect.sources.safe_files import open_file

_CHUNK: Final = 1 << 20
_HEAD: Final = len(MAGIC) + 64


class FileLock(NamedTuple):
    """How a file is encrypted: to recipients, with a passphrase, or not at all."""

    recipients: tuple[str, ...] = ()
    passphrase: str | None = None


class ReadableFile(Protocol):
    """What reading a file takes."""

    def read(self, size: int = -1, /) -> bytes:
        """Return up to `size` bytes, all that are left by default."""

    def seek(self, offset: int, whence: int = 0, /) -> int:
        """Move to an offset and return it."""


UNLOCKED: Final = FileLock()


def write_locked(target: Path, content: Iterable[bytes], lock: FileLock = UNLOCKED) -> None:
    """Write a new file for its owner only, encrypted as `lock` says."""

    def write(file: IO[bytes]) -> None:
        if lock.passphrase is not None:
            file.write(lock_with_passphrase(b"".join(content), lock.passphrase))
        elif lock.recipients:
            encrypt_stream(io.BufferedReader(_Parts(content)), file, lock.recipients)
        else:
            file.writelines(content)

    write_private(target, write)


@contextmanager
def open_unlocked(path: Path, identity: Path | None = None) -> Iterator[ReadableFile]:
    """Open a file that may be encrypted; raise KeyMissing without the key for it.

    What is encrypted is decrypted into a file without a name, which nobody else can open and which
    is gone in the end: nothing may be believed before all of it has been checked.
    """
    with open_file(path, resolve=True) as file:
        head = file.read(_HEAD)
        file.seek(0)
        if not is_encrypted(head):
            yield file
            return
        with tempfile.TemporaryFile() as plain:
            if needs_passphrase(head):
                passphrase = get_key_finder().require_passphrase(f"Passphrase of {path}")
                plain.write(unlock_with_passphrase(file.read(), passphrase))
            else:
                decrypt_stream(_as_stream(file), plain, _find_identities(path, identity))
            plain.seek(0)
            yield plain


def count_bytes(file: ReadableFile) -> int:
    """Return the size of an open file, and go back to its start."""
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    return size


def _find_identities(path: Path, identity: Path | None) -> tuple[str, ...]:
    finder = get_key_finder()
    found = finder.read_identities(identity) if identity else finder.read_identity_file()
    if not found:
        raise KeyMissing(
            f"{path} is encrypted. Name your age identity file with --identity or "
            f"{IDENTITY_VARIABLE}."
        )
    return tuple(found)


def _as_stream(file: ReadableFile) -> IO[bytes]:
    return io.BufferedReader(_Parts(iter(lambda: file.read(_CHUNK), b"")))


class _Parts(io.RawIOBase):
    """Parts of a content as a file that can be read once."""

    def __init__(self, parts: Iterable[bytes]) -> None:
        super().__init__()
        self._parts = iter(parts)
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        """Yes."""
        return True

    def readinto(self, buffer: bytearray | memoryview, /) -> int:  # type: ignore[override]
        """Fill the buffer from the present part."""
        while not self._rest:
            part = next(self._parts, None)
            if part is None:
                return 0
            self._rest = memoryview(part)
        count = min(len(buffer), len(self._rest))
        buffer[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count
