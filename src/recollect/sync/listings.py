"""Lists of sessions from the index, brought level with the files first.

Only files that changed are opened. Where the index cannot be written, the answer is the same and
takes longer.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

from recollect.errors import IndexFailure
from recollect.locations import Transcript
from recollect.store.database import open_for_reading, open_for_writing
from recollect.store.listings import Described, Listing, load_listings, save_listings


def list_level(directory: Path, transcripts: Sequence[Transcript]) -> list[Listing]:
    """The sessions of `transcripts`, the most recently active first."""
    known = _load(directory)
    current = {str(each.path): each for each in transcripts}
    stale = [each for path, each in current.items() if not _is_current(each, known.get(path))]
    if stale:
        fresh = _describe(stale)
        _save(directory, fresh)
        known.update((each.path, each) for each in fresh)
    found = [known[path].listing for path in current if path in known]
    return sorted(filter(None, found), key=lambda each: (-each.activity, each.path))


def _load(directory: Path) -> dict[str, Described]:
    connection = open_for_reading(directory)
    if connection is None:
        return {}
    try:
        return load_listings(connection)
    finally:
        connection.close()


def _is_current(transcript: Transcript, known: Described | None) -> bool:
    state = (transcript.size, transcript.mtime_ns)
    return known is not None and state == (known.size, known.mtime_ns)


def _save(directory: Path, described: Iterable[Described]) -> None:
    try:
        with open_for_writing(directory) as connection:
            save_listings(connection, described)
    except IndexFailure:
        # The list is complete without it; the next one opens the same files again.
        return


def _describe(transcripts: Iterable[Transcript]) -> list[Described]:
    # Describing needs the whole session model, which a list of unchanged files does not.
    from recollect.library.listings import read_listing  # noqa: PLC0415
    from recollect.library.origins import Surroundings  # noqa: PLC0415

    surroundings = Surroundings()
    described = []
    for each in transcripts:
        found = read_listing(each, surroundings)
        listing = None
        if found is not None:
            shown = {name: getattr(found, name) for name in Listing.__struct_fields__}
            listing = Listing(**shown)
        described.append(Described(str(each.path), each.size, each.mtime_ns, listing))
    return described
