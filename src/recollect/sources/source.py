"""What holds transcripts: the seam between files on disk and everything that reads sessions.

A source names its transcripts and the files beside them by text, opens them, and lists them. Names
are those of `Transcript.file` and `Span.file`, so a span can be read back from the source that its
record came from. In a directory, which is the only source so far, a name is a path.
"""

import os
import stat
from io import FileIO
from pathlib import Path
from typing import Final, Protocol

from recollect import locations
from recollect.locations import Transcript, TranscriptKind, discover, open_regular
from recollect.locations.project_names import SUBAGENTS_DIRECTORY, is_transcript_name
from recollect.locations.safe_files import find_directory, is_link_entry, list_directory
from recollect.locations.transcript_files import (
    TranscriptLocation,
    project_place,
    shared_subagents_place,
)


class Source(Protocol):
    """Holds transcripts and the files beside them."""

    def open(self, name: str) -> FileIO:
        """Open a file for reading, unbuffered; raise UnreadableInput if that is impossible."""

    def list_project(self, project_dir: Path) -> tuple[Transcript, ...]:
        """Return the transcripts directly in a project's directory, by name."""

    def list_shared_subagents(self, project_dir: Path) -> tuple[Transcript, ...]:
        """Return the subagents in the directory that all sessions of a project share, by name."""

    def list_subagents(self, project_dir: Path, session: str) -> tuple[Transcript, ...]:
        """Return the subagents in the directory of a session, which must be a plain name."""

    def find_subagent_meta(self, transcript: Transcript) -> str | None:
        """Return the name of the file that describes a subagent, if there is one."""


class DirectorySource:
    """Files on disk, which may be traps: links and special files are not opened."""

    def open(self, name: str) -> FileIO:
        """Open a regular file, not following links."""
        return open_regular(name)

    def list_project(self, project_dir: Path) -> tuple[Transcript, ...]:
        """List one level of the directory: whatever else is below it is not walked."""
        return _list_location(project_dir, project_place(project_dir))

    def list_shared_subagents(self, project_dir: Path) -> tuple[Transcript, ...]:
        """List `subagents` in the project's directory."""
        directory = find_directory(project_dir, SUBAGENTS_DIRECTORY)
        if not isinstance(directory, Path):
            return ()
        return _list_location(directory, shared_subagents_place(directory))

    def list_subagents(self, project_dir: Path, session: str) -> tuple[Transcript, ...]:
        """List `subagents` in the session's directory, with those of workflow runs."""
        directory = find_directory(project_dir, session, SUBAGENTS_DIRECTORY)
        found = discover(directory).transcripts if isinstance(directory, Path) else ()
        return tuple(each for each in found if each.kind is not TranscriptKind.SESSION)

    def find_subagent_meta(self, transcript: Transcript) -> str | None:
        """Find `agent-….meta.json` beside the transcript."""
        # By its package, which loads the module when it is first used.
        path = locations.find_subagent_meta(transcript)
        return None if path is None else str(path)


DIRECTORY: Final = DirectorySource()


def _list_location(directory: Path, location: TranscriptLocation) -> tuple[Transcript, ...]:
    try:
        entries = list_directory(directory)
    except OSError:
        return ()
    named = (_describe(location, entry) for entry in entries if is_transcript_name(entry.name))
    return tuple(found for found in named if found is not None)


def _describe(location: TranscriptLocation, entry: os.DirEntry[str]) -> Transcript | None:
    try:
        status = entry.stat(follow_symlinks=False)
        is_plain = stat.S_ISREG(status.st_mode) and not is_link_entry(entry)
    except OSError:
        # Deleted since the directory was listed.
        return None
    return location.describe(entry.name, status) if is_plain else None
