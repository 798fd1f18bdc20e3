"""The index as a doctor sees it: sound or not, level or not, in use or not."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from recollect.errors import IndexFailure
from recollect.health.report import IndexReport
from recollect.health.sources import describe_place
from recollect.locations import Transcript
from recollect.store.lock import LOCK_NAME, hold_lock
from recollect.store.place import INDEX_NAME
from recollect.store.status import IndexStatus, find_status
from recollect.store.versions import find_schema_version
from recollect.sync.level import is_level


def examine_index(
    directory: Path,
    transcripts: Sequence[Transcript],
    prices: Path | None = None,
    environment: Mapping[str, str] = os.environ,
) -> IndexReport:
    """The state of the index in `directory`, which is looked at as a whole and not changed."""
    status, level = _look(directory, transcripts, prices)
    return IndexReport(
        path=describe_place(Path(status.path), environment),
        byte_count=status.bytes,
        is_sound=status.is_sound,
        is_level=level,
        is_locked=_is_locked(directory),
        schema_version=find_schema_version(directory),
        files=status.files,
        files_gone=status.files_gone,
        messages=status.messages,
        problems=len(status.problems),
    )


def _look(
    directory: Path, transcripts: Sequence[Transcript], prices: Path | None
) -> tuple[IndexStatus, bool]:
    try:
        status = find_status(directory)
        return status, status.is_sound and is_level(directory, transcripts, prices=prices)
    except IndexFailure:
        # Of a newer program, or not to be opened now: that is a finding, and no reason to stop.
        path = directory / INDEX_NAME
        return IndexStatus(path=str(path), bytes=path.stat().st_size), False


def _is_locked(directory: Path) -> bool:
    """Whether another process writes the index now; where we could not write, we cannot tell."""
    if not os.access(directory / LOCK_NAME, os.W_OK):
        return False
    try:
        with hold_lock(directory, patience=0):
            return False
    except IndexFailure:
        return True
