"""One file → what the index keeps of it. Runs in worker processes and touches no database.

Whether a file was appended to is decided here, on the open file: its start and the bytes before
the known end must be what they were. Everything else is read anew.
"""

import hashlib
import os
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache, partial
from io import FileIO
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from recollect.errors import UnreadableInput
from recollect.locations import open_regular
from recollect.pricing import Prices
from recollect.reader.chunks import seek_line_start
from recollect.reader.usage_view import read_usage_of
from recollect.records.conversation import AssistantUsage
from recollect.sync.agent_types import find_agent_type
from recollect.sync.costs import Costs
from recollect.sync.rows import MessageRow, gather_rows, to_milliseconds

EDGE = 4096
"""Bytes at the start, and before the known end, whose hash tells an appended file from another."""

HEAD = 64 * 1024
"""Bytes among which the first time is looked for."""

_TIME = re.compile(rb'"timestamp" ?: ?"([^"]{1,40})"')
_SECOND_NS = 1_000_000_000
_TICK_NS = 50_000_000
"""No clock that gives parts of a second stands still for longer."""


class Job(Struct, frozen=True):
    """A file to read: from `position` on if it grew and its edges are still those, else whole."""

    path: str
    position: int = 0
    head_hash: bytes = b""
    tail_hash: bytes = b""
    prices: str | None = None
    """The user's own price file."""
    size: int = 0
    """What it was when it was read up to `position`."""
    wants_session: bool = False
    """Whether only its records tell which session it belongs to."""
    wants_type: bool = False
    """Whether it is a subagent's, and the file beside it tells of which type."""
    edition: str = ""
    """Which state of the prices is meant."""


class Extract(Struct, frozen=True, array_like=True):
    """What was read: the rows from byte `start` on, and where to go on."""

    path: str
    start: int = 0
    position: int = 0
    size: int = 0
    mtime_ns: int = 0
    device: int = 0
    inode: int = 0
    head_hash: bytes = b""
    tail_hash: bytes = b""
    is_racy: bool = True
    session_id: str | None = None
    agent_type: str | None = None
    began: int | None = None
    rows: list[MessageRow] = []
    problem: str | None = None
    is_gone: bool = False
    """Whether the file was no longer there, which is no problem."""


def extract_many(jobs: Sequence[Job]) -> bytes:
    """What the files of `jobs` hold, encoded: cheaper to hand over than objects are."""
    # Paths are left out: they may be no UTF-8, and whoever made the jobs knows them.
    return msgspec.msgpack.encode([replace(extract(job), path="") for job in jobs])


def decode_extracts(data: bytes, jobs: Iterable[Job]) -> list[Extract]:
    """The result of `extract_many` for the same jobs."""
    found = msgspec.msgpack.decode(data, type=list[Extract])
    return [replace(read, path=job.path) for job, read in zip(jobs, found, strict=True)]


def extract(job: Job) -> Extract:
    """What one file holds; a file that cannot be read gives a problem instead."""
    try:
        return _read(job)
    except (UnreadableInput, OSError) as error:
        if not os.path.lexists(job.path):
            return Extract(job.path, is_gone=True)
        return Extract(job.path, problem=str(error))


def _read(job: Job) -> Extract:
    with open_regular(job.path) as file:
        return _read_open(file, job)


def _read_open(file: FileIO, job: Job) -> Extract:
    state = os.fstat(file.fileno())
    is_racy = _is_racy(state.st_mtime_ns, time.time_ns())
    position, head_hash, tail_hash = _find_edges(file, state.st_size)
    began = _find_beginning(file, state.st_size)
    start = job.position if _is_grown(file, state.st_size, job) else 0
    read = partial(read_usage_of, file, job.path, stop=state.st_size, completes_last=True)
    if position < state.st_size and next(read(position), None) is not None:
        # The last line counts, but is not ended: with what follows it may say something else.
        position = 0
    return Extract(
        path=job.path,
        start=start,
        position=position,
        size=state.st_size,
        mtime_ns=state.st_mtime_ns,
        device=state.st_dev,
        inode=state.st_ino,
        head_hash=head_hash,
        tail_hash=tail_hash,
        is_racy=is_racy,
        session_id=_find_session(read(0)) if job.wants_session else None,
        agent_type=find_agent_type(job.path) if job.wants_type else None,
        began=began,
        rows=gather_rows(read(start), load_costs(job.prices, job.edition)),
    )


def _is_racy(mtime_ns: int, now: int) -> bool:
    """Whether a file written so shortly before could be written again at the same time."""
    step = 2 * _SECOND_NS if mtime_ns % _SECOND_NS == 0 else _TICK_NS
    return abs(now - mtime_ns) <= step


def _is_grown(file: FileIO, size: int, job: Job) -> bool:
    if not job.position or size <= job.size:
        return False
    return _hash_edges(file, job.position) == (job.head_hash, job.tail_hash)


def _find_edges(file: FileIO, size: int) -> tuple[int, bytes, bytes]:
    """Where the last line that is not ended begins, and the hashes of the edges up to there."""
    # Nearly always the file ends with a line, and the bytes to be hashed show it.
    if _read_before(file, size).endswith(b"\n"):
        return size, *_hash_edges(file, size)
    position = seek_line_start(file, size)
    return position, *_hash_edges(file, position)


def _find_beginning(file: FileIO, size: int) -> int | None:
    """The first time in the file: a fork begins with one of its own, before those it copied."""
    file.seek(0)
    # A string within a record would have its quotes escaped, so that this is always a field.
    found = _TIME.search(file.read(min(HEAD, size)))
    return to_milliseconds(found[1].decode("ascii", "replace")) if found else None


def _hash_edges(file: FileIO, position: int) -> tuple[bytes, bytes]:
    """Hashes of the first bytes of `file` and of those before `position`."""
    return _hash(_read_before(file, min(EDGE, position))), _hash(_read_before(file, position))


def _read_before(file: FileIO, position: int) -> bytes:
    file.seek(max(position - EDGE, 0))
    return file.read(min(EDGE, position))


def _hash(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=12).digest()


def _find_session(records: Iterator[AssistantUsage]) -> str | None:
    first = next(records, None)
    return first.session_id if first else None


@lru_cache(maxsize=2)
def load_costs(user_file: str | None, edition: str) -> Costs:  # noqa: ARG001 - a part of the key
    """Costs by the bundled prices, under those of the user's own file if there is one."""
    return Costs(Prices.load(Path(user_file) if user_file else None))
