"""Find the parent of a session that begins with a compaction and does not name its parent.

A fork copies only the records after the last compaction. The copy keeps the uuid of the compaction,
which is in the middle of the parent; other forks begin with it too. The files of a project are
searched for compactions once, for any number of forks.
"""

from pathlib import Path
from typing import Final

from recollect.library import transcript_ends
from recollect.locations import Transcript, TranscriptKind
from recollect.locations.discovery import list_project
from recollect.records import envelope, system_records
from recollect.session.times import parse_time

_UUID_LENGTH: Final = 36
_MARK: Final = b'"compact_boundary"'


class CompactedForks:
    """Finds the parents of forks, and caches the compactions that it has read."""

    def __init__(self) -> None:
        self._sessions: dict[Path, tuple[Transcript, ...]] = {}
        self._compactions: dict[str, frozenset[str]] = {}

    def find_parent(self, transcript: Transcript, opening: envelope.Record) -> str | None:
        """Return the name of the session in the same project with the compaction `opening`.

        None if no session has it in its middle, or several have.
        """
        if not isinstance(opening, system_records.CompactBoundary):
            return None
        uuid = opening.uuid
        if uuid is None or len(uuid) != _UUID_LENGTH:
            return None
        moment = parse_time(opening.timestamp)
        # No record is newer than its file.
        earliest = moment.timestamp() * 1e9 if moment else 0
        found = {
            each.name
            for each in self._list_sessions(transcript.project_dir)
            if each.file != transcript.file
            and each.mtime_ns >= earliest
            and uuid in self._list_compactions(each.file)
        }
        return found.pop() if len(found) == 1 else None

    def _list_sessions(self, directory: Path) -> tuple[Transcript, ...]:
        if directory not in self._sessions:
            self._sessions[directory] = tuple(
                each for each in list_project(directory) if each.kind is TranscriptKind.SESSION
            )
        return self._sessions[directory]

    def _list_compactions(self, path: str) -> frozenset[str]:
        """Return the compactions in a transcript after other records of a conversation."""
        if path not in self._compactions:
            found = {
                each.uuid
                for each in transcript_ends.list_marked(path, _MARK)
                if isinstance(each, system_records.CompactBoundary) and each.uuid
            }
            first = transcript_ends.find_first_uuid(path) if found else None
            self._compactions[path] = frozenset(found - {first})
        return self._compactions[path]
