"""Cursors: how far a follower has read, as a string short enough to be an event id.

A mark is an offset and the hash of everything before it, so it also holds for a copy or a restored
file, which device and inode would not. A cursor has marks only for files that were read. For the
others it is enough to know that they have not been written since: `since_ns` is the newest mtime of
any file when following began, so that only the file system's own clock is used.
"""

import base64
import binascii
import hashlib
import os
from collections.abc import Mapping
from typing import Final

import msgspec
from msgspec import Struct

from recollect.errors import UsageError

MAX_MARKS: Final = 64
"""Marks in one cursor. A file whose mark was dropped is read from its start after resuming."""

_VERSION: Final = "1."
_KEY_BYTES: Final = 8


class Mark(Struct, frozen=True, array_like=True, gc=False):
    """A position in a file: `digest` is the hash of its first `offset` bytes."""

    offset: int
    digest: bytes


class Cursor(Struct, frozen=True, array_like=True):
    """A position across all followed files, from which following can resume."""

    since_ns: int = 0
    marks: dict[bytes, Mark] = {}

    def find_mark(self, path: str) -> Mark | None:
        """Return how far the file at `path` was read, or None if that is not known."""
        return self.marks.get(path_key(path))

    def is_unchanged(self, mtime_ns: int) -> bool:
        """Return whether a file with this mtime has certainly not been written since."""
        return mtime_ns < self.since_ns


class Checkpoint(Struct, frozen=True):
    """The position after one event: the cursor before it, and one newer mark."""

    cursor: Cursor = Cursor()
    key: bytes = b""
    mark: Mark | None = None

    @property
    def id(self) -> str:
        """The cursor as text, encoded on access because few consumers need it."""
        return encode_cursor(advance(self.cursor, {self.key: self.mark} if self.mark else {}))


def path_key(path: str) -> bytes:
    """Return the key of the file at `path` in a cursor."""
    return hashlib.blake2b(os.fsencode(path), digest_size=_KEY_BYTES).digest()


def advance(cursor: Cursor, marks: Mapping[bytes, Mark]) -> Cursor:
    """Return `cursor` with newer marks, dropping the oldest beyond `MAX_MARKS`."""
    if not marks:
        return cursor
    kept = {key: mark for key, mark in cursor.marks.items() if key not in marks} | {**marks}
    return Cursor(cursor.since_ns, dict(list(kept.items())[-MAX_MARKS:]))


def encode_cursor(cursor: Cursor) -> str:
    """Return the cursor as text that is safe in a URL and in a header."""
    data = base64.urlsafe_b64encode(msgspec.msgpack.encode(cursor))
    return _VERSION + data.decode().rstrip("=")


def decode_cursor(text: str) -> Cursor:
    """Return the cursor encoded in `text`; raises UsageError if it is not one."""
    body = text.removeprefix(_VERSION)
    try:
        data = base64.b64decode(body + "=" * (-len(body) % 4), altchars=b"-_", validate=True)
        return msgspec.msgpack.decode(data, type=Cursor)
    except (ValueError, binascii.Error, msgspec.DecodeError):
        raise UsageError(
            "This is not a position from `follow`. Pass the id of an event unchanged, "
            "or start without one."
        ) from None
