"""Bundles: files that contain sessions with everything that belongs to them, to pass on to others;
and the encryption of single files such as these.

Files are encrypted to recipients or with a passphrase, in the age format, so `age -d` reads them
too. With recipients, memory use is constant; content that is locked with a passphrase is held in
memory as a whole, because pyrage has no other way.

A bundle is a sequence of zstd frames: a skippable one that identifies the format, one with the
manifest, which is a line of JSON, and then the content of all files, one after the other. `zstd
-dc` therefore prints the manifest followed by all bytes (docs/archive.md).

The sender of a bundle may be hostile. Nothing is trusted: sizes are limited before memory or disk
is used, names must be those of files that Claude Code writes, and every file is compared with its
SHA-256. No library that trusts the paths in an archive is used for unpacking.
"""

import io
import os
import re
import stat
import struct
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import IO, Final, NamedTuple, Protocol

import msgspec

from recollect.archive import archived_files, encryption, manifests, object_store
from recollect.errors import UnreadableInput
from recollect.sources.safe_files import open_file

_CHUNK: Final = 1 << 20
_HEAD: Final = len(encryption.MAGIC) + 64


class FileLock(NamedTuple):
    """How a file is encrypted: to recipients, with a passphrase, or not at all."""

    recipients: tuple[str, ...] = ()
    passphrase: str | None = None


class ReadableFile(Protocol):
    """A readable binary file."""

    def read(self, size: int = -1, /) -> bytes:
        """Return up to `size` bytes, all remaining ones by default."""

    def seek(self, offset: int, whence: int = 0, /) -> int:
        """Move to an offset and return it."""


UNLOCKED: Final = FileLock()


def write_locked(target: Path, content: Iterable[bytes], lock: FileLock = UNLOCKED) -> None:
    """Write a new file that only its owner can read, encrypted according to `lock`."""

    def write(file: IO[bytes]) -> None:
        if lock.passphrase is not None:
            file.write(encryption.lock_with_passphrase(b"".join(content), lock.passphrase))
        elif lock.recipients:
            encryption.encrypt_stream(io.BufferedReader(_Parts(content)), file, lock.recipients)
        else:
            file.writelines(content)

    archived_files.write_private(target, write)


@contextmanager
def open_unlocked(path: Path, identity: Path | None = None) -> Iterator[ReadableFile]:
    """Open a file that may be encrypted; raise KeyMissing if its key is missing.

    An encrypted file is decrypted to an unnamed temporary file that nobody else can open, because
    it is not trusted before all of it has been checked.
    """
    with open_file(path, resolve=True) as file:
        head = file.read(_HEAD)
        file.seek(0)
        if not encryption.is_encrypted(head):
            yield file
            return
        with tempfile.TemporaryFile() as plain:
            if encryption.needs_passphrase(head):
                passphrase = encryption.get_key_finder().require_passphrase(f"Passphrase of {path}")
                plain.write(encryption.unlock_with_passphrase(file.read(), passphrase))
            else:
                encryption.decrypt_stream(_as_stream(file), plain, _find_identities(path, identity))
            plain.seek(0)
            yield plain


def count_bytes(file: ReadableFile) -> int:
    """Return the size of an open file, and seek to its start."""
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    return size


def _find_identities(path: Path, identity: Path | None) -> tuple[str, ...]:
    finder = encryption.get_key_finder()
    found = finder.read_identities(identity) if identity else finder.read_identity_file()
    if not found:
        raise encryption.KeyMissing(
            f"{path} is encrypted. Specify your age identity file with --identity or "
            f"{encryption.IDENTITY_VARIABLE}."
        )
    return tuple(found)


def _as_stream(file: ReadableFile) -> IO[bytes]:
    return io.BufferedReader(_Parts(iter(lambda: file.read(_CHUNK), b"")))


