"""When each record of a session, or each message of a kept stream, is to be played again.

Knows the times that they carry, merges a session with its subagents by them, and cuts long pauses;
refuses to wait or to draw. Files are read as they are played, so that length costs nothing. Most
messages of a stream carry no time: pieces of a reply follow each other closely, as they did.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from heapq import merge
from pathlib import Path
from typing import Final, Generic, NamedTuple, TypeVar

from recollect.library.family import find_subagent_files
from recollect.library.small_files import read_head
from recollect.locations import Transcript, TranscriptKind
from recollect.locations.transcript_files import name_of
from recollect.reader import StreamItem, read_stream, read_transcript
from recollect.records.envelope import Chain, Record
from recollect.records.stream.conversation import ConversationMessage
from recollect.records.stream.detection import looks_like_stream
from recollect.records.stream.events import ContentBlockDelta, StreamEvent
from recollect.session.times import parse_time

LONGEST_PAUSE: Final = 5.0
"""Seconds of a pause that are played: people go to lunch, and sessions are resumed after days."""

PIECE_SECONDS: Final = 0.02
MESSAGE_SECONDS: Final = 0.3
_HEAD: Final = 256 * 1024
_FIRST_LINES: Final = 20
_LONG_AGO: Final = datetime.min.replace(tzinfo=UTC)

T = TypeVar("T")


class Timed(NamedTuple, Generic[T]):
    """Something, when it happened if that is known, and else how long after the one before it."""

    moment: datetime | None
    gap: float
    what: T


class Played(NamedTuple):
    """A record and the transcript that holds it."""

    transcript: Transcript
    record: Record


def pace(timed: Iterable[Timed[T]], speed: float) -> Iterator[tuple[float, T]]:
    """Yield what happened with the seconds to wait before each, `speed` times as fast."""
    at: datetime | None = None
    spent = 0.0
    for moment, gap, what in timed:
        wait = gap
        if moment is None:
            spent += gap
        else:
            wait = max((moment - at).total_seconds() - spent, 0.0) if at else 0.0
            at, spent = max(at or moment, moment), 0.0
        yield min(wait, LONGEST_PAUSE) / speed, what


def is_stream_file(path: Path) -> bool:
    """Whether the file at `path` holds what a client printed, rather than a transcript."""
    lines = (read_head(path, _HEAD) or b"").split(b"\n", _FIRST_LINES)
    return any(map(looks_like_stream, lines[:_FIRST_LINES]))


def iter_session(transcript: Transcript) -> Iterator[Timed[Played]]:
    """Yield the records of a session and of its subagents, in the order in which they happened."""
    children: Sequence[Transcript] = ()
    if transcript.kind is TranscriptKind.SESSION:
        children = find_subagent_files(transcript.project_dir, name_of(transcript))
    files = [_iter_file(each) for each in (transcript, *children)]
    # Only times are compared: of two records at the same time the session's own comes first.
    for moment, played in merge(*files, key=lambda pair: pair[0]):
        yield Timed(None if moment == _LONG_AGO else moment, 0.0, played)


def iter_stream(path: Path) -> Iterator[Timed[StreamItem]]:
    """Yield the messages of a kept stream."""
    for item in read_stream(path):
        match item:
            case ConversationMessage(timestamp=time):
                yield Timed(parse_time(time), MESSAGE_SECONDS, item)
            case StreamEvent(event=ContentBlockDelta()):
                yield Timed(None, PIECE_SECONDS, item)
            case _:
                yield Timed(None, 0.0, item)


def _iter_file(transcript: Transcript) -> Iterator[tuple[datetime, Played]]:
    """Yield records at their times, which never go back: a file is played in its order."""
    at = _LONG_AGO
    for record in read_transcript(transcript.path):
        moment = parse_time(record.timestamp) if isinstance(record, Chain) else None
        at = max(at, moment or at)
        yield at, Played(transcript, record)
