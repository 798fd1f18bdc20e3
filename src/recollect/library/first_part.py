"""The beginning of a session, for whoever cannot wait for all of it.

Knows the first megabytes of a transcript and nothing behind them, so that the first screen of a
session comes as quickly however long it is. What depends on the rest is provisional: where the
conversation leads, answers that stand further down, and subagents, which are not read at all.
"""

from typing import Final

from msgspec import Struct

from recollect.locations import Transcript, open_regular
from recollect.reader import TranscriptDecoder
from recollect.session.metadata import Origins
from recollect.session.session import Session

FIRST_BYTES: Final = 3 * 512 * 1024
"""Room for some fifteen turns of usual size: more than a screen, and read in a moment."""


class FirstPart(Struct, frozen=True):
    """A session made from the beginning of its transcript."""

    session: Session
    is_whole: bool

    @property
    def turn_count(self) -> int:
        """The turns that can be shown: the last one of a part goes on behind it."""
        count = len(self.session.turns)
        return count if self.is_whole else max(count - 1, min(count, 1))


def read_first_part(transcript: Transcript, most: int = FIRST_BYTES) -> FirstPart:
    """The session in the first `most` bytes of a transcript; raises UnreadableInput."""
    decoder = TranscriptDecoder(transcript.file)
    with open_regular(transcript.path) as file:
        data = file.read(most)
        is_whole = not file.read(1)
    records = list(decoder.feed(data))
    if is_whole:
        records += decoder.finish()
    origins = Origins(id=transcript.session_id, path=transcript.file)
    return FirstPart(Session(records, origins), is_whole)
