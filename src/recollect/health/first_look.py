"""Overview for the first run: how many sessions there are, how old they are, which expire soon.

Uses names, sizes and modification times of files, so that it is fast however many there are. Only
the first records of each session are read for its start time, because files may have been copied,
and the few sessions that expire next are opened for their titles.
"""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

from msgspec import Struct

from recollect.errors import UnreadableInput
from recollect.health.retention import SOON, Expiry, list_expiries, read_retention, select_until
from recollect.library.listings import SessionContext, read_listing
from recollect.locations import Transcript, TranscriptKind
from recollect.locations.transcript_files import name_of
from recollect.reader import read_transcript
from recollect.session.times import parse_time

INDEX_BYTES_PER_SECOND: Final = 30_000_000
"""Indexing speed, including texts; 38 MB/s were measured on two cores of a 2023 server."""

HEAD_BYTES: Final = 64 << 10
"""How far to look for the first timestamp of a session; the farthest one seen was at 41 KB."""

MAX_NAMED: Final = 3
"""Maximum number of expiring sessions that are named."""


class ExpiringSession(Struct, frozen=True, kw_only=True):
    """A session that Claude Code will delete soon."""

    id: str
    title: str | None
    at: datetime


class FirstLook(Struct, frozen=True, kw_only=True):
    """Figures of all transcripts below all roots."""

    sessions: int
    projects: int
    bytes: int
    oldest: float | None
    """Start of the oldest session, in seconds since 1970."""
    index_seconds: float
    """Estimated time to index everything."""
    retention_days: float
    """Days without a change until Claude Code deletes a session; the shortest of all roots."""
    expiring: int
    """Number of sessions that will be deleted within `retention.SOON`."""
    next_expiring: tuple[ExpiringSession, ...]
    """The first `MAX_NAMED` of them."""


def take_first_look(
    roots: Sequence[Path], transcripts: Sequence[Transcript], now: datetime
) -> FirstLook:
    """Return an overview of `transcripts`, which were found below `roots`."""
    sessions = [each for each in transcripts if each.kind is TranscriptKind.SESSION]
    size = sum(each.size for each in transcripts)
    retentions = {root: read_retention(root) for root in roots}
    soon = [
        expiry
        for root, retention in retentions.items()
        for expiry in select_until(
            list_expiries([each for each in sessions if each.path.is_relative_to(root)], retention),
            now + SOON,
        )
    ]
    soon.sort(key=lambda expiry: expiry.at)
    return FirstLook(
        sessions=len(sessions),
        projects=len({each.project_dir for each in sessions}),
        bytes=size,
        oldest=min(map(_find_start, sessions), default=None),
        index_seconds=size / INDEX_BYTES_PER_SECOND,
        retention_days=min((each.days for each in retentions.values()), default=0),
        expiring=len(soon),
        next_expiring=tuple(map(_describe_expiring, soon[:MAX_NAMED])),
    )


def _find_start(transcript: Transcript) -> float:
    """Return the time of the first record that has one, else the modification time of the file."""
    modified = transcript.mtime_ns / 1e9
    try:
        for record in read_transcript(transcript.path, stop=HEAD_BYTES):
            moment = parse_time(getattr(record, "timestamp", None))
            if moment is not None:
                return min(moment.timestamp(), modified)
    except UnreadableInput:
        return modified
    return modified


def _describe_expiring(expiry: Expiry) -> ExpiringSession:
    listing = read_listing(expiry.transcript, SessionContext())
    title = listing.title if listing else None
    return ExpiringSession(id=name_of(expiry.transcript), title=title, at=expiry.at)
