"""One transcript → the rows that the usage ledger keeps of it.

Runs in worker processes and touches no database. A file that was appended to is read from where
reading stopped; after any other change all of it is read again.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache, partial
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from recollect.errors import UnreadableInput
from recollect.locations.project_names import TRANSCRIPT_SUFFIX
from recollect.pricing import Prices
from recollect.reader.line_blocks import seek_line_start
from recollect.reader.marked_lines import NAMING_MARKS, find_marked_lines
from recollect.reader.usage_reader import read_usage_of
from recollect.records.conversation import AssistantUsage
from recollect.sources.growth import (
    FileState,
    Growth,
    find_growth,
    look_at,
    read_before,
    record_state,
)
from recollect.sources.safe_files import open_file
from recollect.sources.source import SourceFile
from recollect.sources.stamps import is_present
from recollect.sync.message_lines import Costs, MessageRow, find_first_time, gather_rows

_MAX_VALUE = 1024 * 1024

MAX_NAMING_LINES = 1000
"""With more than that, a list searches the file for them."""


class _Meta(Struct, rename="camel"):
    # Not `session.subagents`: loading all that comes with it takes longer than a small sync.
    agent_type: str | None = None


_decode = msgspec.json.Decoder(_Meta).decode


def find_agent_type(transcript: str) -> str | None:
    """Return the type of the subagent with this transcript; None if no file says it."""
    path = f"{transcript.removesuffix(TRANSCRIPT_SUFFIX)}.meta.json"
    try:
        with open_file(path) as file:
            return _decode(file.read(_MAX_VALUE) or b"").agent_type or None
    except (UnreadableInput, OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None


class Job(Struct, frozen=True):
    """A file to read: from `known.position` on if it was appended to, else whole."""

    path: str
    known: FileState = FileState()
    prices: str | None = None
    """The user's own price file."""
    wants_session: bool = False
    """Whether only its records say which session it belongs to."""
    is_subagent: bool = False
    """Whether its type is in the file beside it, and none of its lines name the session."""
    fingerprint: str = ""
    """That of the prices."""
    session: str = ""
    """The session it belongs to, if its path says so."""


class Extract(Struct, frozen=True, array_like=True):
    """What was read: the rows from byte `start` on, and where to go on."""

    path: str
    start: int = 0
    state: FileState = FileState()
    session_id: str | None = None
    agent_type: str | None = None
    began: int | None = None
    rows: list[MessageRow] = []
    problem: str | None = None
    is_gone: bool = False
    """Whether the file was no longer there, which is no problem."""
    naming: list[tuple[int, int]] | None = None
    """Offset and length of the lines from `start` on that may name the session; None if many."""


def extract_many(jobs: Sequence[Job]) -> bytes:
    """What the files of `jobs` hold, encoded: cheaper to hand over than objects are."""
    # Paths are left out: they may be no UTF-8, and whoever made the jobs knows them.
    return msgspec.msgpack.encode([replace(extract(job), path="") for job in jobs])


def decode_extracts(data: bytes, jobs: Iterable[Job]) -> list[Extract]:
    """The result of `extract_many` for the same jobs."""
    found = msgspec.msgpack.decode(data, type=list[Extract])
    return [replace(read, path=job.path) for job, read in zip(jobs, found, strict=True)]


def extract(job: Job) -> Extract:
    """Return what is in one file; a problem if it cannot be read."""
    try:
        return _read(job)
    except (UnreadableInput, OSError) as error:
        if not is_present(job.path):
            return Extract(job.path, is_gone=True)
        return Extract(job.path, problem=str(error))


def _read(job: Job) -> Extract:
    with open_file(job.path) as file:
        return _read_open(file, job)


def _read_open(file: SourceFile, job: Job) -> Extract:
    seen = look_at(file)
    began = find_first_time(file, seen.size)
    start = job.known.position
    if start and find_growth(file, job.known, seen) is not Growth.APPENDED:
        start = 0
    read = partial(read_usage_of, file, job.path, stop=seen.size, completes_last=True)
    position = _find_last_line(file, seen.size)
    if position < seen.size and next(read(position), None) is not None:
        # The last line counts, but is not ended: with what follows it may say something else.
        position = 0
    naming = _NamingLines()
    records = read(start, on_lines=None if job.is_subagent else naming.find)
    rows = gather_rows(records, load_costs(job.prices, job.fingerprint))
    return Extract(
        path=job.path,
        start=start,
        state=record_state(file, seen, position),
        session_id=_find_session(read(0)) if job.wants_session else None,
        agent_type=find_agent_type(job.path) if job.is_subagent else None,
        began=began,
        rows=rows,
        naming=naming.spans if len(naming.spans) <= MAX_NAMING_LINES else None,
    )


class _NamingLines:
    """Finds the lines that name a session, so that a list need not search the file for them."""

    def __init__(self) -> None:
        self.spans: list[tuple[int, int]] = []

    def find(self, offset: int, data: bytes, lines: range) -> None:
        """Look through whole lines; `data` is at `offset` in the file."""
        for start, end in find_marked_lines(data, lines, NAMING_MARKS):
            self.spans.append((offset + start, end - start))


def _find_last_line(file: SourceFile, size: int) -> int:
    """Where the last line begins if it has no line end; otherwise, where the file ends."""
    # Nearly always it has one, which is quicker to find out than where a line begins.
    return size if read_before(file, size).endswith(b"\n") else seek_line_start(file, size)


def _find_session(records: Iterator[AssistantUsage]) -> str | None:
    first = next(records, None)
    return first.session_id if first else None


@lru_cache(maxsize=2)
def load_costs(user_file: str | None, fingerprint: str) -> Costs:  # noqa: ARG001 - a part of the key
    """Costs by the bundled prices, under those of the user's own file if there is one."""
    return Costs(Prices.load(Path(user_file) if user_file else None))
