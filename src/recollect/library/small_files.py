"""Reading files that are small when nobody plays tricks: sidecars, process files, plans.

Knows a limit of size; refuses to raise, because what lies beside a session may vanish, be
forbidden or be something else entirely, and the session is worth showing all the same.
"""

from pathlib import Path
from typing import Final

from recollect.errors import UnreadableInput
from recollect.locations import open_regular

SMALL: Final = 1024 * 1024
"""Largest sidecar, in bytes, that is believed to be one."""


def read_small(path: Path, limit: int = SMALL) -> bytes | None:
    """The content of the file at `path`; None if it cannot be read or is larger than `limit`."""
    head = read_head(path, limit + 1)
    return head if head is not None and len(head) <= limit else None


def read_head(path: Path, length: int) -> bytes | None:
    """The first `length` bytes of the file at `path`; None if it cannot be read."""
    try:
        with open_regular(path) as file:
            return file.read(length)
    except (UnreadableInput, OSError):
        return None
