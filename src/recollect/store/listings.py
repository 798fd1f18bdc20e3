"""What lists show of each session, kept so that a list need not open any file.

Apart from the catalogue, because a report on usage must not wait for titles. A row holds for the
size and time that its file had; a file that has changed since is described anew.
"""

from collections.abc import Iterable
from typing import Any

import apsw
import msgspec
from msgspec import Struct

_TABLE = """
CREATE TABLE IF NOT EXISTS listings (
    path TEXT PRIMARY KEY,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    listing BLOB
) WITHOUT ROWID
"""


class Listing(Struct, frozen=True, kw_only=True):
    """A session in a list; None where its records do not tell."""

    id: str
    project: str
    path: str
    size: int
    modified: float
    activity: float
    """When something last happened in it, in seconds since 1970."""
    created: str | None = None
    last_active: str | None = None
    cwd: str | None = None
    title: str | None = None
    first_prompt: str | None = None
    git_branch: str | None = None
    version: str | None = None
    tag: str | None = None
    is_subagent: bool = False
    parent_id: str | None = None
    message_count: int | None = None


class Described(Struct, frozen=True):
    """A file as it was when it was described; without a listing when it holds no session."""

    path: str
    size: int
    mtime_ns: int
    listing: Listing | None


_decode = msgspec.msgpack.Decoder(Listing).decode
_encode = msgspec.msgpack.Encoder().encode


def load_listings(connection: apsw.Connection) -> dict[str, Described]:
    """All that is known, by path; nothing when no list was ever made."""
    try:
        rows = connection.execute("SELECT path, size, mtime_ns, listing FROM listings").fetchall()
    except apsw.SQLError:
        return {}
    described = (_read_row(row) for row in rows)
    return {each.path: each for each in described}


def _read_row(row: tuple[Any, ...]) -> Described:
    path, size, mtime_ns, data = row
    return Described(path, size, mtime_ns, None if data is None else _decode(data))


def save_listings(connection: apsw.Connection, described: Iterable[Described]) -> None:
    """Keep what was found out."""
    with connection:
        connection.execute(_TABLE)
        connection.executemany(
            "INSERT OR REPLACE INTO listings VALUES (?, ?, ?, ?)",
            (
                (each.path, each.size, each.mtime_ns, each.listing and _encode(each.listing))
                for each in described
            ),
        )
