"""What a directory listing says about a file, and what follows about changes.

Imports only the standard library: the status line, which has to answer within milliseconds,
compares a stamp, too. The rest of the rule is in `recollect.sources.growth`.
"""

import os
import time
from typing import Final

from recollect.sources.source import find_source

UNTRUSTED: Final = -1
"""The time of a racy state in a stamp, so that it does not equal any file's."""

_SECOND_NS: Final = 1_000_000_000
_TICK_NS: Final = 50_000_000
"""No clock with fractions of a second stays at one value for longer."""

LISTS_INODES: Final = os.name != "nt"
"""Whether a listing has the inode of a file; where it has not, it is 0 in a stamp."""

Stamp = tuple[int, int, int]
"""Inode, size and time of last modification: what listing a directory says about a file."""


def is_racy(mtime_ns: int, now: int | None = None) -> bool:
    """Whether a file written at `mtime_ns` could be written again without changing its time."""
    step = 2 * _SECOND_NS if mtime_ns % _SECOND_NS == 0 else _TICK_NS
    return abs((time.time_ns() if now is None else now) - mtime_ns) <= step


def make_stamp(listed: Stamp) -> Stamp:
    """Return what to remember of a file that was listed like this and is read from now on."""
    inode, size, mtime_ns = listed
    return inode, size, UNTRUSTED if is_racy(mtime_ns) else mtime_ns


def is_same(known: Stamp | None, listed: Stamp) -> bool:
    """Whether a file with this stamp in the index is unchanged if it is listed like this."""
    if known is None or known[1:] != listed[1:]:
        return False
    return known[0] == listed[0] or not (known[0] and listed[0])


def find_stamp(name: str) -> Stamp | None:
    """Return what a listing would say about a file now; None if there is none."""
    try:
        status = find_source(name).find_status(name)
    except (OSError, ValueError):
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def is_present(path: str) -> bool:
    """Return whether there is anything with content at `path`, as far as can be determined."""
    try:
        return find_source(path).find_status(path).st_size > 0
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        # Where we may not look, nothing is known to have changed.
        return True
