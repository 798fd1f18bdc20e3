"""Find the session that has a given title, when the title was found in another file.

Clients 1.0.x wrote the titles of other sessions into the files that they opened, and into files
that contain nothing else. Cached listings are used first, then the files of the project are read;
nothing is written.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from recollect.locations import Transcript, TranscriptKind
from recollect.sync import list_indexed


class TitledSession(NamedTuple):
    """The id and the file of a session."""

    session_id: str
    path: str


class TitleLookup:
    """Looks up sessions by title, reading each project once; stops when `is_late` returns True."""

    def __init__(
        self, directory: Path, transcripts: Sequence[Transcript], is_late: Callable[[], bool]
    ) -> None:
        self._directory = directory
        self._transcripts = transcripts
        self._is_late = is_late
        self._indexed: dict[tuple[Path, str], TitledSession] | None = None
        self._read: dict[Path, dict[str, TitledSession]] = {}

    def find(self, path: str, title: str) -> TitledSession | None:
        """Return the newest session with this title in the directory of `path`, if any."""
        project = Path(path).parent
        if self._indexed is None:
            self._indexed = {
                (Path(each.path).parent, each.title): TitledSession(each.id, each.path)
                for each in reversed(list_indexed(self._directory))
                if each.title and not each.is_subagent
            }
        indexed = self._indexed.get((project, title))
        return indexed or self._read_project(project).get(title)

    def _read_project(self, project: Path) -> dict[str, TitledSession]:
        # Imported here because it loads the session model, which a search rarely needs.
        from recollect.library.listings import SessionContext, read_listing

        if project not in self._read:
            self._read[project] = found = {}
            context = SessionContext()
            for each in self._transcripts:
                if each.kind is TranscriptKind.SESSION and each.project_dir == project:
                    if self._is_late():
                        break
                    listing = read_listing(each, context)
                    if listing and listing.title:
                        found[listing.title] = TitledSession(listing.id, listing.path)
        return self._read[project]
