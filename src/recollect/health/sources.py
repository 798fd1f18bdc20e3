"""Which files a survey reads, and what they are called in its report.

Knows directories and names, opens nothing. A name is relative to what was surveyed and has the
home directory shortened, also where Claude Code made it part of a directory's name: a report is
for other people's eyes.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from recollect.health.report import RefusedFile
from recollect.locations import (
    Discovery,
    Refusal,
    SidecarKind,
    Transcript,
    TranscriptKind,
    discover,
    encode_project_path,
    list_session_sidecars,
)
from recollect.locations.roots import find_home
from recollect.render.terminal import safe_text

HOME_SIGN: Final = "~"


class Source(Struct, frozen=True):
    """A file to read: where it is, what the report calls it, and whose words it holds."""

    path: Path
    name: str
    kind: str


class Inventory(Struct, frozen=True):
    """What is to be read, and what was found and left alone."""

    sources: tuple[Source, ...]
    refused: tuple[RefusedFile, ...]


class Naming(Struct, frozen=True):
    """What a file is called in a report: `base` is left out, unless several were surveyed."""

    base: Path
    prefix: str
    home: Path | None

    def name(self, path: Path) -> str:
        """The name of the file at `path`."""
        if path == self.base:
            relative = Path(path.name)
        elif path.is_relative_to(self.base):
            relative = Path(self.prefix, path.relative_to(self.base))
        else:
            relative = Path(_shorten_home(path, self.home))
        parts = (_hide_home(part, self.home) for part in relative.parts)
        return safe_text("/".join(parts).replace("//", "/"), single_line=True)


def take_inventory(paths: Sequence[Path], environment: Mapping[str, str] = os.environ) -> Inventory:
    """List everything that is to be read below `paths`: roots, other directories or single files.

    Raises NothingFound or UnreadableInput for a path that is not there or cannot hold transcripts.
    """
    home = find_home(environment)
    sources: dict[Path, Source] = {}
    refused: list[RefusedFile] = []
    for path in paths:
        naming = naming_for(path, home, is_one_of_many=len(paths) > 1)
        discovery = discover(path)
        for source in _iter_sources(discovery, naming):
            sources.setdefault(source.path, source)
        refused += _describe_refused(discovery, naming)
    return Inventory(tuple(sources.values()), tuple(refused))


def describe_place(path: Path, environment: Mapping[str, str] = os.environ) -> str:
    """What a report calls the directory or file at `path` that was surveyed."""
    return safe_text(_shorten_home(path, find_home(environment)), single_line=True)


def _shorten_home(path: Path, home: Path | None) -> str:
    if home is None or not path.is_relative_to(home):
        return str(path)
    return str(Path(HOME_SIGN, path.relative_to(home)))


def naming_for(path: Path, home: Path | None, *, is_one_of_many: bool) -> Naming:
    """How files below `path` are called."""
    base = path.absolute()
    return Naming(base, _shorten_home(base, home) if is_one_of_many else "", home)


def _hide_home(part: str, home: Path | None) -> str:
    encoded = "" if home is None else encode_project_path(str(home))
    # A home of "/" encodes to one dash, which begins the name of every project.
    if len(encoded) > 1 and (part == encoded or part.startswith(f"{encoded}-")):
        return HOME_SIGN + part.removeprefix(encoded)
    return part


def _iter_sources(discovery: Discovery, naming: Naming) -> Iterator[Source]:
    for transcript in discovery.transcripts:
        yield Source(transcript.path, naming.name(transcript.path), transcript.kind.value)
    for journal in _iter_journals(discovery.transcripts):
        yield Source(journal, naming.name(journal), SidecarKind.WORKFLOW_JOURNAL.value)


def _iter_journals(transcripts: Iterable[Transcript]) -> Iterator[Path]:
    """The journals of workflows; a session without subagents of a workflow has none."""
    sessions = {
        (found.project_dir, found.session_id): found
        for found in transcripts
        if found.kind is TranscriptKind.WORKFLOW_AGENT
    }
    for transcript in sessions.values():
        for sidecar in list_session_sidecars(transcript).found:
            if sidecar.kind is SidecarKind.WORKFLOW_JOURNAL:
                yield sidecar.path


def _describe_refused(discovery: Discovery, naming: Naming) -> Iterator[RefusedFile]:
    for refused in discovery.refused:
        yield RefusedFile(
            file=naming.name(refused.path),
            reason=refused.reason.value,
            failed=refused.reason is Refusal.UNREADABLE,
        )
