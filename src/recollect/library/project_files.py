"""The transcripts that lie directly in one directory.

Knows one level of one directory: opening a file must not walk whatever else lies beside it.
"""

import os
import stat
from pathlib import Path

from recollect.locations import Transcript
from recollect.locations.entries import is_link_entry, list_directory
from recollect.locations.names import is_transcript_name
from recollect.locations.transcript_files import Place, project_place


def list_project(directory: Path) -> tuple[Transcript, ...]:
    """The transcripts directly in a project's directory, by name; none if it cannot be read."""
    place = project_place(directory)
    try:
        entries = list_directory(directory)
    except OSError:
        return ()
    named = (_describe(place, entry) for entry in entries if is_transcript_name(entry.name))
    return tuple(found for found in named if found is not None)


def _describe(place: Place, entry: os.DirEntry[str]) -> Transcript | None:
    try:
        status = entry.stat(follow_symlinks=False)
        is_plain = stat.S_ISREG(status.st_mode) and not is_link_entry(entry)
    except OSError:
        # Deleted since the directory was listed.
        return None
    return place.describe(entry.name, status) if is_plain else None
