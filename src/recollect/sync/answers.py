"""Asking the index: brought level first, and built anew when it proves to be damaged.

When nothing changed this costs one look at each file. The reader and the prices are imported only
when something has to be read.
"""

from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from recollect.locations import Transcript
from recollect.store.database import (
    Connection,
    open_for_reading,
    set_aside_if_damaged,
    snapshot,
)
from recollect.store.failures import DamagedIndex, translate_errors
from recollect.store.place import INDEX_NAME
from recollect.sync.level import open_level

if TYPE_CHECKING:
    from recollect.sync.engine import Watch

T = TypeVar("T")


def ask(
    directory: Path,
    transcripts: Sequence[Transcript],
    question: Callable[[Connection], T],
    *,
    prices: Path | None = None,
    watch: "Watch | None" = None,
) -> T:
    """The answer to `question` from the index in `directory`, level with `transcripts`.

    While it is asked, the index stays as it is, whoever writes it meanwhile. Raises
    `IndexFailure` when the index can be neither read nor written.
    """

    def try_once() -> T:
        connection = open_level(directory, transcripts, prices=prices)
        if connection is None:
            connection = _sync(directory, transcripts, prices, watch)
        with translate_errors(directory / INDEX_NAME), closing(connection), snapshot(connection):
            return question(connection)

    try:
        return try_once()
    except DamagedIndex:
        # Opening looks at what most answers rest on; this one rested on something else.
        set_aside_if_damaged(directory)
        return try_once()


def _sync(
    directory: Path,
    transcripts: Sequence[Transcript],
    prices: Path | None,
    watch: "Watch | None",
) -> Connection:
    from recollect.sync.engine import sync  # noqa: PLC0415 - only when something has to be read

    sync(directory, transcripts, prices=prices, watch=watch)
    connection = open_for_reading(directory)
    if connection is None:
        raise DamagedIndex(f"The index in {directory} was written and cannot be read again.")
    return connection
