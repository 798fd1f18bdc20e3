"""Figures that take reading whole transcripts: errors, models, tool calls with their times.

Each file is read once and again only when it has changed. Where that means many files, the caller
is told how far it is.
"""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from recollect.locations import Transcript
from recollect.store.figures import CALLS_KIND, FIGURES_KIND, CallNote
from recollect.sync.file_notes import Watch, find_notes, read_notes

_decode_calls = msgspec.msgpack.Decoder(list[CallNote]).decode


def load_figures(
    directory: Path, transcripts: Sequence[Transcript], watch: Watch | None = None
) -> dict[str, bytes]:
    """The figures of `transcripts` by path, as the index keeps them."""
    return _load(directory, FIGURES_KIND, transcripts, watch)


def load_calls(
    directory: Path, transcripts: Sequence[Transcript], watch: Watch | None = None
) -> dict[str, list[CallNote]]:
    """The tool calls of `transcripts` by path; a file that cannot be read is not there."""
    known = _load(directory, CALLS_KIND, transcripts, watch)
    return {path: _decode_calls(data) for path, data in known.items()}


def _load(
    directory: Path, kind: str, transcripts: Sequence[Transcript], watch: Watch | None
) -> dict[str, bytes]:
    (known,) = find_notes(directory, (kind,), transcripts)
    if stale := [each for each in transcripts if each.file not in known]:
        # The whole session model, which an answer about unchanged files does not need.
        from recollect.sync.figure_reading import read_figures  # noqa: PLC0415

        fresh = read_notes(directory, stale, read_figures, watch)
        known.update((path, notes[kind]) for path, notes in fresh if kind in notes)
    return known
