"""Outlines of what sessions say about files, from the index; only changed sessions are read again.

How a session is read is up to the caller. If the index cannot be written, the answer is the same,
and the next one takes as long.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

from recollect.store import edit_outlines
from recollect.store.database import Connection, open_for_reading
from recollect.store.edit_outlines import StoredOutline
from recollect.store.integrity import DamagedIndex, translate_errors
from recollect.sync.cached_values import BATCH_BYTES, OnFileRead, save_values

T = TypeVar("T")


class FreshOutlines(NamedTuple):
    """Outlines that the index did not have, and how many sessions are still to be read."""

    read: list[StoredOutline]
    unread: int


ReadOutline = Callable[[str], StoredOutline | None]
"""Reads the session at a path; None if that is not possible."""


def read_outlines(
    directory: Path,
    signatures: Mapping[str, bytes],
    sizes: Mapping[str, int],
    read: ReadOutline,
    on_read: OnFileRead | None = None,
    budget: int | None = None,
) -> FreshOutlines:
    """Read the sessions whose signature is not that of the index, save and return them.

    `signatures` and `sizes` are by the paths of the sessions. Reading stops after `budget` bytes.
    """
    paths = list(signatures)
    known = _ask(directory, partial(edit_outlines.load_signatures, paths=paths)) or {}
    outdated = [path for path in paths if known.get(path) != signatures[path]]
    stale = list(_take_within(outdated, sizes, budget))
    fresh: list[StoredOutline] = []
    done = 0
    for batch in _split(stale, sizes):
        found: list[StoredOutline] = []
        for path in batch:
            outline = read(path)
            if outline is not None:
                found.append(outline)
            done += 1
            if on_read:
                on_read(done, len(stale))
        save_values(directory, edit_outlines.save_outlines, found)
        fresh += found
    return FreshOutlines(fresh, len(outdated) - len(stale))


def _take_within(
    paths: Sequence[str], sizes: Mapping[str, int], budget: int | None
) -> Iterator[str]:
    """Yield the first of the paths: at least one, and no more than fit into the budget."""
    used = 0
    for path in paths:
        if budget is not None and used > 0 and used + sizes[path] > budget:
            return
        used += max(sizes[path], 1)
        yield path


def find_outlines(
    directory: Path, paths: Sequence[str], names: Sequence[str] | None
) -> list[StoredOutline]:
    """Return the outlines of these sessions that are about a file with one of the names."""
    ask = partial(edit_outlines.find_outlines, paths=paths, names=names)
    return _ask(directory, ask) or []


def _ask(directory: Path, question: Callable[[Connection], T]) -> T | None:
    connection = open_for_reading(directory, accept_old_data=True)
    if connection is None:
        return None
    try:
        with translate_errors(directory):
            return question(connection)
    except DamagedIndex:
        # The next writer will set it aside.
        return None
    finally:
        connection.close()


def _split(paths: Sequence[str], sizes: Mapping[str, int]) -> Iterator[list[str]]:
    batch: list[str] = []
    room = BATCH_BYTES
    for path in paths:
        batch.append(path)
        room -= sizes[path]
        if room <= 0:
            yield batch
            batch, room = [], BATCH_BYTES
    if batch:
        yield batch
