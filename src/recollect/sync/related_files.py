"""Count some sessions before the ledger exists, reading only the files that affect them.

Which copy of a message counts, and with which figures, depends on all files that contain the
message. Searching files for message ids takes a tenth of the time of reading them. If the index has
already counted files, it is updated instead, because it may include deleted copies.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from recollect.errors import UnreadableInput
from recollect.locations import Transcript
from recollect.reader.marked_lines import ALIKE_BYTES, contains_any
from recollect.records.token_usage import is_unique
from recollect.sources.safe_files import open_file
from recollect.store import database, ledger_writer, usage_queries
from recollect.sync.index_access import find_price_fingerprint, has_counted_files, make_plan
from recollect.sync.sync_engine import load_rule, to_reading
from recollect.sync.usage_counting import extract
from recollect.sync.workers import Limits, make_jobs

_PLAIN_ID: Final = re.compile(r"[A-Za-z0-9_\-]{1,100}")
"""Spelled the same in every file: nothing in it is escaped in JSON."""

_MAX_PREFIXES: Final = 4
"""Maximum number of distinct prefixes of ids; each is searched for separately."""


def count_related(
    directory: Path,
    transcripts: Sequence[Transcript],
    paths: Collection[str],
    *,
    prices: Path | None = None,
    limits: Limits = Limits(),
) -> database.Connection | None:
    """Return an in-memory index with the same counts for the sessions of `paths` as a full one.

    None if the index in `directory` should be updated instead: it has counted files, there is
    little to read, or the ids are ambiguous.
    """
    if sum(each.size for each in transcripts) < limits.pool_bytes or has_counted_files(directory):
        return None
    sessions = {(each.project, each.session_id) for each in transcripts if each.file in paths}
    projects = {project for project, _ in sessions}
    # The session of some files is only known from their records.
    sessions |= {(project, None) for project in projects}
    members = [each for each in transcripts if (each.project, each.session_id) in sessions]
    connection = usage_queries.open_in_memory()
    fingerprint = find_price_fingerprint(prices)
    writer = ledger_writer.LedgerWriter(connection, load_rule(prices, fingerprint))
    writer.write(_iter_readings(members, prices, fingerprint), limits.commit_bytes)
    ids = usage_queries.UsageQueries(connection).list_message_ids()
    if not ids:
        return connection
    if not _are_distinctive(ids):
        return None
    words = frozenset(each.encode() for each in ids)
    known = {each.file for each in members}
    others = [each for each in transcripts if each.file not in known and _contains_any(each, words)]
    writer.write(_iter_readings(others, prices, fingerprint), limits.commit_bytes)
    return connection


def _iter_readings(
    transcripts: Iterable[Transcript], prices: Path | None, fingerprint: str
) -> Iterator[ledger_writer.FileReading]:
    tasks = make_plan(transcripts, {}).tasks
    for task, job in zip(tasks, make_jobs(tasks, prices, fingerprint), strict=True):
        yield to_reading(task, extract(job))


def _are_distinctive(ids: Collection[str]) -> bool:
    """Return whether a search for these ids is quick and finds all files with their messages."""
    return (
        all(is_unique(each) and _PLAIN_ID.fullmatch(each) for each in ids)
        and len({each[:ALIKE_BYTES] for each in ids}) <= _MAX_PREFIXES
    )


def _contains_any(transcript: Transcript, words: Collection[bytes]) -> bool:
    try:
        with open_file(transcript.file) as file:
            return contains_any(file, words, file.find_status().st_size)
    except (UnreadableInput, OSError):
        # Nothing in it is counted.
        return False
