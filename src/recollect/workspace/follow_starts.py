"""Where to begin following a session at a place in it: an offset in each of its files.

The file that contains the place starts with the record there, or with the first record of the turn.
The other files of the session start at the same time, so that subagents working then are followed
too.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime

from msgspec import Struct

from recollect.errors import NothingFound
from recollect.library.opening import open_transcript
from recollect.live.followed_files import SessionScope
from recollect.live.live_events import Cursor, Mark, encode_cursor, path_key
from recollect.locations.place_names import PlaceName
from recollect.reader.transcript_reader import read_transcript
from recollect.records.envelope import Record, Span, Torn
from recollect.session.session import Session
from recollect.session.times import parse_time
from recollect.sources.growth import digest_start
from recollect.sources.safe_files import open_file
from recollect.workspace.session_places import find_span, locate
from recollect.workspace.session_queries import FoundPlace


class FollowStart(Struct, frozen=True):
    """Where to begin in the files of a session."""

    offsets: Mapping[str, int]
    """The offset of the first record to report, by the path of the file."""

    def encode(self) -> str:
        """Encode the position for `follow`, which then reports these records and all after them."""
        marks = {path_key(path): _make_mark(path, each) for path, each in self.offsets.items()}
        return encode_cursor(Cursor(0, marks))


def find_start(found: FoundPlace) -> FollowStart:
    """Return where to begin at a place; at the start if it is the session as a whole.

    Raises NothingFound if the session has no such turn or record.
    """
    files = [each.file for each in SessionScope(found.transcript).scan().transcripts]
    span = _find_first_span(open_transcript(found.transcript), found.place)
    if span is None:
        return FollowStart(dict.fromkeys(files, 0))
    moment = next(_iter_times(span.file, span.offset), None)
    return FollowStart(
        {each: span.offset if each == span.file else _find_offset(each, moment) for each in files}
    )


def _find_first_span(session: Session, place: PlaceName) -> Span | None:
    location = locate(session, place)
    if location is None:
        return None
    if place.record:
        for name in (session.find_anchor(place.record, place.offset), location.innermost.anchor):
            try:
                return find_span(session, name)
            except NothingFound:
                continue
    records = (
        record
        for turn in session.turns[location.turn :]
        for message in turn.messages
        for record in message.records
    )
    return next((record.span for record in records if record.span is not None), None)


def _iter_times(path: str, start: int) -> Iterator[datetime]:
    for record in read_transcript(path, start):
        if moment := _read_time(record):
            yield moment


def _find_offset(path: str, moment: datetime | None) -> int:
    """Return the offset of the first record that is not older, or the end of the last line."""
    end = 0
    for record in read_transcript(path):
        time = _read_time(record)
        is_later = moment is not None and time is not None and time >= moment
        if record.span is None:
            continue
        if is_later or isinstance(record, Torn):
            return record.span.offset
        end = record.span.end
    return end


def _read_time(record: Record) -> datetime | None:
    return parse_time(getattr(record, "timestamp", None))


def _make_mark(path: str, offset: int) -> Mark:
    with open_file(path) as file:
        return Mark(offset, digest_start(file, offset))
