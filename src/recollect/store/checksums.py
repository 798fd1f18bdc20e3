"""A checksum on every page of the index, so that a bit that flipped is an error and no answer.

It is SQLite's own checksum VFS, which comes with apsw as a file of its own. Where that file was
left out the index works without, and only the sums and checksums within its rows are looked at.
"""

from functools import cache
from pathlib import Path

import apsw

from recollect.store.failures import DamagedIndex

RESERVED_BYTES = 8
"""At the end of each page: what the VFS needs, and the sign by which it knows its files."""


@cache
def load_checksums() -> bool:
    """Let all connections of this process check what they read: whether that is possible."""
    # Not by `apsw.sqlite_extra`, whose imports cost more than a warm answer takes to compute.
    extension = Path(apsw.__file__).parent / "sqlite_extra_binaries" / "cksumvfs"
    connection = apsw.Connection(":memory:")
    try:
        connection.enable_load_extension(True)
        connection.load_extension(str(extension))
    except apsw.Error:
        return False
    finally:
        connection.close()
    return True


def reserve_checksums(connection: apsw.Connection) -> None:
    """Let the pages of an index that is still empty have checksums."""
    if load_checksums():
        connection.reserve_bytes(reserve=RESERVED_BYTES)


def check_reserve(connection: apsw.Connection) -> None:
    """Raise `DamagedIndex` when the pages have no checksums although they could have."""
    if load_checksums() and connection.reserve_bytes() != RESERVED_BYTES:
        raise DamagedIndex("The index has no checksums on its pages.")
