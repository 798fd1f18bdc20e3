"""What people call a session → the one transcript that they mean.

Knows ids, beginnings of ids, titles and counting back from the newest. An id is compared with what
discovery found and never becomes part of a path, so a name like `../x` finds nothing; only
`locate_file` takes paths, and a server must not hand it what a browser sent.
"""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from recollect.errors import AmbiguousSession, NothingFound, UnreadableInput
from recollect.library.listings import SessionListing, read_listing
from recollect.library.origins import Surroundings, name_of
from recollect.library.sessions import Root, iter_by_activity, list_roots, list_transcripts
from recollect.locations import Transcript, TranscriptKind, discover, resolve_roots
from recollect.locations.entries import is_directory
from recollect.locations.names import PROJECTS_DIRECTORY, TRANSCRIPT_SUFFIX

SHORTEST_PREFIX: Final = 4
"""Characters of an id that are enough to look for it."""

_COUNT_BACK: Final = re.compile(r"-([1-9][0-9]{0,8})")


def looks_like_file(ref: str) -> bool:
    """Whether `ref` is the path of a transcript that exists, rather than a name of a session."""
    # Unlike `Path.exists`, this is False for what no file system could hold.
    return ref.endswith(TRANSCRIPT_SUFFIX) and os.path.exists(ref)  # noqa: PTH110


def locate_file(path: Path) -> Transcript:
    """The transcript at `path`; raises NothingFound or UnreadableInput when there is none."""
    if is_directory(path):
        raise UnreadableInput(f"{path} is a directory. Give one of the .jsonl files in it.")
    return discover(path).transcripts[0]


def locate_session(ref: str, *, root: Root = None) -> Transcript:
    """The one transcript that `ref` names; it is never taken for a path.

    Raises NothingFound when there is none and AmbiguousSession when there are several.
    """
    places = resolve_roots(list_roots(root))
    transcripts = list_transcripts(None, include_subagents=True, root=places)
    back = 1 if ref == "latest" else _read_count(ref)
    if back is not None:
        return _find_nth(back, transcripts, places)
    for match in (_match_id, _match_agent, _match_prefix, _match_title):
        if found := match(ref, transcripts):
            return _require_one(ref, found)
    raise NothingFound(
        f"No session is called {ref!r}: it is no id, no beginning of one ({SHORTEST_PREFIX} "
        f"characters at least), no agent and no part of a title in{_name_places(places)}\n"
        f"To open a file, give a path that ends in {TRANSCRIPT_SUFFIX}."
    )


def _read_count(ref: str) -> int | None:
    counted = _COUNT_BACK.fullmatch(ref)
    return int(counted[1]) if counted else None


def _find_nth(back: int, transcripts: Sequence[Transcript], places: Sequence[Path]) -> Transcript:
    sessions = list(_sessions(transcripts))
    newest = list(islice(iter_by_activity(sessions, Surroundings()), back))
    if len(newest) < back:
        raise NothingFound(f"There are {len(newest)} sessions and no more in{_name_places(places)}")
    return next(each for each in sessions if str(each.path) == newest[-1].path)


def _match_id(ref: str, transcripts: Sequence[Transcript]) -> list[Transcript]:
    return [each for each in _sessions(transcripts) if name_of(each) == ref]


def _match_agent(ref: str, transcripts: Sequence[Transcript]) -> list[Transcript]:
    agents = (each for each in transcripts if each.kind is not TranscriptKind.SESSION)
    return [each for each in agents if ref in (each.agent_id, name_of(each))]


def _match_prefix(ref: str, transcripts: Sequence[Transcript]) -> list[Transcript]:
    if len(ref) < SHORTEST_PREFIX:
        return []
    found = [each for each in _sessions(transcripts) if name_of(each).startswith(ref)]
    # Clients leave empty files behind under ids that nobody has ever seen.
    real = [each for each, _ in _list(found)] if len(found) > 1 else found
    return real or found


def _match_title(ref: str, transcripts: Sequence[Transcript]) -> list[Transcript]:
    wanted = ref.strip().casefold()
    titled = [
        (each, listing.title.strip().casefold())
        for each, listing in _list(_sessions(transcripts))
        if listing.title
    ]
    exact = [each for each, title in titled if title == wanted]
    return exact or [each for each, title in titled if wanted and wanted in title]


def _sessions(transcripts: Iterable[Transcript]) -> Iterable[Transcript]:
    return (each for each in transcripts if each.kind is TranscriptKind.SESSION)


def _list(transcripts: Iterable[Transcript]) -> Iterator[tuple[Transcript, SessionListing]]:
    surroundings = Surroundings()
    for each in transcripts:
        listing = read_listing(each, surroundings)
        if listing is not None:
            yield each, listing


def _require_one(ref: str, found: Sequence[Transcript]) -> Transcript:
    if len(found) == 1:
        return found[0]
    titles = {each.path: listing.title for each, listing in _list(found)}
    names = [name_of(each) for each in found]
    # One id in two projects: there only the path tells them apart.
    shown = names if len(set(names)) == len(names) else [str(each.path) for each in found]
    raise AmbiguousSession(
        ref, [(name, titles.get(each.path)) for name, each in zip(shown, found, strict=True)]
    )


def _name_places(places: Iterable[Path]) -> str:
    return "".join(f"\n  {place / PROJECTS_DIRECTORY}" for place in places)
