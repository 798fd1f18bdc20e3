"""What people call a session → the one transcript that they mean.

Knows ids, beginnings of ids, titles and counting back from the newest, over transcripts that were
found; who tells what they hold, the files or the index, is the caller's choice. A name is compared
and never becomes part of a path, so one like `../x` finds nothing; only `locate_file` takes paths,
and a server must not hand it what a browser sent.
"""

import os
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from recollect.errors import AmbiguousSession, Candidate, NothingFound, UnreadableInput
from recollect.locations.discovery import discover
from recollect.locations.entries import is_directory
from recollect.locations.names import PROJECTS_DIRECTORY, TRANSCRIPT_SUFFIX
from recollect.locations.transcript_files import Transcript, TranscriptKind, name_of

SHORTEST_PREFIX: Final = 4
"""Characters of an id that are enough to look for it."""

LATEST: Final = "latest"

_COUNT_BACK: Final = re.compile(r"-([1-9][0-9]{0,8})")


class Told(NamedTuple):
    """A transcript that holds a session, and what people know that session by."""

    transcript: Transcript
    title: str | None
    project: str
    """Its work directory, or else the name of its directory below `projects`."""
    active: float
    """When something last happened in it, in seconds since 1970."""


Tell = Callable[[Sequence[Transcript]], Iterable[Told]]
"""Those of the transcripts that hold a session, the most recently active first.

It may be asked for a few of them only, and is not asked at all where an id is enough.
"""


def looks_like_file(ref: str) -> bool:
    """Whether `ref` is the path of a transcript that exists, rather than a name of a session."""
    # Unlike `Path.exists`, this is False for what no file system could hold.
    return ref.endswith(TRANSCRIPT_SUFFIX) and os.path.exists(ref)  # noqa: PTH110


def locate_file(path: Path) -> Transcript:
    """The transcript at `path`; raises NothingFound or UnreadableInput when there is none."""
    if is_directory(path):
        raise UnreadableInput(f"{path} is a directory. Give one of the .jsonl files in it.")
    return discover(path).transcripts[0]


def counts_back(ref: str) -> bool:
    """Whether `ref` is `-1`, `-2` and so on, which a command line might take for an option."""
    return _COUNT_BACK.fullmatch(ref) is not None


def match_session(
    ref: str, transcripts: Sequence[Transcript], places: Sequence[Path], tell: Tell
) -> Transcript:
    """The one of `transcripts`, found in `places`, that `ref` names; it is never taken for a path.

    Raises NothingFound when there is none and AmbiguousSession when there are several.
    """
    back = 1 if ref == LATEST else _read_count(ref)
    if back is not None:
        return _find_nth(back, transcripts, places, tell)
    for match in (_match_id, _match_agent, _match_prefix, _match_title):
        if found := match(ref, transcripts, tell):
            return _require_one(ref, found, tell)
    raise NothingFound(
        f"No session is called {ref!r}: it is no id, no beginning of one ({SHORTEST_PREFIX} "
        f"characters at least), no agent and no part of a title in{_name_places(places)}\n"
        f"To open a file, give a path that ends in {TRANSCRIPT_SUFFIX}."
    )


def _read_count(ref: str) -> int | None:
    counted = _COUNT_BACK.fullmatch(ref)
    return int(counted[1]) if counted else None


def _find_nth(
    back: int, transcripts: Sequence[Transcript], places: Sequence[Path], tell: Tell
) -> Transcript:
    newest = list(islice(tell(_sessions(transcripts)), back))
    if len(newest) < back:
        raise NothingFound(f"There are {len(newest)} sessions and no more in{_name_places(places)}")
    return newest[-1].transcript


def _match_id(ref: str, transcripts: Sequence[Transcript], _: Tell) -> list[Transcript]:
    return [each for each in _sessions(transcripts) if name_of(each) == ref]


def _match_agent(ref: str, transcripts: Sequence[Transcript], _: Tell) -> list[Transcript]:
    agents = (each for each in transcripts if each.kind is not TranscriptKind.SESSION)
    return [each for each in agents if ref in (each.agent_id, name_of(each))]


def _match_prefix(ref: str, transcripts: Sequence[Transcript], tell: Tell) -> list[Transcript]:
    if len(ref) < SHORTEST_PREFIX:
        return []
    found = [each for each in _sessions(transcripts) if name_of(each).startswith(ref)]
    if not found:
        return [each for each in transcripts if (each.agent_id or "").startswith(ref)]
    # Clients leave empty files behind under ids that nobody has ever seen.
    real = [each.transcript for each in tell(found)] if len(found) > 1 else found
    return real or found


def _match_title(ref: str, transcripts: Sequence[Transcript], tell: Tell) -> list[Transcript]:
    wanted = ref.strip().casefold()
    titled = [
        (each.transcript, each.title.strip().casefold())
        for each in tell(_sessions(transcripts))
        if each.title
    ]
    exact = [each for each, title in titled if title == wanted]
    return exact or [each for each, title in titled if wanted and wanted in title]


def _sessions(transcripts: Iterable[Transcript]) -> list[Transcript]:
    return [each for each in transcripts if each.kind is TranscriptKind.SESSION]


def _require_one(ref: str, found: Sequence[Transcript], tell: Tell) -> Transcript:
    if len(found) == 1:
        return found[0]
    told = {each.transcript.file: each for each in tell(found)}
    names = [name_of(each) for each in found]
    # One id in two projects: there only the path tells them apart.
    shown = names if len(set(names)) == len(names) else [each.file for each in found]
    raise AmbiguousSession(
        ref, [_describe(name, told.get(each.file)) for name, each in zip(shown, found, strict=True)]
    )


def _describe(name: str, told: Told | None) -> Candidate:
    return Candidate(name, told.title, told.project, told.active) if told else Candidate(name)


def _name_places(places: Iterable[Path]) -> str:
    return "".join(f"\n  {place / PROJECTS_DIRECTORY}" for place in places)
