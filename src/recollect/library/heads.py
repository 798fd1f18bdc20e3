"""The first records of a transcript, as they are asked for, and two answers that they give.

Knows how far to look: some files never say where they were written, and a listing asks them all.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from recollect.errors import UnreadableInput
from recollect.locations import open_regular
from recollect.reader import TranscriptDecoder
from recollect.records.envelope import Chain, Record

_STEP: Final = 16 * 1024
_MOST: Final = 4 * 1024 * 1024


def find_cwd(path: Path) -> str | None:
    """The first work directory that the transcript at `path` records."""
    return _find(path, lambda link: link.cwd)


def find_session_id(path: Path) -> str | None:
    """The first session id that the transcript at `path` records: a subagent has its parent's."""
    return _find(path, lambda link: link.session_id)


def _find(path: Path, pick: Callable[[Chain], str | None]) -> str | None:
    try:
        links = (record for record in _iter_head(path) if isinstance(record, Chain))
        return next(filter(None, map(pick, links)), None)
    except UnreadableInput:
        # Whoever reads the whole file will say what is wrong with it.
        return None


def _iter_head(path: Path) -> Iterator[Record]:
    decoder = TranscriptDecoder(str(path))
    with open_regular(path) as file:
        for _ in range(_MOST // _STEP):
            chunk = file.read(_STEP)
            if not chunk:
                yield from decoder.finish()
                return
            yield from decoder.feed(chunk)
