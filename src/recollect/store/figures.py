"""Figures of a transcript that only reading all of it tells, as the index keeps them."""

from typing import Final

from msgspec import Struct

FIGURES_KIND: Final = "figures/2"
CALLS_KIND: Final = "calls/1"


class FileFigures(Struct, frozen=True, array_like=True):
    """What lists show of a transcript beyond what its ends tell."""

    models: tuple[str, ...] = ()
    turns: int = 0
    messages: int = 0
    errors: int = 0
    compactions: int = 0
    summary: str = ""
    """How the last compaction begins to sum up what was before."""


class CallNote(Struct, frozen=True, array_like=True, gc=False):
    """One tool call: which tool, how it ended, when it began in seconds since 1970, how long.

    A copy of a call in another file has the same id.
    """

    id: str
    tool: str
    status: str
    started: float | None = None
    duration_ms: float | None = None
