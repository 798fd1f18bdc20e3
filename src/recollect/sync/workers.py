"""Read files one after the other, or on all cores if there is enough to read."""

import os
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path

from msgspec import Struct

from recollect.redact.own_rules import OwnRules, find_own_rules, use_own_rules
from recollect.sources.growth import FileState, new_digest
from recollect.sources.source import Source, list_mounts, mount_all
from recollect.sync.index_access import ReadTask, to_state
from recollect.sync.usage_counting import Extract, Job, decode_extracts, extract, extract_many
from recollect.worker_processes import begin_worker, count_cores, is_forking, run_on_all_cores

_NICENESS = 5

Batches = Sequence[Sequence[Job]]


def begin_reading(mounts: Mapping[str, Source], rules: OwnRules) -> None:
    """Set up a worker process, with the same sources and the same rules for secrets."""
    begin_worker()
    mount_all(mounts)
    use_own_rules(lambda: rules.stated)
    if hasattr(os, "nice"):
        # All workers wait for the writing process, so it has priority if there are few cores.
        os.nice(_NICENESS)


def read_batches(batches: Batches, inherited: Sequence[int]) -> Iterator[list[Extract]]:
    """Yield the contents of all files in batches as they arrive; forks close `inherited` files."""
    # Loaded here once instead of in every forked process.
    new_digest()
    work, begin = (
        partial(_extract_batch, batches),
        partial(begin_reading, list_mounts(), find_own_rules()),
    )
    results = run_on_all_cores(work, len(batches), begin=begin, inherited=inherited)
    with closing(results):
        for number, data in results:
            yield decode_extracts(data, batches[number])


def _extract_batch(batches: Batches, number: int) -> bytes:
    return extract_many(batches[number])


SLOW_START = 4
"""Factor for the amount that justifies workers if they have to load the program first."""


class Limits(Struct, frozen=True):
    """How the work is divided."""

    pool_bytes: int = 24 * 1024 * 1024
    """Below this, starting worker processes costs more time than they save."""
    batch_bytes: int = 4 * 1024 * 1024
    """Bytes that a worker reads at a time, small enough that all finish at about the same time."""
    commit_bytes: int = 128 * 1024 * 1024
    """Bytes to read between two commits, which a kill would lose. Writing them must not take longer
    than the other batches last."""


def count_bytes(task: ReadTask) -> int:
    """Estimate how much of a file must be read, from its size."""
    size, known = task.transcript.size, task.known
    return size - known.position if known and size > known.size else size


def make_jobs(tasks: Sequence[ReadTask], prices: Path | None, fingerprint: str) -> list[Job]:
    """Return the job of each file."""
    return [_make_job(task, prices, fingerprint) for task in tasks]


def iter_extracts(
    jobs: Sequence[Job], sizes: Sequence[int], limits: Limits, inherited: Sequence[int]
) -> Generator[Extract, None, None]:
    """Yield the extracts of files as they arrive; forked workers close the files `inherited`."""
    if sum(sizes) >= limits.pool_bytes:
        factor = 1 if is_forking() else SLOW_START
        if sum(sizes) >= factor * limits.pool_bytes and count_cores() > 1:
            batches = make_batches(jobs, sizes, limits.batch_bytes)
            for extracts in read_batches(batches, inherited):
                yield from extracts
            return
    for job in jobs:
        yield extract(job)


def make_batches(jobs: Sequence[Job], sizes: Sequence[int], batch_bytes: int) -> list[list[Job]]:
    """Return jobs in batches of about equal work, largest session first.

    A session and its subagents stay together: they repeat each other's messages, and messages
    written in one transaction are counted once.
    """
    weights: Counter[str] = Counter()
    for job, size in zip(jobs, sizes, strict=True):
        weights[job.session or job.path] += size

    def find_rank(number: int) -> tuple[int, str, int]:
        session = jobs[number].session or jobs[number].path
        return -weights[session], session, -sizes[number]

    order = sorted(range(len(jobs)), key=find_rank)
    batches: list[list[Job]] = []
    room = 0
    for number in order:
        if room <= 0:
            batches.append([])
            room = batch_bytes
        batches[-1].append(jobs[number])
        room -= sizes[number]
    return batches


def _make_job(task: ReadTask, prices: Path | None, fingerprint: str) -> Job:
    known = task.known
    return Job(
        task.transcript.file,
        to_state(known) if known else FileState(),
        str(prices) if prices else None,
        wants_session=task.transcript.session_id is None,
        is_subagent=task.transcript.agent_id is not None,
        fingerprint=fingerprint,
        session=task.transcript.session_id or "",
    )
