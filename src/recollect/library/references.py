"""A session by the names that people have for it, with what is known of each read from its file.

Slow over thousands of sessions when a title is asked for; where there is an index,
`recollect.sync.naming` gives the same answer from it.
"""

from collections.abc import Iterator, Sequence

from recollect.library.origins import Surroundings
from recollect.library.sessions import Root, iter_by_activity, list_roots, list_transcripts
from recollect.locations import Transcript, resolve_roots
from recollect.locations.references import Told, match_session


def locate_session(ref: str, *, root: Root = None) -> Transcript:
    """The one transcript that `ref` names; it is never taken for a path.

    Raises NothingFound when there is none and AmbiguousSession when there are several.
    """
    places = resolve_roots(list_roots(root))
    transcripts = list_transcripts(None, include_subagents=True, root=places)
    return match_session(ref, transcripts, places, _read)


def _read(transcripts: Sequence[Transcript]) -> Iterator[Told]:
    by_path = {each.file: each for each in transcripts}
    for each in iter_by_activity(transcripts, Surroundings()):
        yield Told(by_path[each.path], each.title, each.cwd or each.project, each.activity)
