"""The exception hierarchy, with the exit code of each class.

Bad *data* never raises: it is a value (`Unknown`, `Damaged`) that is counted and shown. An
exception is a request that cannot be fulfilled, and its message says what to do about it.

    RecollectError              1   base class; raised itself only for a bug
    ├── OutputFailure           1   a requested file cannot be written
    ├── UsageError              2   the request is invalid
    ├── NothingFound            3   no such directory, session or other object
    │   └── AmbiguousSession    3   several sessions match
    ├── UnreadableInput         4   a file is damaged or cannot be read
    ├── IndexFailure            5   the index cannot be used
    ├── ArchiveFailure          6   the archive cannot be used or written
    └── ClientFailure           7   Claude Code rejected a request, did not respond, or exited

If a file cannot be written, the exit code is 1 for one that the user named, 5 for the index and 6
for the archive. It is 1 for a declined confirmation, 0 for success and 130 for an interrupt.
"""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import ClassVar, Final, NamedTuple

MAX_SHOWN: Final = 20
"""Maximum number of candidates in a message."""

TITLE_WIDTH: Final = 70
"""Maximum length of a title in a message."""

PROJECT_WIDTH: Final = 20


class RecollectError(Exception):
    """Base class of all exceptions that Recollect raises on purpose."""

    exit_code: ClassVar[int] = 1


class OutputFailure(RecollectError):
    """A file or directory that the user named cannot be written."""


class UsageError(RecollectError):
    """The request is invalid or contradictory."""

    exit_code = 2


class NothingFound(RecollectError):
    """The requested object does not exist; the message says where we looked."""

    exit_code = 3


class Candidate(NamedTuple):
    """A session that matches an ambiguous name; fields are None if not known."""

    name: str
    """The name to open it by: its id, or its path if the id is ambiguous."""
    title: str | None = None
    project: str | None = None
    """The working directory."""
    active: float | None = None
    """Time of the last activity, in seconds since 1970."""


class AmbiguousSession(NothingFound):
    """Several sessions match the given name; they are in `candidates`."""

    def __init__(self, ref: str, candidates: Sequence[Candidate]) -> None:
        self.ref = ref
        self.candidates = tuple(candidates)
        lines = [line for each in self.candidates[:MAX_SHOWN] for line in _describe(each)]
        if len(self.candidates) > MAX_SHOWN:
            lines.append(f"  and {len(self.candidates) - MAX_SHOWN} more")
        super().__init__(
            f"{ref!r} matches {len(self.candidates)} sessions. Use one of these names:\n"
            + "\n".join(lines)
        )


class UnreadableInput(RecollectError):
    """A requested file cannot be read, or is damaged in a way that matters."""

    exit_code = 4


class IndexFailure(RecollectError):
    """The index was written by a newer version, is locked, or cannot be written."""

    exit_code = 5


class ArchiveFailure(RecollectError):
    """The archive is locked or cannot be written, for example because the disk is full."""

    exit_code = 6


class ClientFailure(RecollectError):
    """Claude Code rejected a request, did not respond in time, or exited."""

    exit_code = 7


def _describe(candidate: Candidate) -> list[str]:
    """Return a line with name, time and project, and one with the title if there is one."""
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
