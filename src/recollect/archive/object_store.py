"""Write-once objects, each a compressed block of bytes in a file named by its SHA-256. The only
module that uses zstd.

Up to 16 MB of one session are compressed at level 4 with long-distance matching, without a
dictionary. That was measured (docs/archive.md): within 1.4 times the size of `zstd -19` over
everything, at ten times the speed. A trained dictionary makes whole sessions larger, and losing it
would lose everything.

The name is the hash of the stored bytes, so `sha256sum` alone can check an object, and a single
flipped bit is noticed. Objects are written elsewhere, flushed and renamed, so they appear under
their names only when they are complete and on disk.
"""

import errno
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Final

from recollect.archive.encryption import PLAIN, Cipher
from recollect.atomic_files import open_atomic
from recollect.errors import ArchiveFailure, UnreadableInput
from recollect.sources.safe_files import open_file

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

LEVEL: Final = 4
WINDOW_LOG: Final = 24
"""A window of 16 MB, the maximum content of an object; `zstd -d` accepts up to 27 by default."""

_OPTIONS: Final[dict[int, int]] = {
    zstd.CompressionParameter.compression_level: LEVEL,
    zstd.CompressionParameter.enable_long_distance_matching: 1,
    zstd.CompressionParameter.window_log: WINDOW_LOG,
    zstd.CompressionParameter.checksum_flag: 1,
}
_MAX_WINDOW: Final[dict[int, int]] = {zstd.DecompressionParameter.window_log_max: 27}
_STEP: Final = 1 << 20


def compress(data: bytes | bytearray) -> bytes:
    """Return one zstd frame with the size and a checksum of its content."""
    return zstd.compress(data, options=_OPTIONS)


def compress_stream(parts: Iterable[bytes]) -> Iterator[bytes]:
    """Yield one zstd frame with all parts."""
    encoder = zstd.ZstdCompressor(options=_OPTIONS)
    for part in parts:
        if data := encoder.compress(part):
            yield data
    yield encoder.flush()


def decompress(stored: bytes, limit: int) -> bytes:
    """Return the content of a frame; raise UnreadableInput if it is damaged or exceeds `limit`.

    Never uses more memory than `limit`, even for a malicious frame.
    """
    decoder = zstd.ZstdDecompressor(options=_MAX_WINDOW)
    parts: list[bytes] = []
    total, data = 0, stored
    try:
        while not decoder.eof:
            part = decoder.decompress(data, _STEP)
            data = b""
            total += len(part)
            if total > limit:
                raise UnreadableInput(f"A compressed block is larger than {limit:,} bytes.")
            if not part and decoder.needs_input:
                raise UnreadableInput("A compressed block is truncated.")
            parts.append(part)
    except (zstd.ZstdError, EOFError) as error:
        raise UnreadableInput(f"A compressed block is damaged: {error}.") from error
    if decoder.unused_data:
        raise UnreadableInput("There is extra data after a compressed block.")
    return b"".join(parts)


def hash_bytes(data: bytes) -> str:
    """Return the SHA-256 as text."""
    return sha256(data).hexdigest()