class _Parts(io.RawIOBase):
    """Presents content in parts as a file that can be read once."""

    def __init__(self, parts: Iterable[bytes]) -> None:
        super().__init__()
        self._parts = iter(parts)
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: bytearray | memoryview, /) -> int:  # type: ignore[override]
        """Fill the buffer from the current part."""
        while not self._rest:
            part = next(self._parts, None)
            if part is None:
                return 0
            self._rest = memoryview(part)
        count = min(len(buffer), len(self._rest))
        buffer[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count


FORMAT: Final = "recollect-bundle/1"
SUFFIX: Final = ".recollect"
MAX_MANIFEST: Final = 16 * 2**20
MAX_FILES: Final = 20_000
MAX_BYTES: Final = 16 * 2**30
MAX_RATIO: Final = 1000
"""Maximum ratio of the content's size to the bundle's; transcripts compress 5 to 20 times."""

FREE_BYTES: Final = 64 * 2**20
"""Content up to this size is accepted at any ratio."""

_SKIPPABLE: Final = 0x184D2A50
_MARK: Final = struct.pack("<II", _SKIPPABLE, len(FORMAT)) + FORMAT.encode()
_SHA256: Final = re.compile("[0-9a-f]{64}")
_MAX_TIME: Final = 4_102_444_800 * 10**9
"""The year 2100, which every file system can store."""


class BundledFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file in a bundle."""

    path: str
    session: str
    kind: manifests.FileKind
    size: int
    mtime_ns: int
    mode: str
    sha256: str


class BundledSession(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A session in a bundle."""

    id: str
    project: str
    """The name of its project directory."""
    cwd: str | None
    """Its working directory, from which the name of the project directory is derived."""


class RedactionReport(msgspec.Struct, frozen=True, kw_only=True):
    """Secrets found in the sessions by kind; never the secrets themselves."""

    masked: bool = False
    """Whether the secrets were masked; they are not, because files of a bundle are unchanged."""
    transcripts: int
    """Number of transcripts that were searched."""
    secrets: dict[str, int]
    """Number of secrets of each kind."""


class BundleManifest(msgspec.Struct, frozen=True, kw_only=True):
    """The first line of a bundle."""

    format: str = FORMAT
    created: str
    sessions: tuple[BundledSession, ...]
    redaction: RedactionReport | None = None
    """None if the sessions were not searched for secrets."""
    files: tuple[BundledFile, ...]


class OpenBundle(NamedTuple):
    """A bundle with a checked manifest; the content follows in the frames."""

    manifest: BundleManifest
    frames: object_store.FrameReader


def iter_bundle(manifest: BundleManifest, contents: Iterable[Iterable[bytes]]) -> Iterator[bytes]:
    """Yield the bytes of a bundle; `contents` are the contents of the files, in order."""
    yield _MARK
    yield object_store.compress(msgspec.json.encode(manifest) + b"\n")
    pending = bytearray()
    for content in contents:
        for part in content:
            pending += part
            while len(pending) >= object_store.MAX_CONTENT:
                yield object_store.compress(pending[: object_store.MAX_CONTENT])
                del pending[: object_store.MAX_CONTENT]
    if pending:
        yield object_store.compress(pending)


def open_bundle(file: ReadableFile, size: int) -> OpenBundle:
    """Read and check the manifest of a bundle; raise UnreadableInput if it is invalid."""
    if file.read(len(_MARK)) != _MARK:
        raise UnreadableInput("This is not a Recollect bundle.")
    frames = object_store.FrameReader(file.read)
    line = frames.read_line(MAX_MANIFEST)
    try:
        manifest = msgspec.json.decode(line, type=BundleManifest)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UnreadableInput(f"The manifest of the bundle is invalid: {error}") from error
    check_manifest(manifest, size)
    return OpenBundle(manifest, frames)


def check_manifest(manifest: BundleManifest, size: int) -> None:
    """Raise UnreadableInput unless everything in a manifest is valid."""
    if manifest.format != FORMAT:
        raise UnreadableInput(f"The bundle has the unknown format {manifest.format!r}.")
    if not manifest.files or len(manifest.files) > MAX_FILES:
        raise UnreadableInput(
            f"The bundle lists {len(manifest.files):,} files; 1 to {MAX_FILES:,} are allowed."
        )
    known = {session.id: session.project for session in manifest.sessions}
    for file in manifest.files:
        _check_file(file, known)
    total = sum(file.size for file in manifest.files)
    if total > MAX_BYTES or total > max(size * MAX_RATIO, FREE_BYTES):
        raise UnreadableInput(
            f"The bundle claims to contain {total:,} bytes, which is more than is allowed for a "
            f"file of {size:,} bytes."
        )
    _check_names(manifest.files)


def iter_files(bundle: OpenBundle) -> Iterator[tuple[BundledFile, Iterator[bytes]]]:
    """Yield each file with its content, which must be consumed before the next file."""
    for file in bundle.manifest.files:
        yield file, _iter_content(bundle.frames, file)
    bundle.frames.require_end()


def _iter_content(frames: object_store.FrameReader, file: BundledFile) -> Iterator[bytes]:
    digest = sha256()
    for part in frames.iter_bytes(file.size):
        digest.update(part)
        yield part
    if digest.hexdigest() != file.sha256:
        raise UnreadableInput(f"{file.path!r} in the bundle is damaged: its SHA-256 differs.")


def _check_file(file: BundledFile, projects: dict[str, str]) -> None:
    parts = archived_files.parse_foreign(file.path)
    mode = archived_files.parse_mode(file.mode)
    if file.kind is manifests.FileKind.HISTORY or file.session not in projects:
        raise UnreadableInput(f"{file.path!r} does not belong to a session of the bundle.")
    if parts[0] == "projects" and file.path.split("/")[1] != projects[file.session]:
        raise UnreadableInput(f"{file.path!r} is not in the directory of its session's project.")
    is_sane = 0 <= file.size <= MAX_BYTES and 0 <= file.mtime_ns <= _MAX_TIME
    if not is_sane or _SHA256.fullmatch(file.sha256) is None:
        raise UnreadableInput(f"The entry of {file.path!r} in the bundle is invalid.")
    if mode & (stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH):
        raise UnreadableInput(f"{file.path!r} in the bundle is marked as executable.")


def _check_names(files: Sequence[BundledFile]) -> None:
    """Refuse names that collide on some file systems, and files that are also directories."""
    names = [
        tuple(part.casefold() for part in archived_files.parse_foreign(file.path)) for file in files
    ]
    if len(set(names)) != len(names):
        raise UnreadableInput("Two files of the bundle have the same name.")
    above = {name[:depth] for name in names for depth in range(1, len(name))}
    if not above.isdisjoint(names):
        raise UnreadableInput("A file of the bundle is also a directory.")
