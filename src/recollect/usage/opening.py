"""The ledger, level with the files, whatever that takes.

When nothing changed it costs one look at each file and no more: whatever reads transcripts is
imported only when one has to be read. Where the index cannot be written, the files are counted in
memory by the same rules, so that the only thing missing is what Claude Code has deleted. Questions
are functions, because one that meets damage is asked again of an index that was built anew.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from recollect.errors import IndexFailure
from recollect.locations import Transcript
from recollect.store.catalogue import Names
from recollect.store.failures import NewerIndex
from recollect.store.usage_queries import Ledger, open_in_memory
from recollect.sync.answers import ask

if TYPE_CHECKING:
    from recollect.sync.engine import Watch

T = TypeVar("T")


def ask_ledger(
    directory: Path,
    transcripts: Sequence[Transcript],
    question: Callable[[Ledger], T],
    *,
    prices: Path | None = None,
    watch: Watch | None = None,
) -> tuple[T, str | None]:
    """The answer of the index in `directory`, brought level, and why it could not be used.

    Without it, the answer is that of the files that are there. Raises `NewerIndex` when a newer
    program keeps an index there: what that one remembers is not to be left out silently.
    """
    try:
        answer = ask(
            directory,
            transcripts,
            lambda connection: question(Ledger(connection)),
            prices=prices,
            watch=watch,
        )
    except NewerIndex:
        raise
    except IndexFailure as error:
        return question(count_in_memory(transcripts, prices=prices, watch=watch)), str(error)
    return answer, None


def count_in_memory(
    transcripts: Sequence[Transcript],
    *,
    prices: Path | None = None,
    watch: Watch | None = None,
) -> Ledger:
    """The ledger of `transcripts` alone, kept nowhere."""
    from recollect.sync.booking import Booking  # noqa: PLC0415 - only when something has to be read
    from recollect.sync.changes import make_plan  # noqa: PLC0415
    from recollect.sync.editions import find_edition  # noqa: PLC0415
    from recollect.sync.engine import Progress  # noqa: PLC0415
    from recollect.sync.extract import extract  # noqa: PLC0415
    from recollect.sync.reading import make_jobs  # noqa: PLC0415

    connection, edition = open_in_memory(), find_edition(prices)
    booking = Booking(connection, Names(connection), prices, edition=edition, is_first=True)
    tasks = make_plan(transcripts, {}).tasks
    jobs = make_jobs(tasks, prices, edition)
    total = sum(transcript.size for transcript in transcripts)
    done = 0
    for number, (task, job) in enumerate(zip(tasks, jobs, strict=True), start=1):
        booking.add(task, extract(job))
        done += task.transcript.size
        if watch is not None:
            watch(Progress(number, len(tasks), done, total))
    booking.settle()
    return Ledger(connection)
