"""One session as both readers see it, with the lines of its file to judge them by.

Knows how to ask both. The lines are decoded here with nothing but `json`: what explains a
difference must not come from the reader that is being tested.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from recollect.errors import UnreadableInput
from recollect.library.listings import iter_sessions
from recollect.library.opening import open_session
from recollect.locations import TranscriptKind, discover_root
from recollect.session.session import Session
from tests.sdk.official import Answers, Listed, ask_officially

CHAIN_TYPES = ("user", "assistant", "progress", "system", "attachment")


class Line(NamedTuple):
    """A line that is a JSON object, and where it ends in its file."""

    value: dict[str, Any]
    end: int


class Case(NamedTuple):
    """One session."""

    path: Path
    official: Answers
    session: Session
    is_listed: bool
    """Whether it is in our list."""
    lines: tuple[Line, ...]
    names: dict[str, str]
    """The titles that all files of the project give, by the uuid that each names."""

    @property
    def listed(self) -> Listed:
        """What the official list shows of the session, if it lists it."""
        assert self.official.listed is not None
        return self.official.listed

    @property
    def links(self) -> dict[str, dict[str, Any]]:
        """Return the conversation's lines by uuid; the last one wins."""
        return {
            line.value["uuid"]: line.value
            for line in self.lines
            if line.value.get("type") in CHAIN_TYPES and isinstance(line.value.get("uuid"), str)
        }


def gather_cases(root: Path) -> list[Case]:
    """Return the sessions below `root`, as both readers see them."""
    transcripts = discover_root(root).transcripts
    paths = [found.path for found in transcripts if found.kind is TranscriptKind.SESSION]
    answers = ask_officially(root, [path.stem for path in paths])
    listed = {listing.path for listing in iter_sessions(root=[root])}
    lines = {path: tuple(_iter_lines(path)) for path in paths}
    names: dict[Path, dict[str, str]] = {}
    for path, found in lines.items():
        names.setdefault(path.parent, {}).update(_find_names(found))
    return [
        Case(
            path=path,
            official=answers[path.stem],
            session=_open(path),
            is_listed=str(path) in listed,
            lines=lines[path],
            names=names[path.parent],
        )
        for path in paths
    ]


def _open(path: Path) -> Session:
    """Return the session of a transcript, empty if it has no records."""
    try:
        return open_session(path)
    except UnreadableInput:
        return Session()


def _iter_lines(path: Path) -> Iterator[Line]:
    end = 0
    for line in path.read_bytes().split(b"\n"):
        end += len(line) + 1
        try:
            value = json.loads(line.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            yield Line(value, end)


def _find_names(lines: tuple[Line, ...]) -> dict[str, str]:
    return {
        line.value["leafUuid"]: line.value["summary"]
        for line in lines
        if line.value.get("type") == "summary"
    }
