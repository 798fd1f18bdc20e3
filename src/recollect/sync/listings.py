"""Lists of sessions from the index, brought level with the files first.

Only files that changed are opened, and of those only the ends. What takes reading a whole file is
told where it is known already, unless the caller wants it found out.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from recollect.locations import Transcript
from recollect.store.figures import FIGURES_KIND, FileFigures
from recollect.store.listings import KIND, Listing
from recollect.store.path_text import ODD, decode_path, encode_path
from recollect.sync.figures import load_figures
from recollect.sync.file_notes import Notes, Watch, find_all_notes, find_notes, read_notes

_decode_note = msgspec.msgpack.Decoder(Listing | None).decode
_decode_figures = msgspec.msgpack.Decoder(FileFigures).decode
_encode = msgspec.msgpack.Encoder().encode
_NAMES: Final = ("id", "path", "project")
"""What a listing may have from names of files, whose bytes need not be text."""


def list_level(
    directory: Path,
    transcripts: Sequence[Transcript],
    watch: Watch | None = None,
    *,
    is_complete: bool = False,
) -> list[Listing]:
    """The sessions of `transcripts`, the most recently active first.

    With `is_complete` the files are read as a whole where that is needed to tell all of a listing.
    """
    known, figures = find_notes(directory, (KIND, FIGURES_KIND), transcripts)
    if is_complete:
        figures = load_figures(directory, transcripts, watch)
    if stale := [each for each in transcripts if each.file not in known]:
        fresh = read_notes(directory, stale, _Describe(), watch)
        known.update((path, notes[KIND]) for path, notes in fresh)
    listings = (_complete(_decode(known[path]), figures.get(path)) for path in known)
    return _sort(each for each in listings if each is not None)


def list_known(directory: Path) -> list[Listing]:
    """The sessions that lists have shown before, newest first; no file is looked at."""
    (notes,) = find_all_notes(directory, (KIND,))
    listings = (_decode(each.note) for each in notes.values())
    return _sort(each for each in listings if each is not None)


def _decode(note: bytes) -> Listing | None:
    listing: Listing | None = _decode_note(note)
    if listing is None or listing.path[:1] != ODD:
        return listing
    return replace(listing, **{name: decode_path(getattr(listing, name)) for name in _NAMES})


def _sort(listings: Iterable[Listing]) -> list[Listing]:
    return sorted(listings, key=lambda each: (-each.activity, each.path))


def _complete(listing: Listing | None, data: bytes | None) -> Listing | None:
    if listing is None or data is None:
        return listing
    figures = _decode_figures(data)
    return replace(
        listing,
        models=figures.models,
        message_count=figures.messages,
        turn_count=figures.turns,
        error_count=figures.errors,
        compaction_count=figures.compactions,
        compaction_summary=figures.summary or None,
    )


class _Describe:
    """Describes transcripts, looking around each of them once."""

    def __init__(self) -> None:
        # The whole session model, which a list of unchanged files does not need.
        from recollect.library.listings import read_listing  # noqa: PLC0415
        from recollect.library.origins import Surroundings  # noqa: PLC0415

        self._read = read_listing
        self._surroundings = Surroundings()

    def __call__(self, transcript: Transcript) -> Notes:
        found = self._read(transcript, self._surroundings)
        if found is None:
            return {KIND: _encode(None)}
        shown = {
            name: getattr(found, name) for name in Listing.__struct_fields__ if hasattr(found, name)
        }
        shown |= {name: encode_path(shown[name]) for name in _NAMES}
        return {KIND: _encode(Listing(**shown))}
