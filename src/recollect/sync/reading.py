"""Which files are read how: one after the other, or on all cores when there is enough to read."""

from collections.abc import Generator, Sequence
from pathlib import Path

from msgspec import Struct

from recollect.sync.changes import Task
from recollect.sync.extract import Extract, Job, extract

SLOW_START = 4
"""How many times more there must be to read where a worker has to load the program first."""


class Limits(Struct, frozen=True):
    """How the work is cut up."""

    pool_bytes: int = 24 * 1024 * 1024
    """Below this, starting other processes costs more than they save."""
    batch_bytes: int = 4 * 1024 * 1024
    """What a worker reads at a time: small enough to share the last of it fairly."""
    commit_bytes: int = 128 * 1024 * 1024
    """What is read between two commits: all that a kill can cost, and what is booked at a time,
    which should not take longer than workers can go on without being asked for more."""


def count_bytes(task: Task) -> int:
    """How much of a file will have to be read, going by its size."""
    size, known = task.transcript.size, task.known
    return size - known.position if known and size > known.size else size


def make_jobs(tasks: Sequence[Task], prices: Path | None, edition: str) -> list[Job]:
    """What is to be read of each file."""
    return [_make_job(task, prices, edition) for task in tasks]


def iter_extracts(
    jobs: Sequence[Job], sizes: Sequence[int], limits: Limits, inherited: Sequence[int]
) -> Generator[Extract, None, None]:
    """What the files hold, as it comes; forked workers close the files `inherited`."""
    if sum(sizes) >= limits.pool_bytes:
        from recollect.sync import workers  # noqa: PLC0415 - costs more than a small sync

        factor = 1 if workers.is_forking() else SLOW_START
        if sum(sizes) >= factor * limits.pool_bytes and workers.count_cores() > 1:
            batches = make_batches(jobs, sizes, limits.batch_bytes)
            for extracts in workers.read_batches(batches, inherited):
                yield from extracts
            return
    for job in jobs:
        yield extract(job)


def make_batches(jobs: Sequence[Job], sizes: Sequence[int], batch_bytes: int) -> list[list[Job]]:
    """Files by size, largest first, in batches of about equal work."""
    order = sorted(range(len(jobs)), key=lambda number: -sizes[number])
    batches: list[list[Job]] = []
    room = 0
    for number in order:
        if room <= 0:
            batches.append([])
            room = batch_bytes
        batches[-1].append(jobs[number])
        room -= sizes[number]
    return batches


def _make_job(task: Task, prices: Path | None, edition: str) -> Job:
    known = task.known
    return Job(
        task.transcript.file,
        known.position if known else 0,
        known.head_hash if known else b"",
        known.tail_hash if known else b"",
        str(prices) if prices else None,
        size=known.size if known else 0,
        wants_session=task.transcript.session_id is None,
        wants_type=task.transcript.agent_id is not None,
        edition=edition,
    )
