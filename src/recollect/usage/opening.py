"""The ledger, level with the files, whatever that takes.

When nothing changed it costs one look at each file and no more: whatever reads transcripts is
imported only when one has to be read. Where the index cannot be written, the files are counted in
memory by the same rules, so that the only thing missing is what Claude Code has deleted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from recollect.errors import IndexFailure
from recollect.locations import Transcript
from recollect.store.catalogue import Names
from recollect.store.database import Connection, open_for_reading
from recollect.store.failures import DamagedIndex
from recollect.store.usage_queries import Ledger, open_in_memory
from recollect.sync import level

if TYPE_CHECKING:
    from recollect.sync.engine import Progress

Watch = Callable[["Progress"], None]


class Opened(Struct, frozen=True):
    """A ledger, and what has to be said about it."""

    ledger: Ledger
    failure: str | None = None
    """Why the index could not be used; the ledger is of the files that are there."""


def open_level(
    directory: Path, transcripts: Sequence[Transcript], watch: Watch | None = None
) -> Opened:
    """The ledger of the index in `directory`, brought level with `transcripts`."""
    try:
        connection = level.open_level(directory, transcripts)
        ledger = None if connection is None else _load(connection)
        return Opened(ledger or _sync(directory, transcripts, watch))
    except IndexFailure as error:
        return Opened(count_in_memory(transcripts, watch), str(error))


def _load(connection: Connection) -> Ledger | None:
    """The ledger; None if it is damaged, which the next sync finds too and mends."""
    ledger = Ledger(connection)
    try:
        ledger.load()
    except DamagedIndex:
        ledger.close()
        return None
    return ledger


def _sync(directory: Path, transcripts: Sequence[Transcript], watch: Watch | None) -> Ledger:
    from recollect.sync.engine import sync  # noqa: PLC0415 - only when something has to be read

    sync(directory, transcripts, watch=watch)
    connection = open_for_reading(directory)
    ledger = None if connection is None else _load(connection)
    if ledger is None:
        raise IndexFailure(f"The index in {directory} cannot be read.")
    return ledger


def count_in_memory(transcripts: Sequence[Transcript], watch: Watch | None = None) -> Ledger:
    """The ledger of `transcripts` alone, kept nowhere."""
    from recollect.sync.booking import Booking  # noqa: PLC0415 - only when something has to be read
    from recollect.sync.changes import make_plan  # noqa: PLC0415
    from recollect.sync.editions import find_edition  # noqa: PLC0415
    from recollect.sync.engine import Progress  # noqa: PLC0415
    from recollect.sync.extract import extract  # noqa: PLC0415
    from recollect.sync.reading import make_jobs  # noqa: PLC0415

    connection, edition = open_in_memory(), find_edition()
    booking = Booking(connection, Names(connection), edition=edition, is_first=True)
    tasks = make_plan(transcripts, {}).tasks
    jobs = make_jobs(tasks, None, edition)
    total = sum(transcript.size for transcript in transcripts)
    done = 0
    for number, (task, job) in enumerate(zip(tasks, jobs, strict=True), start=1):
        booking.add(task, extract(job))
        done += task.transcript.size
        if watch is not None:
            watch(Progress(number, len(tasks), done, total))
    booking.settle()
    return Ledger(connection)
