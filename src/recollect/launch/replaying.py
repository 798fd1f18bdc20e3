"""Timing of a replay: the pause before each record of a session, or message of a saved stream.

Merges a session with its subagents by timestamp and shortens long pauses; it neither waits nor
renders. Files are read while they are played, so memory does not grow with their length. Most
messages of a stream have no timestamp; pieces of a reply follow each other closely, as they did.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from heapq import merge
from pathlib import Path
from typing import Final, Generic, NamedTuple, TypeVar

from recollect.library.opening import find_subagent_files
from recollect.library.processes import read_head
from recollect.locations import Transcript, TranscriptKind
from recollect.locations.transcript_files import name_of
from recollect.reader import StreamItem, read_stream, read_transcript
from recollect.records.envelope import Chain, Record
from recollect.records.stream.message_decoding import looks_like_stream, looks_like_transcript
from recollect.records.stream.messages import ConversationMessage
from recollect.records.stream.partial_messages import ContentBlockDelta, StreamEvent
from recollect.session.times import parse_time

MAX_PAUSE: Final = 5.0
"""Longest pause in seconds: people go to lunch, and sessions are resumed after days."""

PIECE_SECONDS: Final = 0.02
MESSAGE_SECONDS: Final = 0.3
_HEAD: Final = 256 * 1024
_FIRST_LINES: Final = 20
_NO_TIME: Final = datetime.min.replace(tzinfo=UTC)

T = TypeVar("T")


class TimedItem(NamedTuple, Generic[T]):
    """An item and when it happened, or if that is unknown, how long after the one before it."""

    moment: datetime | None
    gap: float
    item: T


class ReplayItem(NamedTuple):
    """A record and the transcript that holds it."""

    transcript: Transcript
    record: Record


def iter_paced(timed: Iterable[TimedItem[T]], speed: float) -> Iterator[tuple[float, T]]:
    """Yield each item with the seconds to wait before it, `speed` times as fast."""
    at: datetime | None = None
    spent = 0.0
    for moment, gap, item in timed:
        wait = gap
        if moment is None:
            spent += gap
        else:
            wait = max((moment - at).total_seconds() - spent, 0.0) if at else 0.0
            at, spent = max(at or moment, moment), 0.0
        yield min(wait, MAX_PAUSE) / speed, item


def is_stream_file(path: Path) -> bool:
    """Return whether the file at `path` is a saved stream rather than a transcript."""
    lines = (read_head(path, _HEAD) or b"").split(b"\n", _FIRST_LINES)
    first = lines[:_FIRST_LINES]
    return any(map(looks_like_stream, first)) and not any(map(looks_like_transcript, first))


def iter_session(transcript: Transcript) -> Iterator[TimedItem[ReplayItem]]:
    """Yield the records of a session and of its subagents in the order they happened."""
    children: Sequence[Transcript] = ()
    if transcript.kind is TranscriptKind.SESSION:
        children = find_subagent_files(transcript.project_dir, name_of(transcript))
    files = [_iter_file(each) for each in (transcript, *children)]
    # Only times are compared: at the same time, the session's own record comes first.
    for moment, played in merge(*files, key=lambda pair: pair[0]):
        yield TimedItem(None if moment == _NO_TIME else moment, 0.0, played)


def iter_stream(path: Path) -> Iterator[TimedItem[StreamItem]]:
    """Yield the messages of a saved stream."""
    for item in read_stream(path):
        match item:
            case ConversationMessage(timestamp=time):
                yield TimedItem(parse_time(time), MESSAGE_SECONDS, item)
            case StreamEvent(event=ContentBlockDelta()):
                yield TimedItem(None, PIECE_SECONDS, item)
            case _:
                yield TimedItem(None, 0.0, item)


def _iter_file(transcript: Transcript) -> Iterator[tuple[datetime, ReplayItem]]:
    """Yield records with times that never decrease: a file is played in its own order."""
    at = _NO_TIME
    for record in read_transcript(transcript.path):
        moment = parse_time(record.timestamp) if isinstance(record, Chain) else None
        at = max(at, moment or at)
        yield at, ReplayItem(transcript, record)