class FrameReader:
    """Reads the content of consecutive frames, and never more at once than requested."""

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self._read = read
        self._decoder = zstd.ZstdDecompressor(options=_MAX_WINDOW)
        self._rest = b""
        self._content = b""
        self._is_inside = False

    def read_line(self, limit: int) -> bytes:
        """Return the bytes up to the first line break; raise UnreadableInput beyond `limit`."""
        line = bytearray()
        while True:
            part = self._take(min(_STEP, limit + 1 - len(line)))
            head, found, rest = part.partition(b"\n")
            line += head
            if found:
                self._content = rest + self._content
                return bytes(line)
            if not part or len(line) > limit:
                raise UnreadableInput(f"The first line is truncated or over {limit:,} bytes.")

    def iter_bytes(self, count: int) -> Iterator[bytes]:
        """Yield the next `count` bytes; raise UnreadableInput if there are fewer."""
        while count:
            part = self._take(min(_STEP, count))
            if not part:
                raise UnreadableInput("The file is truncated.")
            count -= len(part)
            yield part

    def require_end(self) -> None:
        """Raise UnreadableInput if anything follows."""
        if self._take(1):
            raise UnreadableInput("The file is longer than it should be.")

    def _take(self, limit: int) -> bytes:
        """Return up to `limit` bytes of content; nothing at the end."""
        while not self._content:
            if self._decoder.eof:
                self._rest, self._is_inside = self._decoder.unused_data, False
                self._decoder = zstd.ZstdDecompressor(options=_MAX_WINDOW)
            if self._decoder.needs_input and not self._rest:
                self._rest = self._read(_STEP)
                if not self._rest:
                    self._require_whole_frame()
                    return b""
            self._content = self._decode(limit)
            self._is_inside = True
        part, self._content = self._content[:limit], self._content[limit:]
        return part

    def _require_whole_frame(self) -> None:
        if self._is_inside:
            raise UnreadableInput("The file is truncated.")

    def _decode(self, limit: int) -> bytes:
        data, self._rest = self._rest, b""
        try:
            return self._decoder.decompress(data, limit)
        except zstd.ZstdError as error:
            raise UnreadableInput(f"A compressed block is damaged: {error}.") from error


MAX_CONTENT: Final = 16 * 2**20
"""Maximum number of bytes in an object."""

_SUFFIX: Final = ".zst"
_NAME: Final = re.compile("[0-9a-f]{64}")
_FULL: Final = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class ObjectStore:
    """The objects of an archive; also writes its other files."""

    def __init__(self, directory: Path, find_cipher: Callable[[], Cipher] = lambda: PLAIN) -> None:
        self._find_cipher = find_cipher
        self._objects = directory / "objects"
        self._temporary = directory / "tmp"
        self._touched: set[Path] = set()

    def put(self, content: bytes | bytearray) -> tuple[str, int]:
        """Store up to `MAX_CONTENT` bytes; return the name and the number of bytes written."""
        return self.put_compressed(compress(content))

    def put_compressed(self, data: bytes) -> tuple[str, int]:
        """Store content that is already compressed, encrypted if the archive is."""
        stored = self._find_cipher().seal(data)
        name = hash_bytes(stored)
        path = self._path(name)
        if _has_bytes(path, stored):
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
        """Write a file that only its owner can read; it appears complete or not at all."""
        with explain_failures(path):
            for directory in (self._temporary, path.parent):
                directory.mkdir(mode=0o700, exist_ok=True)
            with open_atomic(path, overwrite=True, temporary_directory=self._temporary) as file:
                file.write(data)

    def read(self, name: str) -> bytes:
        """Return the content of an object; raise UnreadableInput if it has changed."""
        return decompress(self.read_compressed(name), MAX_CONTENT)

    def read_compressed(self, name: str) -> bytes:
        """Return the decrypted content of an object, still compressed, after checking it."""
        stored = self.read_stored(name)
        if hash_bytes(stored) != name:
            raise UnreadableInput(
                f"The object {name} is damaged: its SHA-256 does not match its name."
            )
        return self._find_cipher().unseal(stored)

    def read_stored(self, name: str) -> bytes:
        """Return the bytes of an object as stored, unchecked."""
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
        """Delete leftovers of interrupted writes; only call this while holding the lock."""
        for path in self._temporary.glob("*"):
            path.unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        return self._objects / name[:2] / f"{name}{_SUFFIX}"


@contextmanager
def explain_failures(path: Path) -> Iterator[None]:
    """Turn an OSError into an error whose message says what to do."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise ArchiveFailure(
                f"No space left to write {path}. Everything written so far is intact: free some "
                "space and run the command again."
            ) from error
        raise ArchiveFailure(
            f"Cannot write {path}: {error.strerror}. Check the permissions of that directory."
        ) from error


def sync_directory(directory: Path) -> None:
    """Flush the entries of a directory, if the system supports that."""
    if os.name == "nt":
        return
    with explain_failures(directory):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _has_bytes(path: Path, stored: bytes) -> bool:
    """Return whether a file has this content; one that is damaged is written again."""
    try:
        return path.lstat().st_size == len(stored) and path.read_bytes() == stored
    except OSError:
        return False
