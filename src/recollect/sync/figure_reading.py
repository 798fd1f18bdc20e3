"""Data that requires reading a whole transcript: its figures and tool calls, outlines of its file
changes, and notes on its replies. Only changed files are read again.

The text pass decodes every record anyway, so it also counts the files that it reads from start to
end (`FIGURES`); other files are read on demand, for their figures only.

The caller decides how a session is read for its outline. If the index cannot be written, the result
is the same, but nothing is cached.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

import msgspec

from recollect.documents.session_listing import CallSummary, FileFigures
from recollect.errors import UnreadableInput
from recollect.locations import Transcript
from recollect.reader.line_blocks import find_mask, masked_by
from recollect.reader.transcript_reader import read_transcript
from recollect.records.envelope import Record
from recollect.session.client_reports import ReplyNote, list_reply_notes
from recollect.sources.growth import FileState
from recollect.sources.source import LISTS_INODES, Stamp
from recollect.store import database, derived_tables
from recollect.store.derived_tables import StoredNotes, StoredOutline, load_notes, save_notes
from recollect.store.session_table import StoredFigures, save_figures
from recollect.sync import cached_values


def read_figures(
    transcript: Transcript, stamp: Stamp
) -> tuple[StoredFigures, list[CallSummary]] | None:
    """Return the figures and the tool calls of `transcript`; None if it cannot be read."""
    from recollect.session.figures import count_figures  # the session model
    from recollect.sync.secret_scanning import mask_lines  # the rules for secrets

    try:
        # Stored data must not contain secrets.
        with masked_by(find_mask() or mask_lines):
            records = list(read_transcript(transcript.path))
    except UnreadableInput:
        return None
    figures, calls = count_figures(records)
    return StoredFigures(transcript.file, stamp, figures), calls


class _CountedFile(msgspec.Struct, frozen=True, array_like=True):
    """The figures of a file, as sent by a worker."""

    stamp: Stamp
    figures: FileFigures
    calls: list[CallSummary]


class FigureSink:
    """Collects the records of one file."""

    def __init__(self) -> None:
        self._records: list[Record] = []

    def add(self, record: Record) -> None:
        """Add the next record."""
        self._records.append(record)

    def finish(self, state: FileState) -> bytes:
        """Return the encoded figures and calls."""
        from recollect.session.figures import count_figures  # the session model

        inode, size, mtime_ns = state.stamp
        stamp = (inode if LISTS_INODES else 0, size, mtime_ns)
        return msgspec.msgpack.encode(_CountedFile(stamp, *count_figures(self._records)))


class FigureConsumer:
    """Counts the files that the text pass reads from start to end."""

    name = "figures"

    def start(self, path: str) -> FigureSink:
        """Start on a file."""
        return FigureSink()

    def save(self, directory: Path, found: Mapping[str, bytes]) -> None:
        """Write the figures to the index."""
        counted = {
            path: msgspec.msgpack.decode(data, type=_CountedFile) for path, data in found.items()
        }
        rows = [
            (StoredFigures(path, each.stamp, each.figures), each.calls)
            for path, each in counted.items()
        ]
        cached_values.save_values(directory, save_figures, rows)


FIGURES: Final = FigureConsumer()


T = TypeVar("T")


class FreshOutlines(NamedTuple):
    """Outlines that were not in the index, and the number of sessions still to be read."""

    read: list[StoredOutline]
    unread: int


ReadOutline = Callable[[str], StoredOutline | None]
"""Reads the session at a path; None if it cannot be read."""


def read_outlines(
    directory: Path,
    signatures: Mapping[str, bytes],
    sizes: Mapping[str, int],
    read: ReadOutline,
    on_read: cached_values.OnFileRead | None = None,
    budget: int | None = None,
) -> FreshOutlines:
    """Read the sessions whose signature differs from the index; save and return their outlines.

    `signatures` and `sizes` are by the paths of the sessions. Reading stops after `budget` bytes.
    """
    paths = list(signatures)
    known = database.load(directory, partial(derived_tables.load_signatures, paths=paths)) or {}
    outdated = [path for path in paths if known.get(path) != signatures[path]]
    stale = list(_take_within(outdated, sizes, budget))
    fresh: list[StoredOutline] = []
    done = 0
    for batch in cached_values.split_by_size(stale, sizes.__getitem__):
        found: list[StoredOutline] = []
        for path in batch:
            outline = read(path)
            if outline is not None:
                found.append(outline)
            done += 1
            if on_read:
                on_read(done, len(stale))
        cached_values.save_values(directory, derived_tables.save_outlines, found)
        fresh += found
    return FreshOutlines(fresh, len(outdated) - len(stale))


def _take_within(
    paths: Sequence[str], sizes: Mapping[str, int], budget: int | None
) -> Iterator[str]:
    """Yield the first paths that fit into the budget, but at least one."""
    used = 0
    for path in paths:
        if budget is not None and used > 0 and used + sizes[path] > budget:
            return
        used += max(sizes[path], 1)
        yield path


def find_outlines(
    directory: Path, paths: Sequence[str], names: Sequence[str] | None
) -> list[StoredOutline]:
    """Return the outlines of these sessions that mention a file with one of the names."""
    query = partial(derived_tables.find_outlines, paths=paths, names=names)
    return database.load(directory, query) or []


_decode = msgspec.msgpack.Decoder(tuple[ReplyNote, ...]).decode


def load_reply_notes(
    directory: Path,
    transcripts: Sequence[Transcript],
    on_read: cached_values.OnFileRead | None = None,
) -> dict[str, tuple[ReplyNote, ...]]:
    """Return the notes of `transcripts` by path; a file that cannot be read is left out."""
    known = cached_values.find_current(directory, load_notes, transcripts)
    stale = [each for each in transcripts if each.file not in known]
    fresh = (
        dict(cached_values.read_and_save(directory, stale, _read, save_notes, on_read))
        if stale
        else {}
    )
    return {path: _decode(stored.notes) for path, stored in (known | fresh).items()}


def _read(transcript: Transcript, stamp: Stamp) -> StoredNotes | None:
    try:
        notes = list_reply_notes(read_transcript(transcript.path))
    except UnreadableInput:
        return None
    return StoredNotes(transcript.file, stamp, msgspec.msgpack.encode(notes))
