"""Notes on the replies of transcripts, from the index; only changed files are read again."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from recollect.errors import UnreadableInput
from recollect.locations import Transcript
from recollect.reader import read_transcript
from recollect.session.reply_notes import ReplyNote, list_reply_notes
from recollect.sources.stamps import Stamp
from recollect.store.reply_notes import StoredNotes, load_notes, save_notes
from recollect.sync.cached_values import OnFileRead, find_current, read_and_save

_decode = msgspec.msgpack.Decoder(tuple[ReplyNote, ...]).decode


def load_reply_notes(
    directory: Path, transcripts: Sequence[Transcript], on_read: OnFileRead | None = None
) -> dict[str, tuple[ReplyNote, ...]]:
    """Return the notes of `transcripts` by path; a file that cannot be read is left out."""
    known = find_current(directory, load_notes, transcripts)
    stale = [each for each in transcripts if each.file not in known]
    fresh = dict(read_and_save(directory, stale, _read, save_notes, on_read)) if stale else {}
    return {path: _decode(stored.notes) for path, stored in (known | fresh).items()}


def _read(transcript: Transcript, stamp: Stamp) -> StoredNotes | None:
    try:
        notes = list_reply_notes(read_transcript(transcript.path))
    except UnreadableInput:
        return None
    return StoredNotes(transcript.file, stamp, msgspec.msgpack.encode(notes))
