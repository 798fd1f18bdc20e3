"""What files say of a session beside its own records: names, sizes, titles elsewhere, processes.

Knows one transcript's surroundings; refuses to read the transcript itself. Listing and opening
both start here, so that they cannot tell different things.
"""

from pathlib import Path

from recollect.library.processes import find_live_processes
from recollect.library.summaries import collect_summaries
from recollect.locations import Transcript, TranscriptKind, find_root_of
from recollect.locations.transcript_files import name_of
from recollect.session.live_process import LiveProcess
from recollect.session.metadata import Origins


class Surroundings:
    """Looks around transcripts, at each place once."""

    def __init__(self) -> None:
        self._summaries: dict[Path, dict[str, str]] = {}
        self._processes: dict[Path, dict[str, LiveProcess]] = {}

    def describe(self, transcript: Transcript) -> Origins:
        """Where the records of `transcript` come from."""
        session_id = name_of(transcript)
        return Origins(
            id=session_id,
            project=transcript.project_dir.name,
            path=transcript.file,
            size=transcript.size,
            modified=modified_of(transcript),
            agent_id=transcript.agent_id,
            foreign_summaries=self._summaries_beside(transcript),
            live=self._processes_of(transcript).get(session_id),
        )

    def _summaries_beside(self, transcript: Transcript) -> dict[str, str]:
        if transcript.kind is not TranscriptKind.SESSION:
            return {}
        directory = transcript.project_dir
        if directory not in self._summaries:
            self._summaries[directory] = collect_summaries(directory)
        return self._summaries[directory]

    def _processes_of(self, transcript: Transcript) -> dict[str, LiveProcess]:
        root = find_root_of(transcript)
        if root is None:
            return {}
        if root not in self._processes:
            self._processes[root] = find_live_processes(root)
        return self._processes[root]


def modified_of(transcript: Transcript) -> float:
    """When it was last written, in seconds since 1970."""
    return transcript.mtime_ns / 1e9
