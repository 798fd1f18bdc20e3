"""The exception tree, with the exit code that each branch stands for.

Bad *data* is never an exception: it is a value (`Unknown`, `Damaged`) that is counted and shown.
An exception is a request that cannot be met, and its message says what to do about it.

    RecollectError              1   a bug in Recollect when it is not one of the below
    ├── UsageError              2   the request itself is wrong
    ├── NothingFound            3   no root, no session, no such thing
    │   └── AmbiguousSession    3   several sessions go by that name
    ├── UnreadableInput         4   an input is damaged or cannot be read
    ├── IndexFailure            5   the index cannot be used
    └── ArchiveFailure          6   the archive cannot be used

0 is success and 130 an interrupt by the user; neither is an error.
"""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import ClassVar, Final, NamedTuple

MOST_SHOWN: Final = 20
"""Candidates that a message lists."""

TITLE_WIDTH: Final = 70
"""Characters of a title in a message."""

PROJECT_WIDTH: Final = 20


class RecollectError(Exception):
    """Root of everything that Recollect raises on purpose."""

    exit_code: ClassVar[int] = 1


class UsageError(RecollectError):
    """The request contradicts itself or names something that cannot be named that way."""

    exit_code = 2


class NothingFound(RecollectError):
    """What was asked for is not there; the message names the places that were looked at."""

    exit_code = 3


class Candidate(NamedTuple):
    """A session that may be meant; None is what is not known of it."""

    name: str
    """What it can be opened by: its id, or its path where that is not enough."""
    title: str | None = None
    project: str | None = None
    """Its work directory."""
    active: float | None = None
    """When something last happened in it, in seconds since 1970."""


class AmbiguousSession(NothingFound):
    """Several sessions go by the name that was given; `candidates` are what is known of each."""

    def __init__(self, ref: str, candidates: Sequence[Candidate]) -> None:
        self.ref = ref
        self.candidates = tuple(candidates)
        lines = [line for each in self.candidates[:MOST_SHOWN] for line in _describe(each)]
        if len(self.candidates) > MOST_SHOWN:
            lines.append(f"  and {len(self.candidates) - MOST_SHOWN} more")
        super().__init__(
            f"{ref!r} may be any of {len(self.candidates)} sessions. Give one of these names:\n"
            + "\n".join(lines)
        )


class UnreadableInput(RecollectError):
    """A file that was asked for cannot be read, or is damaged where that matters."""

    exit_code = 4


class IndexFailure(RecollectError):
    """The index is newer than this program, locked, or cannot be written."""

    exit_code = 5


class ArchiveFailure(RecollectError):
    """The archive cannot be written, or what it holds does not match its hash."""

    exit_code = 6


def _describe(candidate: Candidate) -> list[str]:
    """What to copy and what tells it from the others, and below that what it is about."""
    facts = [candidate.name]
    if candidate.active is not None:
        facts.append(f"{datetime.fromtimestamp(candidate.active, UTC).astimezone():%Y-%m-%d %H:%M}")
    if candidate.project:
        name = re.split(r"[/\\]", candidate.project.rstrip("/\\"))[-1]
        facts.append(_shorten(name or candidate.project, PROJECT_WIDTH))
    about = [f"    {_shorten(candidate.title, TITLE_WIDTH)}"] if candidate.title else []
    return [f"  {'  '.join(facts)}", *about]


def _shorten(text: str, width: int) -> str:
    # A title may be a whole prompt.
    words = " ".join(text.split())
    return words if len(words) <= width else f"{words[: width - 1]}…"
