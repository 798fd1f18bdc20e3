"""A session by the names that people have for it, with what is known of each taken from the index.

Where an id is enough, no title is asked for and the index is not even opened.
"""

from collections.abc import Sequence
from pathlib import Path

from recollect.locations import Transcript, discover_root
from recollect.locations.references import SHORTEST_PREFIX, Told, match_session
from recollect.store.listings import Listing
from recollect.sync.listings import list_known, list_level


def find_gone(ref: str, directory: Path) -> Listing | None:
    """The session that a list once showed under an id with this beginning and that is gone."""
    if len(ref) < SHORTEST_PREFIX:
        return None
    known = (each for each in list_known(directory) if each.id.startswith(ref))
    return next((each for each in known if not Path(each.path).exists()), None)


def locate_level(ref: str, directory: Path, roots: Sequence[Path]) -> Transcript:
    """The one transcript below `roots` that `ref` names, by the index in `directory`.

    Raises NothingFound when there is none and AmbiguousSession when there are several.
    """
    transcripts = [each for root in roots for each in discover_root(root).transcripts]

    def tell(some: Sequence[Transcript]) -> list[Told]:
        by_path = {each.file: each for each in some}
        return [
            Told(by_path[each.path], each.title, each.cwd or each.project, each.activity)
            for each in list_level(directory, some)
        ]

    return match_session(ref, transcripts, roots, tell)
