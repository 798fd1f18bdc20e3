"""Status of the index: its path and size, how much it knows, and whether it is sound."""

from contextlib import closing
from pathlib import Path

import apsw
from msgspec import Struct

from recollect.store.catalog import load_problems
from recollect.store.data_directory import INDEX_NAME
from recollect.store.database import check_everything, open_for_reading, snapshot
from recollect.store.integrity import DamagedIndex, translate_errors


class IndexStatus(Struct, frozen=True, kw_only=True):
    """An index as it was found; of one that cannot be used only its size is known."""

    path: str
    bytes: int = 0
    """0 if there is none."""
    is_sound: bool = False
    files: int = 0
    """Transcripts that it knows and that are there."""
    files_gone: int = 0
    """Deleted transcripts, which still count."""
    messages: int = 0
    """Messages that count."""
    copies: int = 0
    """Rows that do not count, because they repeat a message."""
    problems: dict[str, str] = {}
    """Files that could not be read, and why."""


def find_index_status(directory: Path) -> IndexStatus:
    """What the index in `directory` is; looks at all of it."""
    path = directory / INDEX_NAME
    if not path.is_file():
        return IndexStatus(path=str(path))
    size = sum(found.stat().st_size for found in directory.glob(f"{INDEX_NAME}*"))
    connection = open_for_reading(directory)
    if connection is None:
        return IndexStatus(path=str(path), bytes=size)
    try:
        with translate_errors(path), closing(connection), snapshot(connection):
            check_everything(connection)
            return _describe(connection, path, size)
    except DamagedIndex:
        return IndexStatus(path=str(path), bytes=size)


def _describe(connection: apsw.Connection, path: Path, size: int) -> IndexStatus:
    files, gone = next(connection.execute("SELECT count(*), coalesce(sum(is_gone), 0) FROM files"))
    counted, rows = next(
        connection.execute("SELECT coalesce(sum(counted), 0), count(*) FROM messages")
    )
    return IndexStatus(
        path=str(path),
        bytes=size,
        is_sound=True,
        files=files - gone,
        files_gone=gone,
        messages=counted,
        copies=rows - counted,
        problems=load_problems(connection),
    )
