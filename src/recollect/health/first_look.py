"""What there is, at a first look: how much, how old, what it costs to index, what is about to go.

Goes by names, sizes and times of files, so that it is there at once however much there is. A file's
own time tells when it was last written, or copied, so that for the age of a session its first
records are read; and the few that go next are opened for their titles.
"""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

from msgspec import Struct

from recollect.errors import UnreadableInput
from recollect.health.retention import SOON, Expiry, list_expiries, read_retention, select_until
from recollect.library.listings import read_listing
from recollect.library.origins import Surroundings
from recollect.locations import Transcript, TranscriptKind
from recollect.locations.transcript_files import name_of
from recollect.reader import read_transcript
from recollect.session.times import parse_time

INDEX_BYTES_PER_SECOND: Final = 30_000_000
"""How much is indexed in a second, texts included: 38 MB on two cores of a server of 2023."""

HEAD_BYTES: Final = 64 << 10
"""How far into a session its first time is looked for; 41 KB is the longest way to one seen."""

MOST_NAMED: Final = 3
"""Sessions about to go that are named."""


class Expiring(Struct, frozen=True, kw_only=True):
    """A session that Claude Code deletes next."""

    id: str
    title: str | None
    at: datetime


class FirstLook(Struct, frozen=True, kw_only=True):
    """What is below all roots."""

    sessions: int
    projects: int
    bytes: int
    oldest: float | None
    """When the first of all sessions began, in seconds since 1970."""
    index_seconds: float
    """How long it takes to index all of it, roughly."""
    retention_days: float
    """After how many days without a change Claude Code deletes a session; the least of all."""
    expiring: int
    """Sessions that are deleted within the next days."""
    next_to_go: tuple[Expiring, ...]
    """The first of them."""


def look_first(
    roots: Sequence[Path], transcripts: Sequence[Transcript], now: datetime
) -> FirstLook:
    """What there is in `transcripts`, which were found below `roots`."""
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
        oldest=min(map(_find_begin, sessions), default=None),
        index_seconds=size / INDEX_BYTES_PER_SECOND,
        retention_days=min((each.days for each in retentions.values()), default=0),
        expiring=len(soon),
        next_to_go=tuple(map(_name, soon[:MOST_NAMED])),
    )


def _find_begin(transcript: Transcript) -> float:
    """When a session began, by its first record with a time; by its file if it tells none."""
    written = transcript.mtime_ns / 1e9
    try:
        for record in read_transcript(transcript.path, stop=HEAD_BYTES):
            moment = parse_time(getattr(record, "timestamp", None))
            if moment is not None:
                return min(moment.timestamp(), written)
    except UnreadableInput:
        return written
    return written


def _name(expiry: Expiry) -> Expiring:
    listing = read_listing(expiry.transcript, Surroundings())
    title = listing.title if listing else None
    return Expiring(id=name_of(expiry.transcript), title=title, at=expiry.at)
