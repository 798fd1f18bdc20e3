"""Detect whether a file has grown, been rewritten, been replaced, or is gone.

A reader records the state of a file that it has read up to some position, and compares the file
with that state later: first with its entry in a directory listing (`FileState.is_current`), and if
that differs, with the open file: its first bytes and those before the known end (`find_growth`).
The bytes between are not read again, so if a file was changed there and also appended to, only the
append is noticed. Readers that can afford it compare a digest of everything.
"""

from enum import Enum, auto
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from recollect.sources.safe_files import open_file
from recollect.sources.source import UNTRUSTED, SourceFile, Stamp, is_racy, is_same

if TYPE_CHECKING:
    from recollect.digests import blake2b

EDGE: Final = 4096
"""Number of bytes to compare at the start, and before the known end."""

UNFINISHED: Final = -1
"""The recorded size of a file that was not read to its end."""

_CHUNK: Final = 1 << 20


class Growth(Enum):
    """What happened to a file since its state was recorded."""

    UNCHANGED = auto()
    APPENDED = auto()
    """It is longer, and both edges are the same."""
    RACY = auto()
    """Size, time and edges are the same, but the state was recorded too soon after a write."""
    TOUCHED = auto()
    """Its time is different, but its edges are the same and it is not longer."""
    REWRITTEN = auto()
    """An edge has changed, or it is shorter than the part that was read.
    """
    REPLACED = auto()
    """Another file has this name now."""


class FileState(Struct, frozen=True, gc=False, array_like=True):
    """The state of a file that was read up to `position`; by default, one that was never read."""

    position: int = 0
    """Where reading can continue, always the start of a line; 0 to start over."""
    device: int = 0
    """Recorded but never compared: it may change at every boot."""
    inode: int = 0
    """0 if directory listings do not include it (Windows)."""
    size: int = 0
    mtime_ns: int = UNTRUSTED
    head_hash: bytes = b""
    tail_hash: bytes = b""
    is_racy: bool = True
    """Whether it was read so soon after a write that another write could get the same time."""

    @property
    def stamp(self) -> Stamp:
        """Return the stamp that the file has in listings while it is unchanged."""
        return self.inode, self.size, UNTRUSTED if self.is_racy else self.mtime_ns

    def is_current(self, listed: Stamp) -> bool:
        """Return whether a file with this stamp in a listing is unchanged."""
        return is_same(self.stamp, listed)


def capture_state(file: SourceFile) -> FileState:
    """Return the state of an open file; call this before reading it."""
    status = file.find_status()
    return FileState(
        device=status.st_dev,
        inode=status.st_ino,
        size=status.st_size,
        mtime_ns=status.st_mtime_ns,
        is_racy=is_racy(status.st_mtime_ns),
    )


def record_state(file: SourceFile, seen: FileState, position: int) -> FileState:
    """Return the state of a file with the status `seen` that was read up to `position`."""
    return record_edges(seen, position, *_read_edges(file, position))


def record_edges(seen: FileState, position: int, head: bytes, tail: bytes) -> FileState:
    """Return the same, given the first bytes and those before `position`, `EDGE` at most."""
    return FileState(
        position,
        seen.device,
        seen.inode,
        seen.size,
        seen.mtime_ns,
        _hash(head),
        _hash(tail),
        seen.is_racy,
    )


def find_growth(file: SourceFile, known: FileState, seen: FileState) -> Growth:
    """Return what happened to an open file whose status is now `seen`."""
    if known.inode and seen.inode and known.inode != seen.inode:
        return Growth.REPLACED
    is_same = (known.size, known.mtime_ns) == (seen.size, seen.mtime_ns)
    if is_same and not known.is_racy:
        return Growth.UNCHANGED
    if not _has_same_edges(file, known, seen.size):
        return Growth.REWRITTEN
    if seen.size > known.size:
        return Growth.APPENDED
    return Growth.RACY if is_same else Growth.TOUCHED


def find_growth_of(name: str, known: FileState) -> Growth:
    """Return what happened to a file of this name; raises UnreadableInput if it cannot be read."""
    with open_file(name) as file:
        return find_growth(file, known, capture_state(file))


def read_before(file: SourceFile, position: int) -> bytes:
    """Return the bytes before `position`, `EDGE` at most."""
    file.seek(max(position - EDGE, 0))
    return file.read(min(EDGE, position))


def _has_same_edges(file: SourceFile, known: FileState, size: int) -> bool:
    if size < known.position:
        return False
    head, tail = _read_edges(file, known.position)
    return (_hash(head), _hash(tail)) == (known.head_hash, known.tail_hash)


def _read_edges(file: SourceFile, position: int) -> tuple[bytes, bytes]:
    return read_before(file, min(EDGE, position)), read_before(file, position)


def _hash(data: bytes) -> bytes:
    return new_digest(data).digest()


def new_digest(data: bytes = b"") -> "blake2b":
    """Return a digest of `data` that can be updated with what follows."""
    # For unchanged files only stamps are compared.
    from recollect.digests import blake2b

    return blake2b(data, digest_size=12)


def digest_start(file: SourceFile, length: int) -> bytes:
    """Return the digest of the first `length` bytes, for readers that compare all bytes."""
    digest = new_digest()
    file.seek(0)
    while length > 0 and (chunk := file.read(min(_CHUNK, length))):
        digest.update(chunk)
        length -= len(chunk)
    return digest.digest()
