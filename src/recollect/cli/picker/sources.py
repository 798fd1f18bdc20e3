"""What the picker looks up: sessions by the words in them, and what a session is about.

Both take a moment, so that the screen asks from a thread; neither raises because of a query that
is only half typed.
"""

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from recollect.errors import RecollectError
from recollect.locations import Transcript
from recollect.store.listings import Listing

SESSIONS_FOUND = 50
SNIPPET_WIDTH = 32
"""Characters: what a row has room for beside its age and project, on a screen of usual width."""
PROMPTS_SHOWN = 200


class Preview(Struct, frozen=True):
    """What a session is about: its facts, and the first line of each prompt."""

    facts: tuple[tuple[str, str], ...]
    prompts: tuple[str, ...]


class Sources:
    """The files and the index that a picker looks into."""

    def __init__(self, data_directory: Path, transcripts: Sequence[Transcript]) -> None:
        self._data_directory = data_directory
        self._transcripts = transcripts
        self._by_path = {each.file: each for each in transcripts}

    def find(self, query: str) -> dict[str, str]:
        """Ids of sessions whose text answers the query, the best first, with the words around."""
        from recollect.search.engine import SearchOptions, search  # noqa: PLC0415 - not to start

        options = SearchOptions(limit=SESSIONS_FOUND, per_session=1, width=SNIPPET_WIDTH)
        try:
            result = search(
                self._data_directory, query, self._transcripts, options, index_complete=False
            )
        except RecollectError:
            return {}
        return {hit.session_id: hit.snippet.text for hit in result.hits}

    def preview(self, listing: Listing) -> Preview:
        """What the session is about, read from its file."""
        from recollect.library.opening import open_transcript  # noqa: PLC0415 - the whole model
        from recollect.render.views.outline import build_outline  # noqa: PLC0415

        transcript = self._by_path.get(listing.path)
        if transcript is None:
            return Preview((("", "The transcript is gone."),), ())
        try:
            session = open_transcript(transcript)
        except RecollectError as error:
            return Preview((("", str(error)),), ())
        prompts = [entry.line for entry in build_outline(session) if entry.is_by_person]
        return Preview(_list_facts(listing), tuple(prompts[:PROMPTS_SHOWN]))

    def index_some(self, seconds: float) -> bool:
        """Index texts for so long; True when nothing is left to do."""
        from recollect.search.engine import RECIPE  # noqa: PLC0415
        from recollect.sync.texts import index_texts  # noqa: PLC0415

        try:
            return index_texts(self._data_directory, RECIPE, self._transcripts, seconds=seconds)
        except RecollectError:
            # Titles and prompts can be searched all the same; `recollect doctor` tells why.
            return True


def _list_facts(listing: Listing) -> tuple[tuple[str, str], ...]:
    facts = (
        ("session", listing.id),
        ("directory", listing.cwd),
        ("branch", listing.git_branch),
        ("client", listing.version),
    )
    return tuple((name, value) for name, value in facts if value)
