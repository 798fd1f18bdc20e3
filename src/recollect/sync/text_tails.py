"""Texts of the last minute that are not in the full-text index yet.

While one process makes the index, which takes a while, others still find what has just been said:
they read the ends of the files that are growing, each for itself, and write nothing.
"""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from recollect.locations import Transcript
from recollect.store.text import TextBatch, TextFile
from recollect.sync.text_reading import read_tail
from recollect.sync.texts import Recipe, describe, find_stretches

_FRESH_NS: Final = 60 * 1_000_000_000
_MOST_FILES: Final = 8


class FreshTexts(Struct, frozen=True):
    """What was found, and in which files."""

    batches: list[TextBatch]
    files: list[TextFile]


NO_FRESH_TEXTS: Final = FreshTexts([], [])


def read_fresh(directory: Path, recipe: Recipe, transcripts: Sequence[Transcript]) -> FreshTexts:
    """The last texts of those files that grew within the last minute and are not level."""
    since = time.time_ns() - _FRESH_NS
    growing = sorted(
        (each for each in transcripts if each.mtime_ns >= since), key=lambda each: -each.mtime_ns
    )[:_MOST_FILES]
    if not growing:
        return NO_FRESH_TEXTS
    stretches = find_stretches(directory, recipe.version, growing)
    found = [read_tail(stretch, recipe.prepare) for stretch in stretches]
    return FreshTexts([batch for batch in found if batch is not None], [*map(describe, growing)])
