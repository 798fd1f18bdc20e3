"""Query the index: updated first, and rebuilt if it turns out to be damaged.

When nothing changed this costs one look at each file. The reader and the prices are imported only
when something has to be read.
"""

from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from recollect.locations import Transcript
from recollect.store.data_directory import INDEX_NAME
from recollect.store.database import Connection, open_for_reading, set_aside_if_damaged, snapshot
from recollect.store.integrity import DamagedIndex, translate_errors
from recollect.sync.freshness import open_if_current

if TYPE_CHECKING:
    from recollect.sync.sync_engine import OnProgress


T = TypeVar("T")


def ask_index(
    directory: Path,
    transcripts: Sequence[Transcript],
    question: Callable[[Connection], T],
    *,
    prices: Path | None = None,
    watch: "OnProgress | None" = None,
) -> T:
    """Answer `question` from the index in `directory`, up to date with `transcripts`.

    Read in one transaction: concurrent writes are not seen. Raises `IndexFailure` if the index can
    be neither read nor written.
    """

    def try_once() -> T:
        connection = open_if_current(directory, transcripts, prices=prices)
        if connection is None:
            connection = _sync(directory, transcripts, prices, watch)
        with translate_errors(directory / INDEX_NAME), closing(connection), snapshot(connection):
            return question(connection)

    try:
        return try_once()
    except DamagedIndex:
        # Opening checks what most questions need; this one needed something else.
        set_aside_if_damaged(directory)
        return try_once()


def _sync(
    directory: Path,
    transcripts: Sequence[Transcript],
    prices: Path | None,
    watch: "OnProgress | None",
) -> Connection:
    from recollect.sync.sync_engine import sync  # only when something has to be read

    sync(directory, transcripts, prices=prices, watch=watch)
    connection = open_for_reading(directory)
    if connection is None:
        raise DamagedIndex(f"The index in {directory} was written and cannot be read again.")
    return connection
