"""Read and write the manifests of the archive, which list the files of a sync and the objects that
store their bytes; pack bytes into objects, and read files back from them.

A manifest is a list of JSON lines, compressed, and named by its time and its own SHA-256. Each line
about a file is self-contained: that file can be restored even if all other manifests are lost.
Earlier versions stay listed in earlier manifests, so nothing is ever overwritten.

Compressing, hashing and flushing to disk all release the GIL, so threads use all cores. Only a few
objects are held in memory: adding another one waits for the oldest.

Every object is checked against its name before it is used. The whole content has its own SHA-256,
which is checked by a restore and by `verify --deep`.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor, Future
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from hashlib import sha256
from typing import Final, NamedTuple

import msgspec

from recollect.archive import object_store
from recollect.errors import UnreadableInput
from recollect.locations.claude_directories import decode_id, encode_name
from recollect.sources.source import SourceFile

FORMAT: Final = "recollect-archive/1"
SUFFIX: Final = ".jsonl.zst"
MAX_MANIFEST: Final = 1 << 30
"""Maximum size of a decompressed manifest: about two million files."""

_NAME: Final = re.compile(r"(\d{8}T\d{6}\.\d{6}Z)-([0-9a-f]{64})\.jsonl\.zst")
_TIME: Final = "%Y%m%dT%H%M%S.%fZ"


class FileKind(StrEnum):
    """The kind of a copied file."""

    TRANSCRIPT = "transcript"
    SUBAGENT = "subagent"
    SIDECAR = "sidecar"
    """A file in the directory of a session: tool results, workflows, metadata of subagents."""
    TODO = "todo"
    TASK = "task"
    PLAN = "plan"
    FILE_HISTORY = "file-history"
    HISTORY = "history"


class Piece(msgspec.Struct, frozen=True):
    """A range of the content of an object."""

    object: str
    """SHA-256 of the stored, compressed object, which is also its file name."""
    offset: int
    length: int


class FileVersion(msgspec.Struct, frozen=True, kw_only=True):
    """A file at one point in time; its content is the content of its pieces, joined."""

    root: str
    """The Claude directory; in `root` and `path`, `%` and unprintable characters are
    percent-encoded."""
    path: str
    """The path relative to the Claude directory, with slashes."""
    session: str | None
    kind: FileKind
    size: int
    mtime_ns: int
    mode: str
    """The permissions in octal, such as `600`."""
    sha256: str
    """The hash of the whole content."""
    pieces: tuple[Piece, ...]

    @property
    def key(self) -> tuple[str, str]:
        """Identifies the file among all versions of all files."""
        return self.root, self.path


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """The first line of a manifest."""

    format: str = FORMAT
    taken: str
    files: int


class ManifestName(NamedTuple):
    """The components of a manifest's file name, which sorts by time."""

    taken: str
    sha256: str

    def __str__(self) -> str:
        return f"{self.taken}-{self.sha256}{SUFFIX}"


class DamagedManifest(UnreadableInput):
    """A manifest that does not match its name, or is not a manifest."""


def encode_manifest(taken: str, versions: Iterable[FileVersion]) -> bytes:
    """Return the bytes of a manifest, compressed."""
    listed = tuple(versions)
    header = Header(taken=taken, files=len(listed))
    lines = [msgspec.json.encode(each) for each in (header, *listed)]
    return object_store.compress(b"\n".join([*lines, b""]))


def check_manifest(name: ManifestName, stored: bytes) -> bytes:
    """Return the stored bytes; raise DamagedManifest if they have changed."""
    if object_store.hash_bytes(stored) != name.sha256:
        raise DamagedManifest(
            f"The manifest {name} is damaged: its SHA-256 does not match its name."
        )
    return stored


def decode_manifest(name: ManifestName, data: bytes) -> tuple[FileVersion, ...]:
    """Return the files of a manifest; raise UnreadableInput if it is invalid."""
    return _decode(name, object_store.decompress(data, MAX_MANIFEST))


def _decode(name: ManifestName, data: bytes) -> tuple[FileVersion, ...]:
    first, _, rest = data.partition(b"\n")
    try:
        header = msgspec.json.decode(first, type=Header)
        if header.format != FORMAT:
            raise DamagedManifest(
                f"The manifest {name} has the format {header.format!r}, which this version of "
                "Recollect cannot read. Install a newer one."
            )
        return tuple(_DECODER.decode_lines(rest))
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise DamagedManifest(f"The manifest {name} is not a manifest: {error}") from error


def parse_manifest_name(name: str) -> ManifestName | None:
    """Return the components of a manifest's file name; None if it is not one."""
    found = _NAME.fullmatch(name)
    return ManifestName(*found.groups()) if found else None


def make_time(now: datetime, last: str | None) -> str:
    """Return a time for a new manifest, later than the last one even if the clock was set back."""
    text = now.astimezone(UTC).strftime(_TIME)
    if last is None or text > last:
        return text
    return (parse_taken(last) + timedelta(microseconds=1)).strftime(_TIME)


