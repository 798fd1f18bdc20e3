"""Whether the index is level with the files: all that an answer costs when nothing has changed.

Imports neither the reader nor the prices; those are needed only when something has to be read.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

from recollect.errors import UnreadableInput
from recollect.locations import Transcript, TranscriptKind, discover_root, open_regular
from recollect.store.catalogue import load_problems, load_states
from recollect.store.database import Connection, open_for_reading
from recollect.store.failures import DamagedIndex, translate_errors
from recollect.store.meta import read_meta
from recollect.store.place import INDEX_NAME
from recollect.sync.changes import is_there
from recollect.sync.editions import find_edition

EDITION_KEY = "prices"


def find_transcripts(roots: Iterable[Path], *, include_subagents: bool = True) -> list[Transcript]:
    """The transcripts below all roots that hold anything."""
    found: dict[str, Transcript] = {}
    for root in roots:
        for transcript in discover_root(root, include_nested=include_subagents).transcripts:
            is_wanted = include_subagents or transcript.kind is TranscriptKind.SESSION
            if is_wanted and transcript.size:
                found.setdefault(transcript.file, transcript)
    return list(found.values())


def is_level(
    directory: Path, transcripts: Sequence[Transcript], *, prices: Path | None = None
) -> bool:
    """Whether the index already knows the files as they are; needs no lock."""
    connection = open_level(directory, transcripts, prices=prices)
    if connection is None:
        return False
    connection.close()
    return True


def open_level(
    directory: Path, transcripts: Sequence[Transcript], *, prices: Path | None = None
) -> Connection | None:
    """The index in `directory`, open for reading; None unless it knows the files as they are."""
    connection = open_for_reading(directory)
    if connection is None:
        return None
    edition = find_edition(prices)
    try:
        with translate_errors(directory / INDEX_NAME):
            if _is_level(connection, transcripts, edition):
                return connection
    except DamagedIndex:
        connection.close()
        return None
    connection.close()
    return None


def _is_level(connection: Connection, transcripts: Iterable[Transcript], edition: str) -> bool:
    if read_meta(connection, EDITION_KEY) != edition:
        return False
    known = load_states(connection)
    unread = load_problems(connection)
    for found in transcripts:
        path = found.file
        is_known = known.pop(path, None) == found.state
        was_unread = unread.pop(path, None) is not None
        # A file that still cannot be read is as level as it can be.
        is_settled = not was_unread if is_known else was_unread and not can_open(found)
        if not is_settled:
            return False
    return all(map(is_there, known)) and all(map(is_there, unread))


def can_open(transcript: Transcript) -> bool:
    """Whether the file can be read now."""
    try:
        open_regular(transcript.path).close()
    except UnreadableInput:
        return False
    return True
