"""The manifests of the archive: which files a sync has stored, and where their bytes are.

A manifest is a list of JSON lines, compressed, and named by its time and its own SHA-256. Each line
about a file is complete in itself: whoever loses all other manifests can still restore that file.
Earlier versions stay listed in earlier manifests, so nothing that was stored once is overwritten.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Final, NamedTuple

import msgspec
from msgspec import Struct

from recollect.archive.compressed import compress, decompress, hash_bytes
from recollect.errors import UnreadableInput
from recollect.locations.project_names import decode_id, encode_name

FORMAT: Final = "recollect-archive/1"
SUFFIX: Final = ".jsonl.zst"
MAX_MANIFEST: Final = 1 << 30
"""Limit for a decompressed manifest, about two million files."""

_NAME: Final = re.compile(r"(\d{8}T\d{6}\.\d{6}Z)-([0-9a-f]{64})\.jsonl\.zst")
_TIME: Final = "%Y%m%dT%H%M%S.%fZ"


class FileKind(StrEnum):
    """What a copied file is."""

    TRANSCRIPT = "transcript"
    SUBAGENT = "subagent"
    SIDECAR = "sidecar"
    """A file in the directory of a session: tool results, workflows, descriptions of subagents."""
    TODO = "todo"
    TASK = "task"
    PLAN = "plan"
    FILE_HISTORY = "file-history"
    HISTORY = "history"


class Piece(Struct, frozen=True):
    """A range of the content of an object."""

    object: str
    """SHA-256 of the stored, compressed object, which is also its file name."""
    offset: int
    length: int


class FileVersion(Struct, frozen=True, kw_only=True):
    """A file as it was at one time; its content is that of its pieces, one after the other."""

    root: str
    """The Claude directory; like `path` with `%` and unprintable characters percent-encoded."""
    path: str
    """Relative to the Claude directory, with slashes."""
    session: str | None
    kind: FileKind
    size: int
    mtime_ns: int
    mode: str
    """Permissions in octal, such as `600`."""
    sha256: str
    """Of the whole content."""
    pieces: tuple[Piece, ...]

    @property
    def key(self) -> tuple[str, str]:
        """Identifies the file among all versions of all files."""
        return self.root, self.path


class Header(Struct, frozen=True, kw_only=True):
    """The first line of a manifest."""

    format: str = FORMAT
    taken: str
    files: int


class ManifestName(NamedTuple):
    """The parts of a manifest's file name, which sorts by time."""

    taken: str
    sha256: str

    def __str__(self) -> str:
        return f"{self.taken}-{self.sha256}{SUFFIX}"


class DamagedManifest(UnreadableInput):
    """A manifest is not what its name says, or not a manifest."""


def encode_manifest(taken: str, versions: Iterable[FileVersion]) -> bytes:
    """Return the bytes of a manifest, compressed."""
    listed = tuple(versions)
    header = Header(taken=taken, files=len(listed))
    lines = [msgspec.json.encode(each) for each in (header, *listed)]
    return compress(b"\n".join([*lines, b""]))


def check_manifest(name: ManifestName, stored: bytes) -> bytes:
    """Return the stored bytes; raise DamagedManifest if a single bit has changed."""
    if hash_bytes(stored) != name.sha256:
        raise DamagedManifest(f"The manifest {name} is damaged: its SHA-256 is not its name.")
    return stored


def decode_manifest(name: ManifestName, data: bytes) -> tuple[FileVersion, ...]:
    """Return the files of a manifest; raise UnreadableInput if it is not one."""
    return _decode(name, decompress(data, MAX_MANIFEST))


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
    """Return the parts of a file name, None if it is not that of a manifest."""
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
    """Return the path of a manifest for names on disk, which may be any bytes."""
    return "/".join(map(encode_name, parts))


def decode_path(path: str) -> tuple[str, ...]:
    """Return the names on disk for the path of a manifest; they are not checked."""
    return tuple(map(decode_id, path.split("/")))


def iter_objects(versions: Iterable[FileVersion]) -> Iterator[str]:
    """Yield the objects that these versions need, some more than once."""
    return (piece.object for version in versions for piece in version.pieces)


_DECODER: Final = msgspec.json.Decoder(FileVersion)