def parse_taken(taken: str) -> datetime:
    """Return the time in the name of a manifest."""
    return datetime.strptime(taken, _TIME).replace(tzinfo=UTC)


def encode_path(parts: Iterable[str]) -> str:
    """Return the path in a manifest for names on disk, which may contain any bytes."""
    return "/".join(map(encode_name, parts))


def decode_path(path: str) -> tuple[str, ...]:
    """Return the names on disk for a path in a manifest; they are not checked."""
    return tuple(map(decode_id, path.split("/")))


def iter_objects(versions: Iterable[FileVersion]) -> Iterator[str]:
    """Yield the objects that these versions need, possibly with repetitions."""
    return (piece.object for version in versions for piece in version.pieces)


_DECODER: Final = msgspec.json.Decoder(FileVersion)


_MAX_PENDING: Final = 4


class _Slot:
    """An object that is being filled, or has been passed to a worker."""

    def __init__(self) -> None:
        self.content = bytearray()
        self.stored: Future[tuple[str, int]] | None = None


class PendingPiece(NamedTuple):
    """A piece of an object that may not be stored yet."""

    slot: _Slot
    offset: int
    length: int

    def resolve(self) -> Piece:
        """Wait until the object is stored; raise the error if that failed."""
        if self.slot.stored is None:
            raise RuntimeError("end_object was not called")
        return Piece(self.slot.stored.result()[0], self.offset, self.length)


class Packer:
    """Fills objects one after the other."""

    def __init__(self, objects: object_store.ObjectStore, pool: Executor) -> None:
        self._objects = objects
        self._pool = pool
        self._slot = _Slot()
        self._waiting: deque[Future[tuple[str, int]]] = deque()
        self._written = 0

    def add(self, data: bytes) -> list[PendingPiece]:
        """Append bytes; return the pieces that will contain them, in order."""
        pieces: list[PendingPiece] = []
        while data:
            slot = self._slot
            part = data[: object_store.MAX_CONTENT - len(slot.content)]
            pieces.append(PendingPiece(slot, len(slot.content), len(part)))
            slot.content += part
            data = data[len(part) :]
            if len(slot.content) == object_store.MAX_CONTENT:
                self.end_object()
        return pieces

    def end_object(self) -> None:
        """Submit the current object, unless it is empty, and start a new one."""
        slot = self._slot
        if not slot.content:
            return
        while len(self._waiting) >= _MAX_PENDING:
            self._written += self._waiting.popleft().result()[1]
        slot.stored = self._pool.submit(self._store, slot)
        self._waiting.append(slot.stored)
        self._slot = _Slot()

    def take_written(self) -> int:
        """Wait for all objects; return how many bytes were written since the last call."""
        while self._waiting:
            self._written += self._waiting.popleft().result()[1]
        written, self._written = self._written, 0
        return written

    def _store(self, slot: _Slot) -> tuple[str, int]:
        stored = self._objects.put(slot.content)
        slot.content = bytearray()
        return stored


def join_pieces(pieces: Iterable[Piece]) -> tuple[Piece, ...]:
    """Return the pieces with adjacent pieces of an object joined."""
    joined: list[Piece] = []
    for piece in pieces:
        last = joined[-1] if joined else None
        if last and (last.object, last.offset + last.length) == (piece.object, piece.offset):
            joined[-1] = msgspec.structs.replace(last, length=last.length + piece.length)
        else:
            joined.append(piece)
    return tuple(joined)


def iter_content(objects: object_store.ObjectStore, version: FileVersion) -> Iterator[bytes]:
    """Yield the content piece by piece; raise UnreadableInput at the first damage."""
    name, content = "", b""
    for piece in version.pieces:
        if piece.object != name:
            name, content = piece.object, objects.read(piece.object)
        part = content[piece.offset : piece.offset + piece.length]
        if len(part) != piece.length:
            raise UnreadableInput(f"The object {name} is shorter than {version.path} needs.")
        yield part


def iter_checked(objects: object_store.ObjectStore, version: FileVersion) -> Iterator[bytes]:
    """Yield the content; raise UnreadableInput at its end if it differs from the archived one."""
    digest = sha256()
    for part in iter_content(objects, version):
        digest.update(part)
        yield part
    if digest.hexdigest() != version.sha256:
        raise UnreadableInput(
            f"The content of {version.path} is not what was archived: its SHA-256 differs."
        )


def count_shared(objects: object_store.ObjectStore, version: FileVersion, file: SourceFile) -> int:
    """Return how many bytes at the start of a file equal an archived version.

    Damage ends the comparison, so that the bytes after it are stored again.
    """
    file.seek(0)
    shared = 0
    try:
        for part in iter_content(objects, version):
            same = _count_same(part, file.read(len(part)))
            shared += same
            if same < len(part):
                break
    except UnreadableInput:
        return shared
    return shared


def _count_same(one: bytes, other: bytes) -> int:
    """Return the length of the common prefix, by bisection: comparing slices is fast."""
    if one == other:
        return len(one)
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[:middle] == other[:middle]:
            low = middle
        else:
            high = middle - 1
    return low
