"""Listings, figures and tool calls from the index; only changed files are read again.

Values read from files are saved in batches, so that an interrupt loses little. If the index cannot
be written, the result is the same, but nothing is cached.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, Protocol, TypeVar

from recollect.documents.session_listing import CallSummary, FileFigures
from recollect.locations import Transcript
from recollect.sources.source import Stamp, make_stamp
from recollect.store import database, session_table

BATCH_BYTES: Final = 64 * 1024 * 1024
"""Bytes to read between two writes."""

FEW: Final = 500
"""Maximum number of files to look up by path; for more, loading all rows is faster."""

OnFileRead = Callable[[int, int], None]
"""Called with the number of files read and their total number."""


class _Stored(Protocol):
    @property
    def stamp(self) -> Stamp: ...


T = TypeVar("T")
S = TypeVar("S", bound=_Stored)


def find_all(
    directory: Path,
    load: Callable[[database.Connection, Sequence[str] | None], dict[str, S]],
    paths: Sequence[str] | None = None,
) -> dict[str, S]:
    """Load rows of all files, or of those in `paths`, by path, with changed and deleted ones."""
    return database.load(directory, lambda connection: load(connection, paths)) or {}


def _has_stamp(stored: _Stored, transcript: Transcript) -> bool:
    return stored.stamp == transcript.stamp


def find_current(
    directory: Path,
    load: Callable[[database.Connection, Sequence[str] | None], dict[str, S]],
    transcripts: Sequence[Transcript],
    is_valid: Callable[[S, Transcript], bool] = _has_stamp,
) -> dict[str, S]:
    """Load the rows that are valid for the current files, by path; no file is read."""
    paths = [each.file for each in transcripts] if len(transcripts) <= FEW else None
    found = find_all(directory, load, paths)
    return {
        each.file: stored
        for each in transcripts
        if (stored := found.get(each.file)) is not None and is_valid(stored, each)
    }


def read_and_save(
    directory: Path,
    transcripts: Sequence[Transcript],
    read: Callable[[Transcript, Stamp], T | None],
    save: Callable[[database.Connection, Iterable[T]], None],
    on_read: OnFileRead | None = None,
) -> Iterator[tuple[str, T]]:
    """Read `transcripts`, save the values, and yield them by path, without None."""
    done = 0
    for batch in split_by_size(transcripts, lambda each: each.size):
        found: list[tuple[str, T]] = []
        for each in batch:
            value = read(each, make_stamp(each.stamp))
            if value is not None:
                found.append((each.file, value))
            done += 1
            if on_read:
                on_read(done, len(transcripts))
        save_values(directory, save, [value for _, value in found])
        yield from found


def split_by_size(
    items: Iterable[T], find_size: Callable[[T], int], max_bytes: int = BATCH_BYTES
) -> Iterator[list[T]]:
    """Yield items in batches of about equal size; each ends with the item that fills it."""
    batch: list[T] = []
    room = max_bytes
    for each in items:
        batch.append(each)
        room -= find_size(each)
        if room <= 0:
            yield batch
            batch, room = [], max_bytes
    if batch:
        yield batch


def save_values(
    directory: Path, save: Callable[[database.Connection, Iterable[T]], None], values: Sequence[T]
) -> None:
    """Write values to the index, if it can be written."""
    # The result is complete without it; the next query reads the same files again.
    database.save(directory, lambda connection: save(connection, values))


def find_figures(directory: Path, transcripts: Sequence[Transcript]) -> dict[str, FileFigures]:
    """Return the stored figures of `transcripts` that are current, by path."""
    found = find_current(directory, session_table.load_figures, transcripts)
    return {path: stored.figures for path, stored in found.items()}


def find_counted(directory: Path, paths: Sequence[str]) -> dict[str, session_table.StoredFigures]:
    """Return the last figures of files; some files may have grown since."""
    return find_all(directory, session_table.load_figures, paths)


def load_figures(
    directory: Path, transcripts: Sequence[Transcript], on_read: OnFileRead | None = None
) -> dict[str, FileFigures]:
    """Return the figures of `transcripts` by path, reading those that have changed."""
    known = find_figures(directory, transcripts)
    fresh = _read_whole(directory, transcripts, known, on_read)
    return known | {path: stored.figures for path, (stored, _) in fresh}


def find_calls(directory: Path, paths: Sequence[str]) -> dict[str, list[CallSummary]]:
    """Return the last tool calls of files; some files may have grown since."""
    found = find_all(directory, session_table.load_calls, paths)
    return {path: stored.calls for path, stored in found.items()}


def load_calls(
    directory: Path, transcripts: Sequence[Transcript], on_read: OnFileRead | None = None
) -> dict[str, list[CallSummary]]:
    """Return the tool calls of `transcripts` by path; a file that cannot be read is left out."""
    found = find_current(directory, session_table.load_calls, transcripts)
    fresh = _read_whole(directory, transcripts, found, on_read)
    known = {path: stored.calls for path, stored in found.items()}
    return known | {path: calls for path, (_, calls) in fresh}


def _read_whole(
    directory: Path,
    transcripts: Iterable[Transcript],
    known: Mapping[str, object],
    on_read: OnFileRead | None,
) -> Iterator[tuple[str, tuple[session_table.StoredFigures, list[CallSummary]]]]:
    stale = [each for each in transcripts if each.file not in known]
    if not stale:
        return iter(())
    # Imports the session model, which is not needed when nothing has changed.
    from recollect.sync.figure_reading import read_figures

    return read_and_save(directory, stale, read_figures, session_table.save_figures, on_read)
