"""Notes on files, brought level with the files: what has changed is read, the rest is known.

Where the index cannot be written, the answer is the same and takes longer the next time too.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from recollect.errors import IndexFailure
from recollect.locations import Transcript
from recollect.store.database import open_for_reading, open_for_writing
from recollect.store.failures import DamagedIndex, translate_errors
from recollect.store.file_notes import FileNote, load_notes, save_notes
from recollect.store.place import INDEX_NAME

BATCH_BYTES: Final = 64 * 1024 * 1024
"""How much is read between two times of saving, so that an interrupt loses little."""

FEW: Final = 500
"""Files whose notes are looked up by path; for more it is quicker to read all notes."""

Notes = Mapping[str, bytes]
"""Notes on one transcript, by their kinds."""

Watch = Callable[[int, int], None]
"""Told how many files of how many have been read."""


def find_notes(
    directory: Path, kinds: Sequence[str], transcripts: Sequence[Transcript]
) -> list[dict[str, bytes]]:
    """For each kind the notes that hold for the files as they are, by path; nothing is read."""
    paths = [each.file for each in transcripts] if len(transcripts) <= FEW else None
    found = find_all_notes(directory, kinds, paths)
    return [_select_current(notes, transcripts) for notes in found]


def find_all_notes(
    directory: Path, kinds: Sequence[str], paths: Sequence[str] | None = None
) -> list[dict[str, FileNote]]:
    """For each kind all notes by path, on all files or on these, changed and vanished included."""
    connection = open_for_reading(directory)
    if connection is None:
        return [{} for _ in kinds]
    try:
        with translate_errors(directory / INDEX_NAME):
            return [load_notes(connection, kind, paths) for kind in kinds]
    except DamagedIndex:
        # Whoever writes the index next will set it aside.
        return [{} for _ in kinds]
    finally:
        connection.close()


def read_notes(
    directory: Path,
    transcripts: Sequence[Transcript],
    read: Callable[[Transcript], Notes],
    watch: Watch | None = None,
) -> Iterator[tuple[str, Notes]]:
    """Read `transcripts`, keep the notes, and yield them by path."""
    done = 0
    for batch in _split(transcripts):
        found = []
        for each in batch:
            found.append((each, read(each)))
            done += 1
            if watch:
                watch(done, len(transcripts))
        _save(directory, found)
        yield from ((each.file, notes) for each, notes in found)


def _select_current(
    notes: Mapping[str, FileNote], transcripts: Iterable[Transcript]
) -> dict[str, bytes]:
    found = {}
    for each in transcripts:
        note = notes.get(each.file)
        if note is not None and (note.size, note.mtime_ns) == (each.size, each.mtime_ns):
            found[note.path] = note.note
    return found


def _split(transcripts: Iterable[Transcript]) -> Iterator[list[Transcript]]:
    batch: list[Transcript] = []
    room = BATCH_BYTES
    for each in transcripts:
        batch.append(each)
        room -= each.size
        if room <= 0:
            yield batch
            batch, room = [], BATCH_BYTES
    if batch:
        yield batch


def _save(directory: Path, found: Sequence[tuple[Transcript, Notes]]) -> None:
    kinds = {kind for _, notes in found for kind in notes}
    try:
        with open_for_writing(directory) as connection:
            for kind in sorted(kinds):
                save_notes(
                    connection,
                    kind,
                    (
                        FileNote(each.file, each.size, each.mtime_ns, notes[kind])
                        for each, notes in found
                        if kind in notes
                    ),
                )
    except IndexFailure:
        # The answer is complete without it; the next one reads the same files again.
        return
