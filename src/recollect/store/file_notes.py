"""Listings, figures and tool calls as indexes before schema 4 kept them: msgpack in one table.

The kind of a note is a name and a number that rose with its content. Fields were only ever added,
so the types of today decode every one of them.
"""

from collections.abc import Iterator
from typing import Final, TypeVar
from zlib import crc32

import apsw
import msgspec
from msgspec.structs import replace

from recollect.documents.session_listing import SessionListing
from recollect.sources.stamps import Stamp
from recollect.store.catalog import decode_path
from recollect.store.session_table import (
    CallSummary,
    FileFigures,
    StoredCalls,
    StoredFigures,
    StoredListing,
)

T = TypeVar("T")

_LISTING: Final = msgspec.msgpack.Decoder(SessionListing | None)
_FIGURES: Final = msgspec.msgpack.Decoder(FileFigures)
_CALLS: Final = msgspec.msgpack.Decoder(list[CallSummary])


def load_noted_listings(connection: apsw.Connection) -> dict[str, StoredListing]:
    """Return the listings that were noted, by path."""
    found = {}
    for path, stamp, noted in _iter_notes(connection, "listing", _LISTING):
        listing = None if noted is None else replace(noted, path=path)
        found[path] = StoredListing(path, stamp, "", "", listing)
    return found


def load_noted_figures(connection: apsw.Connection) -> dict[str, StoredFigures]:
    """Return the figures that were noted, by path."""
    notes = _iter_notes(connection, "figures", _FIGURES)
    return {path: StoredFigures(path, stamp, figures) for path, stamp, figures in notes}


def load_noted_calls(connection: apsw.Connection) -> dict[str, StoredCalls]:
    """Return the tool calls that were noted, by path."""
    notes = _iter_notes(connection, "calls", _CALLS)
    return {path: StoredCalls(path, stamp, calls) for path, stamp, calls in notes}


def _iter_notes(
    connection: apsw.Connection, name: str, decoder: "msgspec.msgpack.Decoder[T]"
) -> Iterator[tuple[str, Stamp, T]]:
    """Iterate over the sound notes of a kind; of one file the one that was written last is last."""
    query = "SELECT path, size, mtime_ns, note, crc FROM file_notes WHERE kind GLOB ? ORDER BY kind"
    for path, size, mtime_ns, note, crc in connection.execute(query, (f"{name}/*",)):
        try:
            if crc32(note) == crc:
                yield decode_path(path), (0, size, mtime_ns), decoder.decode(note)
        except msgspec.MsgspecError:
            continue
