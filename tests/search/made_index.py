"""Small Claude directories with a full-text index, for tests of search."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from recollect.locations import Transcript, discover_root
from recollect.search.engine import ANALYZER, SearchOptions, SearchResult, search
from recollect.sync.text_indexer import index_texts
from tests.library.claude_root import FIRST, PROJECT, Line, encode

LONG_AGO = 1_700_000_000


@dataclass(frozen=True)
class MadeIndex:
    """A Claude directory and its index, both below a temporary directory."""

    place: Path

    @property
    def root(self) -> Path:
        """The Claude directory."""
        return self.place / "claude"

    @property
    def data(self) -> Path:
        """The data directory."""
        return self.place / "data"

    def transcripts(self) -> list[Transcript]:
        """Return the transcripts."""
        return [each for each in discover_root(self.root).transcripts if not each.is_empty]

    def path(self, session: str = FIRST) -> Path:
        """Return the path of a session's transcript."""
        return self.root / "projects" / PROJECT / f"{session}.jsonl"

    def write(self, *lines: Line, session: str = FIRST) -> None:
        """Write a session with these lines, replacing its content."""
        self.path(session).parent.mkdir(parents=True, exist_ok=True)
        self.path(session).write_bytes(encode(lines))
        self._let_rest(session)

    def append(self, *lines: Line, session: str = FIRST) -> None:
        """Add lines to a session."""
        with self.path(session).open("ab") as file:
            file.write(encode(lines))
        self._let_rest(session)

    def index(self, seconds: float | None = None) -> bool:
        """Update the index."""
        return index_texts(self.data, ANALYZER, self.transcripts(), seconds=seconds)

    def search(self, query: str, options: SearchOptions | None = None) -> SearchResult:
        """Return the result of a query."""
        wanted = options or SearchOptions(per_session=1000)
        return search(self.data, query, self.transcripts(), wanted, index_complete=True)

    def find(self, query: str) -> list[str]:
        """Return the uuids of the hits of a query, sorted."""
        return sorted(hit.uuid or hit.part for hit in self.search(query).hits)

    def _let_rest(self, session: str) -> None:
        # A past time that differs after each change is never racy.
        path = self.path(session)
        os.utime(path, (LONG_AGO, LONG_AGO + path.stat().st_size))


def make_index(place: Path, lines: Iterable[Line]) -> MadeIndex:
    """Return an indexed directory with one session."""
    made = MadeIndex(place)
    made.write(*lines)
    assert made.index()
    return made
