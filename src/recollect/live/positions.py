"""How far a follower has come, in a text short enough to be the id of an event.

A position is an offset and the hash of everything before it, so it holds for a copy or a restored
file too; device and inode would not. Of all the files in sight only those that were read are named.
Of the others it is enough to know that they have not been written since: `since_ns` is the newest
time of any file when following began, by the clock of the file system itself.
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

MOST_MARKS: Final = 64
"""Files that an id names at most; one left out is read anew by whoever goes on from that id."""

_VERSION: Final = "1."
_KEY_BYTES: Final = 8


class Mark(Struct, frozen=True, array_like=True, gc=False):
    """A place in a file: `digest` is the hash of its first `offset` bytes."""

    offset: int
    digest: bytes


class Cursor(Struct, frozen=True, array_like=True):
    """Where following can be taken up again."""

    since_ns: int = 0
    marks: dict[bytes, Mark] = {}

    def find_mark(self, path: str) -> Mark | None:
        """How far the file at `path` was read; None if that is not known."""
        return self.marks.get(key_of(path))

    def is_settled(self, mtime_ns: int) -> bool:
        """Whether a file of that time has certainly not been written since."""
        return mtime_ns < self.since_ns


class Checkpoint(Struct, frozen=True):
    """The place behind one event: what was known before, and one mark that is newer."""

    cursor: Cursor = Cursor()
    key: bytes = b""
    mark: Mark | None = None

    @property
    def id(self) -> str:
        """The cursor as text; made only when asked for, since few listeners want it."""
        return encode_cursor(advance(self.cursor, {self.key: self.mark} if self.mark else {}))


def key_of(path: str) -> bytes:
    """What a cursor calls the file at `path`."""
    return hashlib.blake2b(os.fsencode(path), digest_size=_KEY_BYTES).digest()


def advance(cursor: Cursor, marks: Mapping[bytes, Mark]) -> Cursor:
    """`cursor` with newer marks, and without the oldest ones where they are too many."""
    if not marks:
        return cursor
    kept = {key: mark for key, mark in cursor.marks.items() if key not in marks} | {**marks}
    return Cursor(cursor.since_ns, dict(list(kept.items())[-MOST_MARKS:]))


def encode_cursor(cursor: Cursor) -> str:
    """The cursor as letters and digits that fit a URL and a header."""
    data = base64.urlsafe_b64encode(msgspec.msgpack.encode(cursor))
    return _VERSION + data.decode().rstrip("=")


def decode_cursor(text: str) -> Cursor:
    """The cursor that `text` stands for; raises UsageError if it stands for none."""
    body = text.removeprefix(_VERSION)
    try:
        data = base64.b64decode(body + "=" * (-len(body) % 4), altchars=b"-_", validate=True)
        return msgspec.msgpack.decode(data, type=Cursor)
    except (ValueError, binascii.Error, msgspec.DecodeError):
        raise UsageError(
            "This is no position that `follow` gave. Take the id of an event as it is, "
            "or start without one."
        ) from None
