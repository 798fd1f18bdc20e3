"""A source that holds its files in memory."""

import tempfile
from io import FileIO
from pathlib import Path

from recollect.errors import UnreadableInput
from recollect.locations import Transcript, TranscriptKind, discover_root

BASE = Path("/nowhere")
"""Where the names of all files begin; there is no such directory."""


class MemorySource:
    """The files below a Claude directory, as they were when it was loaded."""

    def __init__(self, root: Path) -> None:
        self.files = {
            str(BASE / path.relative_to(root)): path.read_bytes()
            for path in root.rglob("*")
            if path.is_file()
        }
        self.transcripts = tuple(
            each._replace(
                file=str(BASE / each.path.relative_to(root)),
                project_dir=BASE / each.project_dir.relative_to(root),
            )
            for each in discover_root(root).transcripts
        )

    def open(self, name: str) -> FileIO:
        """A file that has no name on disk."""
        if name not in self.files:
            raise UnreadableInput(f"There is no {name} in memory.")
        file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - closed by the caller
        file.write(self.files[name])
        file.seek(0)
        return file

    def list_project(self, project_dir: Path) -> tuple[Transcript, ...]:
        """Those directly in the project's directory."""
        return tuple(each for each in self.transcripts if each.path.parent == project_dir)

    def list_shared_subagents(self, project_dir: Path) -> tuple[Transcript, ...]:
        """Those in its `subagents`."""
        directory = project_dir / "subagents"
        return tuple(each for each in self.transcripts if each.path.parent == directory)

    def list_subagents(self, project_dir: Path, session: str) -> tuple[Transcript, ...]:
        """Those in the session's `subagents`, at any depth."""
        directory = project_dir / session / "subagents"
        return tuple(
            each
            for each in self.transcripts
            if each.kind is not TranscriptKind.SESSION and each.path.is_relative_to(directory)
        )

    def find_subagent_meta(self, transcript: Transcript) -> str | None:
        """The file beside it, if it was there."""
        name = str(transcript.path.with_suffix(".meta.json"))
        return name if name in self.files else None
