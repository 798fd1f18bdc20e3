"""What a damaged index still knows of transcripts that are no longer there.

Everything else is read from the files again; this is all that would be lost. Best effort: what
contradicts itself is left behind.
"""

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import apsw

from recollect.store.catalogue import FileRow, Names, load_files
from recollect.store.failures import DamagedIndex
from recollect.store.hours import check_messages
from recollect.store.messages import MessageValues, select_of_file

_UNREADABLE = (apsw.Error, UnicodeDecodeError, DamagedIndex)

Remains = tuple[FileRow, list[MessageValues], Names]
"""A file, its messages, and the names that these refer to."""


def iter_remains(path: Path, is_there: Callable[[str], bool]) -> Iterator[Remains]:
    """What the index at `path` knows of files that are not there."""
    if not path.is_file():
        return
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)) as connection:
        try:
            names = Names(connection)
            files = load_files(connection)
        except _UNREADABLE:
            return
        for place, (number, row) in files.items():
            values = None if is_there(place) else _find_sound(connection, number)
            if values is not None:
                yield row, values, names


def _find_sound(connection: apsw.Connection, number: int) -> list[MessageValues] | None:
    try:
        check_messages(connection, [number])
        return select_of_file(connection, number)
    except _UNREADABLE:
        return None
