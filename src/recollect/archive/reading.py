"""Reading files back out of the archive, checked on the way.

Every object is compared with its name before it is used. The content as a whole has a SHA-256 of
its own, which a restore compares and `verify --deep` too.
"""

from collections.abc import Iterator
from hashlib import sha256

from recollect.archive.manifests import FileVersion
from recollect.archive.object_store import ObjectStore
from recollect.errors import UnreadableInput
from recollect.sources.source import SourceFile


def iter_content(objects: ObjectStore, version: FileVersion) -> Iterator[bytes]:
    """Yield the content piece by piece; raise UnreadableInput at the first damage."""
    name, content = "", b""
    for piece in version.pieces:
        if piece.object != name:
            name, content = piece.object, objects.read(piece.object)
        part = content[piece.offset : piece.offset + piece.length]
        if len(part) != piece.length:
            raise UnreadableInput(f"The object {name} is shorter than {version.path} needs.")
        yield part


def iter_checked(objects: ObjectStore, version: FileVersion) -> Iterator[bytes]:
    """Yield the content, and raise UnreadableInput at its end if it is not what was archived."""
    digest = sha256()
    for part in iter_content(objects, version):
        digest.update(part)
        yield part
    if digest.hexdigest() != version.sha256:
        raise UnreadableInput(
            f"The content of {version.path} is not what was archived: its SHA-256 differs."
        )


def count_shared(objects: ObjectStore, version: FileVersion, file: SourceFile) -> int:
    """Return how many bytes at the start of a file are those of an archived version.

    Damage ends the comparison, so that what follows is stored again.
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
    """Return the length of the common start, by halving: comparing slices is fast."""
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
